"""Rules on where a table's rows come from and how their order is known."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from typing import Dict, Iterator, List, Tuple

from lake_check.rules.rule_set import RuleSet
from lake_check.rules.zone import is_zone, zone_hint
from lake_spec.diagnostics.diagnostic import Path, Problem, got
from lake_spec.model import (
    Csv,
    FeedTable,
    FileTable,
    Json,
    MissingColumns,
    Operation,
    Snapshot,
)
from lake_spec.model import names
from lake_spec.model.sources import CHARSETS

SOURCE = RuleSet()
FEED = RuleSet()

_OPERATION_VALUE = re.compile(r"[A-Za-z0-9_.+-]{1,32}")
_WORDS = ("upsert", "delete", "truncate", "ignore")
_SAMPLE = datetime(2001, 2, 3, 4, 5, 6, tzinfo=timezone.utc)


def globs(spec: FileTable) -> Tuple[Tuple[Path, str], ...]:
    """List the patterns of a source, each with its key path."""
    source = spec.source
    if isinstance(source, Snapshot):
        return ((("source", "files"), source.files),)
    found: List[Tuple[Path, str]] = [
        (("source", "load"), source.load),
        (("source", "changes"), source.changes),
    ]
    if source.full_refresh is not None:
        found.append((("source", "full_refresh", "files"), source.full_refresh.files))
    return tuple(found)


@SOURCE.rule("source")
def paths_stay_below_landing(spec: FileTable) -> Iterator[Problem]:
    """Refuse paths and globs that could leave the landing folder.

    Fix: Write folders joined by single slashes, without a leading slash and without
    `..`.
    """
    yield from names.relative_path(("source", "path"), spec.source.path)
    for path, glob in globs(spec):
        yield from names.glob(path, glob)


@FEED.rule("source")
def load_and_changes_differ(spec: FeedTable) -> Iterator[Problem]:
    """Refuse one glob for the full load and for the changes.

    Fix: Give `changes` a glob of its own, as in changes/**.
    """
    source = spec.source
    if source.load == source.changes:
        hint = (
            "It matches the files of `load` too: give changes a pattern of their own."
        )
        yield got(("source", "changes"), source.changes, hint)


@SOURCE.rule("source")
def timezone_exists(spec: FileTable) -> Iterator[Problem]:
    """Refuse a time zone that the tz database does not have.

    Fix: Write a name such as UTC or Europe/Berlin.
    """
    zone = spec.source.timezone
    if not is_zone(zone):
        yield got(("source", "timezone"), zone, zone_hint(zone))


@SOURCE.rule("source", "source.format")
def csv_marks_are_single_characters(spec: FileTable) -> Iterator[Problem]:
    """Refuse a delimiter, quote or escape that is not one character of its own.

    Fix: Write one character for each, and another for each of them; an escape is no
    letter, digit or blank.
    """
    form = spec.source.format
    if not isinstance(form, Csv):
        return
    for name, mark in (("delimiter", form.delimiter), ("quote", form.quote)):
        if len(mark) != 1 or mark in "\r\n\0" or mark > "\uffff":
            yield got(("source", "format", name), mark, "Write one character.")
    if form.delimiter == form.quote:
        hint = "It is the quote too: choose another character."
        yield got(("source", "format", "delimiter"), form.delimiter, hint)
    if form.escape is not None:
        yield from _escape(form)


def _escape(form: Csv) -> Iterator[Problem]:
    escape = form.escape or ""
    path = ("source", "format", "escape")
    if escape == form.quote:
        hint = "It is the quote, which is doubled inside of quotes anyway: remove it."
        yield got(path, escape, hint)
    elif escape == form.delimiter:
        yield got(path, escape, "It is the delimiter too: choose another character.")
    elif len(escape) != 1 or escape in "\r\n\0" or escape > "\uffff":
        yield got(path, escape, "Write one character.")
    elif escape.isalnum() or escape.isspace():
        yield got(path, escape, "Write a sign: no letter, digit or blank.")


@SOURCE.rule("source", "source.format")
def encoding_is_known(spec: FileTable) -> Iterator[Problem]:
    """Refuse an encoding that cannot be read.

    Fix: Write one of the encodings that the message names, or convert the files to
    UTF-8.
    """
    form = spec.source.format
    if isinstance(form, Csv) and form.encoding.lower() not in CHARSETS:
        hint = f"Name one of {', '.join(CHARSETS)}, or convert the files to UTF-8."
        yield got(("source", "format", "encoding"), form.encoding, hint)


@SOURCE.rule("source", "source.format", "columns")
def csv_without_header_declares_columns(spec: FileTable) -> Iterator[Problem]:
    """Refuse CSV files without a header whose columns are not declared.

    Fix: Declare `columns` in the order of the file.
    """
    form = spec.source.format
    if isinstance(form, Csv) and not form.header and not spec.columns:
        hint = (
            "Declare `columns`, in the order of the file: files without a header need "
            "them."
        )
        yield got(("source", "format", "header"), False, hint)


@SOURCE.rule("source", "columns")
def columns_that_may_not_be_missing_are_declared(spec: FileTable) -> Iterator[Problem]:
    """Refuse `missing_columns: refuse` of a table that declares no columns.

    Fix: Declare `columns`, or leave `missing_columns` out.
    """
    if spec.source.missing_columns is MissingColumns.REFUSE and not spec.columns:
        hint = "Declare `columns`: only a file that lacks a declared column is refused."
        yield got(("source", "missing_columns"), "refuse", hint)


def gives_a_time(path: Path, form: str) -> Iterator[Problem]:
    """Require a strptime format with a date, so that texts of all years differ."""
    if not _gives_a_year(form):
        yield got(
            path,
            form,
            "Write the format of the time with strptime's directives, at least the "
            "year, as in %Y-%m-%d or %Y%m%dT%H%M%S.",
        )
    elif "%Z" in form.replace("%%", ""):
        yield got(
            path,
            form,
            "The name of a zone says no instant, for many places share names: write its"
            " letters as they are and the zone in `source.timezone`, or %z for an offset"
            " such as +0200, +02:00 or Z.",
        )


def _gives_a_year(form: str) -> bool:
    """Return whether a strptime format has at least the year."""
    try:
        return datetime.strptime(_SAMPLE.strftime(form), form).year == _SAMPLE.year
    except (ValueError, IndexError, re.error):
        return False


@SOURCE.rule("source", "source.format")
def pulled_json_has_lines(spec: FileTable) -> Iterator[Problem]:
    """Refuse `layout: array` of files that the pipeline itself writes, one object a line.

    Fix: Remove `layout`.
    """
    kind, source = spec.source.format, spec.source
    if not (isinstance(kind, Json) and kind.is_array):
        return
    for name in ("pulled_from", "load_from", "changes_from"):
        if getattr(source, name, None) is not None:
            hint = f"What `{name}` pulls is landed one object a line: remove it."
            yield got(("source", "format", "layout"), "array", hint)


@FEED.rule("source", "source.format")
def absent_fields_are_of_json(spec: FeedTable) -> Iterator[Problem]:
    """Refuse `absent_fields: unchanged` of files whose records have every column.

    Fix: Leave `absent_fields` out, or `missing_columns: refuse`; files of a format without
    absent fields say by `placeholder` what did not change.
    """
    if not spec.keeps_absent:
        return
    kind, path = spec.source.format, ("source", "absent_fields")
    if not isinstance(kind, Json):
        hint = (
            f"Leave it out: every record of {kind.type} has the columns of its file. Name "
            "the text of unchanged values under `placeholder`, or send JSON."
        )
        yield got(path, "unchanged", hint)
    elif spec.source.missing_columns is MissingColumns.REFUSE:
        hint = "Leave it out: with `absent_fields: unchanged` no column of a file is missing."
        yield got(("source", "missing_columns"), "refuse", hint)


@FEED.rule("source", "source.operation")
def operation_values_differ(spec: FeedTable) -> Iterator[Problem]:
    """Refuse operation values that are missing, listed twice or not plain.

    Fix: List each value once under upsert, delete, truncate or ignore; values of the full
    load under upsert too.
    """
    operation = spec.operation
    if operation is None:
        return
    top = ("source", "operation")
    if operation.column is not None:
        path = (*top, "column")
        yield from names.text_of_source(path, operation.column, is_csv=False)
    yield from _values_are_plain(operation, top)
    if not operation.upsert:
        hint = "List the values of inserts and updates, as in [I, U]."
        yield got((*top, "upsert"), [], hint)
    for value in sorted(set(operation.load) - set(operation.upsert)):
        hint = "Rows of the full load are upserts: list it under upsert too."
        yield got((*top, "load"), value, hint)
    first: Dict[str, str] = {}
    for name in _WORDS:
        for value in sorted(set(getattr(operation, name))):
            if first.setdefault(value, name) != name:
                hint = (
                    f"It is listed for {first[value]}s too: keep it in one of the two."
                )
                yield got((*top, name), value, hint)


@FEED.rule("source", "source.operation", "columns")
def deletes_are_told(spec: FeedTable) -> Iterator[Problem]:
    """Refuse an operation that nothing tells, or a delete told by no known column.

    Fix: Name the column with the words, or a column of the table, or a field as in
    `data.deleted_at`, that a deleted row has a value in.
    """
    operation = spec.operation
    if operation is None:
        return
    told = operation.deleted_when
    if told is None:
        if operation.column is None:
            hint = (
                "Name the column with the words, or what tells deletes: deleted_when."
            )
            yield Problem(("source", "operation", "column"), None, "missing", hint)
        return
    path = ("source", "operation", "deleted_when", "column")
    if not names.is_source_name(told.column):
        yield from names.source_name(path, told.column)
        return
    known = {n.lower() for name, c in spec.columns for n in (name, *c.source)}
    is_field = "." in told.column.strip(".")
    if spec.columns and told.column.lower() not in known and not is_field:
        hint = (
            "Declare it under `columns`, or name a field inside a column of the files, as "
            "in data.deleted_at."
        )
        yield got(path, told.column, hint)


@FEED.rule("source", "source.operation")
def values_before_have_a_place(spec: FeedTable) -> Iterator[Problem]:
    """Refuse an `operation.before` that names no column, or next to an envelope.

    Fix: Write the name of a column or field with `{column}` for that of the key's, as in
    `before: BI_{column}`; with an envelope leave it out.
    """
    operation = spec.operation
    if operation is None or operation.before is None:
        return
    path, before = ("source", "operation", "before"), operation.before
    if spec.envelope is not None:
        hint = "Leave it out: events have an image `before` of their own."
        yield got(path, before, hint)
        return
    is_name = names.is_source_name(before.replace("{column}", "id"))
    if before.count("{column}") != 1 or before == "{column}" or not is_name:
        hint = (
            "Write a name with one {column} in it, as in BI_{column} or old.{column}."
        )
        yield got(path, before, hint)


def _values_are_plain(operation: Operation, top: Path) -> Iterator[Problem]:
    for name in (*_WORDS, "load"):
        for position, value in enumerate(getattr(operation, name)):
            if not _OPERATION_VALUE.fullmatch(value):
                hint = "Write 1 to 32 letters, digits and _ . + -."
                yield got((*top, name, position), value, hint)
