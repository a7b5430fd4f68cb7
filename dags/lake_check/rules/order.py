"""Rules on keys, on the order of changes and on the time since when rows are true."""

from __future__ import annotations

from typing import Iterator, Optional, Sequence

from lake_check.rules.rule_set import RuleSet
from lake_spec.diagnostics.diagnostic import Path, Problem, got
from lake_spec.model import (
    Avro,
    FeedTable,
    FileTable,
    Orc,
    Parquet,
    TableSpec,
    VersionedTable,
)
from lake_spec.model.envelopes import EVENT_TIME
from lake_spec.text.times import parse_timestamp

ORDER = RuleSet()
FILE_ORDER = RuleSet()
FEED_ORDER = RuleSet()
TIMES = RuleSet()
"""Of tables with a history."""

_NO_ORDER = ("boolean", "binary")


@ORDER.rule("key")
def key_has_columns(spec: TableSpec) -> Iterator[Problem]:
    """Refuse a table without a key: its rows could not be identified.

    Fix: Name the columns that identify a row, as in `key: [id]`.
    """
    if not spec.key:
        hint = "Name the columns that identify a row, as in key: [id]."
        yield got(("key",), [], hint)


@ORDER.rule()
def lists_name_a_column_once(spec: TableSpec) -> Iterator[Problem]:
    """Refuse a list that names a column twice.

    Fix: Remove one of the two.
    """
    yield from _once(("key",), spec.key)
    yield from _once(("order_by",), spec.order_by)
    yield from _once(("storage", "partition_by"), spec.storage.partition_by)
    yield from _once(("storage", "sort_by"), spec.storage.sort_by)
    if isinstance(spec, VersionedTable):
        yield from _once(("history", "track"), spec.history.track)
        yield from _once(("history", "ignore"), spec.history.ignore)


def _once(path: Path, columns: Sequence[str]) -> Iterator[Problem]:
    for position, name in enumerate(columns):
        if name in columns[:position]:
            yield got((*path, position), name, "It is listed twice: remove one.")


@ORDER.rule("columns")
def keys_and_partitions_are_single_values(spec: TableSpec) -> Iterator[Problem]:
    """Refuse keys, partitions and an order by columns with nested values.

    Fix: Choose a column with single values.
    """
    lists = (
        (("key",), spec.key),
        (("storage", "partition_by"), spec.storage.partition_by),
        (("storage", "sort_by"), spec.storage.sort_by),
    )
    for path, columns in lists:
        for position, name in enumerate(columns):
            kind = spec.type_of(name)
            if kind and kind.is_nested:
                hint = f"It is of type {kind.name}: choose a column with single values."
                yield got((*path, position), name, hint)


@FEED_ORDER.rule("columns")
def order_columns_can_be_ordered(spec: FeedTable) -> Iterator[Problem]:
    """Refuse `order_by` columns of types that have no order.

    Fix: Choose a number, a text or a time.
    """
    for position, name in enumerate(spec.order_by):
        kind = spec.type_of(name)
        if kind and (kind.is_nested or kind.name in _NO_ORDER):
            hint = f"Type {kind.name} has no order: choose a number, text or time."
            yield got(("order_by", position), name, hint)


@FEED_ORDER.rule("source", "source.format", "columns")
def order_columns_have_types(spec: FeedTable) -> Iterator[Problem]:
    """Refuse `order_by` on values without types: as text, '10' is before '9'.

    Fix: Declare `columns` with the types of the `order_by` columns.
    """
    is_typed = isinstance(spec.source.format, (Avro, Orc, Parquet))
    if spec.order_by and not spec.columns and not is_typed:
        yield got(
            ("order_by",),
            list(spec.order_by),
            "Values without declared types are text, and '10' as text sorts before "
            "'9': declare `columns` with the types of these.",
        )


@FEED_ORDER.rule("source", "source.operation", "order_by")
def deletes_have_an_order(spec: FeedTable) -> Iterator[Problem]:
    """Refuse a feed with deletes but without `order_by`.

    Fix: Name the source's log position or time, as in `order_by: [updated_at]`.
    """
    deletes = spec.operation is not None and spec.operation.has_deletes
    if deletes and not spec.order_by:
        yield Problem(
            ("order_by",),
            None,
            "missing",
            "This feed has deletes, which need an order: name the source's log "
            "position or time, as in order_by: [updated_at].",
        )


@FEED_ORDER.rule("source", "order_by", "effective_at", "columns")
def feeds_have_an_effective_time(spec: FeedTable) -> Iterator[Problem]:
    """Refuse a feed in which nothing says since when a row is valid.

    Fix: Name a date or timestamp column as `effective_at`, or put a timestamp into
    `order_by`.
    """
    if spec.effective_at or spec.envelope:
        return
    kinds = [spec.type_of(name) for name in spec.order_by]
    # A column without a readable type has faults of its own, or gets its type
    # from its files: it may be the timestamp.
    if all(kind and kind.name != "timestamp" for kind in kinds):
        yield Problem(
            ("effective_at",),
            None,
            "missing",
            "Nothing says since when a row is valid: name a date or timestamp column, "
            "or put a timestamp into order_by.",
        )


@FEED_ORDER.rule("source", "source.operation", "order_by", "effective_at", "columns")
def deletes_have_an_effective_time(spec: FeedTable) -> Iterator[Problem]:
    """Refuse deletes without a time: they have only the key and the order.

    Fix: Put a timestamp into `order_by`, or write `source.operation.delete: []` if the
    feed has no deletes.
    """
    deletes = spec.operation is not None and spec.operation.has_deletes
    if not deletes or not spec.order_by or spec.effective_at is None:
        return
    if spec.envelope and spec.effective_at == EVENT_TIME:
        return  # every event has it
    kinds = [spec.type_of(name) for name in spec.order_by]
    if all(kind and not kind.is_time for kind in kinds):
        yield got(
            ("effective_at",),
            spec.effective_at,
            "This feed has deletes, which have only key and order: put a timestamp "
            "into order_by, or write source.operation.delete: [] if there are none.",
        )


@FILE_ORDER.rule("effective_at", "columns")
def effective_at_is_a_time(spec: FileTable) -> Iterator[Problem]:
    """Refuse an `effective_at` column that is not a time.

    Fix: Name a date or timestamp column.
    """
    kind = spec.type_of(spec.effective_at) if spec.effective_at else None
    if kind and not kind.is_time:
        hint = f"It is of type {kind.name}: name a date or timestamp column."
        yield got(("effective_at",), spec.effective_at, hint)


@TIMES.rule()
def declared_times_are_valid(spec: VersionedTable) -> Iterator[Problem]:
    """Refuse a time that cannot be parsed.

    Fix: Write a date, or a date and time, as in 9999-12-31 or 9999-12-31T00:00:00Z.
    """
    for path, text, example in (
        (("load_effective_at",), load_time(spec), "1900-01-01"),
        (("history", "open_end"), spec.history.open_end, "9999-12-31"),
    ):
        if text is not None and parse_timestamp(text) is None:
            hint = f"Write a date, or a date and time, as in {example} or {example}T00:00:00Z."
            yield got(path, text, hint)


def load_time(spec: VersionedTable) -> Optional[str]:
    """Return since when the rows of the full load are valid, if the table says it."""
    return spec.load_effective_at if isinstance(spec, FileTable) else None
