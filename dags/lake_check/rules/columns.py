"""Rules on a table's columns and on what refers to them."""

from __future__ import annotations

import re
from typing import Dict, Iterator, List, Optional, Sequence, Tuple

from lake_check.rules.rule_set import RuleSet
from lake_spec.diagnostics.diagnostic import Path, Problem, got, key_path
from lake_spec.diagnostics.suggestions import did_you_mean
from lake_spec.model import Check, Column, Csv, TableSpec, VersionedTable
from lake_spec.model import names
from lake_spec.model.column_type import BadType, ColumnType, parse_type
from lake_spec.model.history_columns import added_columns
from lake_spec.model.names import RESERVED_PREFIXES
from lake_spec.model.number_format import NumberFormat
from lake_spec.text.encodings import TYPES

COLUMNS = RuleSet()

MOST_LISTED = 20
LONGEST_TAG = 64
_FORMAT = re.compile(r"[A-Za-z0-9 :/.,'\[\]_+-]{1,64}")


def references(spec: TableSpec) -> Iterator[Tuple[Path, str]]:
    """List every place that names a column of the table."""
    lists: List[Tuple[Path, Sequence[str]]] = [
        (("key",), spec.key),
        (("order_by",), spec.order_by),
        (("storage", "partition_by"), spec.storage.partition_by),
        (("storage", "sort_by"), spec.storage.sort_by),
    ]
    if isinstance(spec, VersionedTable):
        lists.append((("history", "track"), spec.history.track))
        lists.append((("history", "ignore"), spec.history.ignore))
    for path, columns in lists:
        yield from (((*path, place), name) for place, name in enumerate(columns))
    if spec.effective_at is not None:
        yield ("effective_at",), spec.effective_at
    scope = spec.scope
    if scope is not None:
        yield ("source", "scope", "column"), scope.column
    for name in spec.path_columns if scope is None else ():
        yield ("source", "path_columns", name), name
    for position, rule in enumerate(spec.quality):
        yield ("quality", position, "column"), rule.column
    for path, check in readable_checks(spec):
        yield from columns_of_check(path, check)


def readable_checks(spec: TableSpec) -> Iterator[Tuple[Path, Check]]:
    """List the checks of the table that could be read, each with its key path."""
    for position, each in enumerate(spec.checks):
        if each is not None:  # a check that cannot be read is None
            yield ("checks", position), each


def columns_of_check(path: Path, check: Check) -> Iterator[Tuple[Path, str]]:
    """List the columns that a check names, each with the key path of its name."""
    for place, name in check.column_places:
        yield (*path, *place), name


@COLUMNS.rule("columns")
def named_columns_exist(spec: TableSpec) -> Iterator[Problem]:
    """Refuse a setting that names a column which the table does not declare.

    Fix: Correct the name, or declare the column under `columns`.
    """
    declared = [name for name, _ in spec.columns]
    given = [name for each in spec.enrich for _, name in each.given]
    for path, name in references(spec):
        if not declared:
            yield from names.name(path, name)
        elif name not in declared + (given if path[0] in ("history", "checks") else []):
            hint = did_you_mean(name, declared)
            hint = f"{hint}Declared columns: {_listed(declared)}."
            yield Problem(path, name, f"{name!r} is not a declared column", hint)


def _listed(columns: List[str]) -> str:
    more = len(columns) - MOST_LISTED
    shown = ", ".join(columns[:MOST_LISTED])
    return f"{shown} and {more} more" if more > 0 else shown


@COLUMNS.rule("columns")
def column_names_are_valid(spec: TableSpec) -> Iterator[Problem]:
    """Refuse column names that are not valid in SQL.

    Fix: Write 1 to 63 of a-z, 0-9 and _, beginning with a letter; put the name in the
    source under `source`.
    """
    for name, _ in spec.columns:
        yield from names.name(("columns", name), name)


@COLUMNS.rule("columns")
def column_names_are_not_reserved(spec: TableSpec) -> Iterator[Problem]:
    """Refuse column names with a prefix of the lake's own columns.

    Fix: Choose a name that does not begin with `lake_` or `_hoodie_`; put the name in
    the source under `source`.
    """
    for name, _ in spec.columns:
        if name.startswith(RESERVED_PREFIXES):
            hint = f"The prefixes {' and '.join(RESERVED_PREFIXES)} are reserved."
            yield got(("columns", name), name, f"{hint} Choose another name.")


