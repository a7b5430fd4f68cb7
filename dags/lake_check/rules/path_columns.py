"""Rules on columns of a feed whose values the paths of its files have."""

from __future__ import annotations

from typing import Iterator, Tuple

from lake_check.rules.rule_set import RuleSet
from lake_check.rules.snapshots import one_group
from lake_spec.diagnostics.diagnostic import Path, Problem, got
from lake_spec.model import FeedTable

PATH_COLUMNS = RuleSet()

_PATH = ("source", "path_columns")


@PATH_COLUMNS.rule("source")
def path_column_patterns_have_one_group(spec: FeedTable) -> Iterator[Problem]:
    """Refuse a pattern that does not have one group for the column's value.

    Fix: Put one pair of parentheses around the value, and write (?:...) for other
    groups.
    """
    for path, name in _columns(spec):
        yield from one_group(path, spec.path_columns[name], "the value")


@PATH_COLUMNS.rule("source", "columns")
def path_columns_are_texts_of_the_path_alone(spec: FeedTable) -> Iterator[Problem]:
    """Refuse a column of the path that is no text, or that is read from the files too.

    Fix: Declare it under `columns` with the type string and nothing else.
    """
    for path, name in _columns(spec):
        declared, kind = spec.column(name), spec.type_of(name)
        if not spec.columns:
            yield got(path, name, "Declare it, as string, under `columns`.")
        elif kind and kind.name != "string":
            hint = (
                f"Values from a path are text: declare it as string, not {kind.name}."
            )
            yield got(path, name, hint)
        for setting in ("source", "format", "dropped") if declared else ():
            value = getattr(declared, setting)
            if value:
                value = list(value) if isinstance(value, tuple) else value
                hint = (
                    "Remove it: the paths have the values, and no file is read for it."
                )
                yield got(("columns", name, setting), value, hint)


@PATH_COLUMNS.rule("source", "source.operation", "order_by")
def path_columns_say_what_all_rows_share(spec: FeedTable) -> Iterator[Problem]:
    """Refuse a column of the path as an order, or as what tells deletes.

    Fix: Name a column of the files there. Events of one order stand in the order of
    their paths without it, with numbers by their value.
    """
    told = spec.operation.columns if spec.operation else ()
    for path, name in _columns(spec):
        if name in spec.order_by:
            hint = (
                "Remove it from order_by: as text '10' sorts before '9', and events of one "
                "order stand in the order of their paths anyhow, with numbers by value."
            )
            yield got(path, name, hint)
        if name in told:
            hint = (
                "All rows of a file have its value: tell operations by another column."
            )
            yield got(path, name, hint)


@PATH_COLUMNS.rule("source", "source.operation", "key")
def keys_before_updates_are_in_records(spec: FeedTable) -> Iterator[Problem]:
    """Refuse a part of the key from the path where records have the key before an update.

    Fix: Let the source write that part into its records, or remove it from the key.
    """
    is_before = spec.operation is not None and spec.operation.before is not None
    if spec.envelope is None and not is_before:
        return
    setting = "operation.before" if is_before else "envelope"
    for path, name in _columns(spec):
        if name in spec.key:
            hint = (
                f"It is part of the key, and with {setting} records say the key before an "
                "update, which lacks it: let the source write it into its records, or "
                "remove it from the key."
            )
            yield got(path, name, hint)


def _columns(spec: FeedTable) -> Iterator[Tuple[Path, str]]:
    """List the columns of a feed's paths, each with its key path."""
    for name in spec.path_columns:
        yield (*_PATH, name), name