@COLUMNS.rule("columns", "history")
def column_names_are_not_in_history(spec: TableSpec) -> Iterator[Problem]:
    """Refuse column names that history uses for a column of its own.

    Fix: Rename the column, or change the name of history's column under `history`.
    """
    added = {name: key_path(path) for path, name in added_columns(spec)}
    for name, _ in spec.columns:
        if name in added:
            hint = f"History adds this column: rename yours, or set {added[name]}."
            yield got(("columns", name), name, hint)


@COLUMNS.rule("columns")
def column_types_are_known(spec: TableSpec) -> Iterator[Problem]:
    """Refuse a type of a column that the lake does not have.

    Fix: Write one of the types in docs/sources/types.md, as in `decimal(10,2)` or
    `array<string>`.
    """
    for name, column in spec.columns:
        try:
            parse_type(column.type)
        except BadType as error:
            yield got(("columns", name, "type"), column.type, str(error))


@COLUMNS.rule("columns")
def maps_have_text_keys(spec: TableSpec) -> Iterator[Problem]:
    """Refuse maps whose keys are not text: Hudi supports no others.

    Fix: Write `map<string, ...>`.
    """
    for name, column in spec.columns:
        kind = spec.type_of(name)
        if kind and any(key != "string" for key in _map_keys(kind)):
            hint = "Use string as the key type of a map: map<string, ...>."
            yield got(("columns", name, "type"), column.type, hint)


def _map_keys(kind: ColumnType) -> Iterator[str]:
    if kind.name == "map":
        yield kind.inner[0].name
    for each in kind.inner:
        yield from _map_keys(each)


@COLUMNS.rule("columns", "storage")
def partition_types_name_folders(spec: TableSpec) -> Iterator[Problem]:
    """Refuse partition columns whose values Hudi cannot write as folder names.

    Fix: Partition by a string, int, bigint, boolean or date column, and do not mix text
    with boolean or decimal.
    """
    kinds = [spec.type_of(name) for name in spec.storage.partition_by]
    has_text = any(kind and kind.name == "string" for kind in kinds)
    for place, (name, kind) in enumerate(zip(spec.storage.partition_by, kinds)):
        path = ("storage", "partition_by", place)
        stored = kind.stored.name if kind else "string"
        if stored in ("boolean", "float", "double", "decimal") and has_text:
            hint = (
                f"It is {stored}, and Hudi's readers cannot read values of that type next to"
                " text: partition by one of the two."
            )
            yield got(path, name, hint)
        elif stored in ("timestamp", "binary"):
            hint = (
                f"It is {stored}, and Hudi has no unique folder name for such a value: partition"
                " by a string, int, bigint, boolean or date."
            )
            yield got(path, name, hint)


@COLUMNS.rule("columns", "history")
def named_columns_are_not_reserved(spec: TableSpec) -> Iterator[Problem]:
    """Refuse reserved names in a table that does not declare its columns.

    Fix: Declare the column under another name, with its name in the source under
    `source`.
    """
    ours = {name for _, name in added_columns(spec)}
    for path, name in references(spec) if not spec.columns else ():
        if name.startswith(RESERVED_PREFIXES) or name in ours:
            hint = (
                "The lake uses that name. Declare the column under another one:"
                f" columns: {{source_{name}: {{type: string, source: [{name}]}}}}."
            )
            yield got(path, name, hint)


@COLUMNS.rule("columns")
def source_names_can_be_read(spec: TableSpec) -> Iterator[Problem]:
    """Refuse names of source columns that SQL cannot say, and very long ones.

    Fix: Rename the column in the source. In CSV any text of 256 characters can be
    read; elsewhere not the empty one, nor one with a semicolon, with ${ or with
    characters that do not print.
    """
    is_csv = isinstance(getattr(spec.source, "format", None), Csv)
    for name, column in spec.columns:
        for position, source in enumerate(column.source):
            path = ("columns", name, "source", position)
            yield from names.text_of_source(path, source, is_csv=is_csv)


@COLUMNS.rule("columns")
def source_names_belong_to_one_column(spec: TableSpec) -> Iterator[Problem]:
    """Refuse two columns that read the same column of the source.

    Fix: Remove the source's name from one of the two columns.
    """
    taken: Dict[str, str] = {}
    for name, column in spec.columns:
        for path, source in _sources(name, column):
            first = taken.setdefault(source.lower(), name)
            if first != name:
                hint = (
                    f"Column {first!r} reads it already (names are case-insensitive):"
                    f" remove it from one of the two."
                )
                yield got(path, source, hint)


def _sources(name: str, column: Column) -> Iterator[Tuple[Path, str]]:
    if not column.source:
        yield ("columns", name), name
    for position, source in enumerate(column.source):
        yield ("columns", name, "source", position), source


@COLUMNS.rule("columns")
def formats_fit_their_types(spec: TableSpec) -> Iterator[Problem]:
    """Refuse a format that does not fit the type of its column.

    Fix: Remove `format`, correct it, or correct the column's type.
    """
    for name, column in spec.columns:
        if column.format is None:
            continue
        path = ("columns", name, "format")
        kinds = TYPES.get(column.format, ("date", "timestamp"))
        kind = spec.type_of(name)
        if kind and kind.name not in kinds:
            takes = f"Only a {' or '.join(kinds)} has one"
            if column.format in TYPES:
                takes = f"It is for columns of the type {' or '.join(kinds)}"
            hint = f"{takes}, not {kind.name}: remove it."
            yield got(path, column.format, hint)
        if column.format not in TYPES and not _is_pattern(column.format):
            hint = (
                f"{did_you_mean(column.format, list(TYPES))}Write one of Spark's datetime"
                f" patterns, as in yyyy-MM-dd HH:mm:ss, or one of: {', '.join(TYPES)}."
            )
            yield got(path, column.format, hint)


@COLUMNS.rule("columns", "source.format")
def numbers_fit_their_columns(spec: TableSpec) -> Iterator[Problem]:
    """Refuse a form of numbers for a column without numbers, or in files that have types.

    Fix: Remove `numbers`, or correct the column's type.
    """
    for name, column in spec.columns:
        if column.numbers is None:
            continue
        path, kind = ("columns", name, "numbers"), spec.type_of(name)
        if not isinstance(getattr(spec.source, "format", None), Csv):
            hint = "Only numbers of CSV are texts that need a form: remove it."
            yield Problem(path, None, "it is for files of CSV", hint)
        elif column.format is not None:
            hint = f"`format: {column.format}` says how: remove one of the two."
            yield Problem(path, None, "it stands beside `format`", hint)
        elif kind and not kind.is_numeric:
            hint = f"The column is {kind.text}: remove it, or declare a number."
            yield Problem(path, None, "it is for columns of numbers", hint)


@COLUMNS.rule("columns", "source.format")
def number_marks_differ(spec: TableSpec) -> Iterator[Problem]:
    """Refuse one character for fractions and for groups: a text would be two numbers.

    Fix: Choose another `group`, or leave it out.
    """
    of_files = getattr(getattr(spec.source, "format", None), "numbers", None)
    places: List[Tuple[Path, Optional[NumberFormat]]] = [
        (("source", "format", "numbers"), of_files),
        *((("columns", n, "numbers"), each.numbers) for n, each in spec.columns),
    ]
    for path, form in places:
        if form and form.group and form.group.value == form.decimal.value:
            hint = "It is the decimal mark too: choose another, or leave it out."
            yield got((*path, "group"), form.group.value, hint)


def _is_pattern(text: str) -> bool:
    """Return whether a format can be a Spark pattern: a misspelt keyword is not."""
    return bool(_FORMAT.fullmatch(text)) and not text.startswith(("epoch", "base"))


@COLUMNS.rule("columns")
def dropped_columns_are_not_needed(spec: TableSpec) -> Iterator[Problem]:
    """Refuse `dropped` for a column that every row needs.

    Fix: Remove `dropped`, or remove the column from `key`, `order_by` and
    `effective_at`.
    """
    needed = {name: "key" for name in spec.key}
    needed.update({name: "order_by" for name in spec.order_by})
    needed.update({spec.effective_at: "effective_at"} if spec.effective_at else {})
    for name, column in spec.columns:
        if column.dropped and name in needed:
            hint = (
                f"Remove this: every file needs the column, as {needed[name]} uses it."
            )
            yield got(("columns", name, "dropped"), True, hint)


@COLUMNS.rule("columns")
def column_descriptions_fit_catalogues(spec: TableSpec) -> Iterator[Problem]:
    """Refuse a description of a column that Glue does not accept as its comment.

    Fix: Write one line of at most 255 characters.
    """
    for name, column in spec.columns:
        if column.description is not None:
            yield from names.comment(
                ("columns", name, "description"), column.description
            )


@COLUMNS.rule("columns")
def column_tags_are_labels(spec: TableSpec) -> Iterator[Problem]:
    """Refuse tags of a column that search cannot show on one line.

    Fix: Write letters, digits, spaces and _ . : / = + @ -, at most 64 of them.
    """
    for name, column in spec.columns:
        for place, tag in enumerate(column.tags):
            yield from names.label(("columns", name, "tags", place), tag, LONGEST_TAG)
