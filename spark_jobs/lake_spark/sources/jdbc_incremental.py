"""Rows of a table whose cursor has moved on, as change files.

Each pull begins `overlap` before the bookmark (sources/jdbc_bookmark.py, and
sources/jdbc_overlap.py for clocks that are set), so that a transaction which commits late
is seen. Of what it reads, rows that earlier pulls landed as they are now are left out:
without others nothing is landed.

The bookmark never goes beyond what the database itself has reached: its clock, or the
sequence of a number. A row with a later value is pulled, and moves nothing, so rows
that arrive with values before it are not missed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timezone, tzinfo
from decimal import Decimal, InvalidOperation
from typing import Any, Dict, Iterable, List, Optional, Tuple
from zoneinfo import ZoneInfo

from pyspark.sql import DataFrame

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.facts.pull_folders import CHANGES, LOAD
from lake_spec.model import JdbcChanges, NewColumns
from lake_spec.state.state_format import to_fields
from lake_spec.text.marked_values import quoted_value, row_value
from lake_spark.errors import PullFailed
from lake_spark.sources import jdbc_columns, jdbc_landed
from lake_spark.sources.database import SourceColumn
from lake_spark.sources.jdbc_bookmark import (
    Bookmark,
    BookmarkFile,
    Landed,
    TOLERANCE,
    Value,
    is_less,
    moved,
    text_of,
    value_of,
)
from lake_spark.sources.jdbc_overlap import begin_of
from lake_spark.sources.jdbc_tables import OpenTable, RANGE, opened_later
from lake_spark.sources.staging_folder import discard_unfinished, pulled_before
from lake_spark.sources.write_files import land_if_any
from lake_spark.tables.table_run import FileRun

START = "start"
"""Where a run is asked to pull all rows again."""


@dataclass(frozen=True)
class CursorRange:
    """How far the cursor of a table goes.

    `top` is its greatest value, None if that is no value of the lake; `end` the
    greatest that the database itself can have reached, `limit` what that is.
    """

    is_empty: bool
    top: Optional[Value] = None
    end: Optional[Value] = None
    limit: Optional[Value] = None

    @property
    def greatest(self) -> Optional[str]:
        """Return the top as text."""
        return text_of(self.top) if self.top is not None else None


def pull_changes(run: FileRun, pull: JdbcChanges) -> None:
    """Pull the rows whose cursor is not before the last pull's end, less the overlap."""
    discard_unfinished(run)
    file = BookmarkFile(run, pull)
    bookmark, content = file.load()
    loads = pulled_before(run, LOAD)
    with opened_later(run, pull, [*pulled_before(run, CHANGES), *loads]) as table:
        column = cursor_of(table, pull)
        reach = _reach(table, column)
        last = _last(run, bookmark, reach)
        zone = _zone(table, column)
        start = _asked(run, pull, table, column) or begin_of(last, pull.overlap, zone)
        if run.accepted.pull_from == START:
            start = None
        columns, start = _whole_where_lacking(table, column, bookmark, start)
        if reach.is_empty or _is_before(reach, start):
            run.say(f"nothing new in {pull.table}")
            return
        rows = table.read(column, [_condition(table, column, start, reach)])
        known = tuple(Landed(f"{LOAD}/{name}") for name in loads)
        if start is not None and run.accepted.pull_from is None:
            known = moved(bookmark, None, (), start).pulls
            rows = jdbc_landed.less(rows, run, known, column.name, start)
        landed = _land(table, rows, known, pull, reach)
        end = reach.end
        if last is not None and run.accepted.pull_from is None:
            end = max(end, last) if end is not None else last
        after = moved(bookmark, end, landed, begin_of(end, pull.overlap, zone))
        after = replace(after, columns=columns)
        if after != bookmark or content is None:
            file.save(after, content)


def _whole_where_lacking(
    table: OpenTable,
    column: SourceColumn,
    bookmark: Bookmark,
    start: Optional[Value],
) -> Tuple[Tuple[str, ...], Optional[Value]]:
    """Return the columns whose values the table has after a pull, and where it begins.

    Where rows before `start` have values in new columns it begins with all rows, if the
    spec says so; else a warning counts them, in each run until all rows were read.
    """
    run = table.run
    names = tuple(each.name for each in table.columns)
    known = bookmark.columns or jdbc_landed.columns_of(run, bookmark.pulls)
    new = jdbc_columns.new(table, known)
    if start is None or not known or not new:
        return names, start
    name = table.dialect.quoted(column.name)
    before = f"({name} < {_sql(table, column, start)} OR {name} IS NULL)"
    lacking = jdbc_columns.with_values(table, new, before)
    if not lacking:
        return names, start
    # Else all rows would lose what they have in a column that was perhaps renamed.
    is_gone = jdbc_columns.is_any_gone(table, known)
    if not is_gone and run.spec.source.new_columns is NewColumns.REFRESH:
        run.say(f"reading all of {table.name}: new {jdbc_columns.in_words(lacking)}")
        return names, None
    run.warn(
        WarningId.NEW_COLUMN_NOT_PULLED,
        f"{table.name}: new {jdbc_columns.in_words(lacking)}: those rows have not moved "
        "their cursor since, so the table has null there. Read all rows again once: "
        f"./run_locally.sh run {run.spec.domain}_incremental --param "
        f"tables={run.spec.name} --param pull_from={START}; or set source.new_columns: "
        "refresh.",
    )
    return tuple(name for name in names if name not in lacking), start


def _land(
    table: OpenTable,
    rows: DataFrame,
    known: Iterable[Landed],
    pull: JdbcChanges,
    reach: CursorRange,
) -> List[Landed]:
    """Land rows as changes, but those of a load that only have a column more with it.

    As changes they would open versions where nothing but the column came.
    """
    parts = [(CHANGES, rows)]
    if jdbc_landed.lands_in_load(table.run.spec):
        loads = [each for each in known if each.path.startswith(f"{LOAD}/")]
        again, others = jdbc_landed.split(rows, table.run, loads)
        parts = [(CHANGES, others), *([(LOAD, again)] if again is not None else [])]
    landed = []
    for top, part in reversed(parts):
        path = f"{top}/{table.opened.at}"
        if land_if_any(table, path, part, _facts(pull, path, reach)):
            landed.append(Landed(path, reach.greatest))
    return landed


def facts_of_load(table: OpenTable, pull: JdbcChanges, path: str) -> Dict[str, Any]:
    """Return what a load says of how far its cursor goes, should no bookmark be written."""
    names = tuple(each.name for each in table.columns)
    return _facts(pull, path, _reach(table, cursor_of(table, pull)), names)


def remember_load(run: FileRun, pull: JdbcChanges, facts: Dict[str, Any]) -> None:
    """Move the bookmark to where a load that has landed goes; never back."""
    file = BookmarkFile(run, pull)
    bookmark, content = file.load()
    said = facts["bookmark"]
    ends = [value_of(each) for each in (bookmark.to, said["to"]) if each]
    alike = [each for each in ends if isinstance(each, type(ends[-1]))]
    landed = tuple(Landed(**each) for each in said["pulls"])
    known = [each for each in bookmark.pulls if each not in landed]
    to = text_of(max(alike)) if alike else ""
    columns = tuple(said.get("columns", ()))
    after = replace(bookmark, to=to, pulls=(*known, *landed), columns=columns)
    file.save(after, content)


def _facts(
    pull: JdbcChanges, path: str, reach: CursorRange, columns: Tuple[str, ...] = ()
) -> Dict[str, Any]:
    end = text_of(reach.end) if reach.end is not None else ""
    landed = (Landed(path, reach.greatest),)
    return {"bookmark": to_fields(Bookmark(pull.cursor, end, landed, columns))}


def cursor_of(table: OpenTable, pull: JdbcChanges) -> SourceColumn:
    """Return the cursor's column, which must be a number or a time."""
    column = table.column(pull.cursor)
    if column is None:
        has = ", ".join(each.name for each in table.columns)
        raise PullFailed(
            f"connection {pull.connection!r}: {pull.table} has no column {pull.cursor!r}"
            f" for its cursor; it has {has}. Correct the cursor in the spec."
        )
    if column.type not in table.dialect.cursors:
        raise PullFailed(
            f"connection {pull.connection!r}: {pull.table}: the cursor {pull.cursor!r} is"
            f" of type {column.type}. Name a column with a number or a timestamp."
        )
    return column


def _reach(table: OpenTable, column: SourceColumn) -> CursorRange:
    """Return how far the cursor goes; report values beyond what the database reached."""
    text = table.greatest(column)
    if table.has_nulls(column):
        table.run.warn(
            WarningId.NULL_CURSOR,
            f"{table.name}: its cursor {column.name!r} is null in some rows, which are not"
            " pulled after the first pull. Set it in every row in the source.",
        )
    if text is None:
        return CursorRange(is_empty=not table.has_nulls(column))
    top, limit = _parsed(table, column, text), _limit(table, column)
    if top is not None and (limit is None or not is_less(limit, top)):
        return CursorRange(False, top, top, limit)
    if limit is None:
        raise PullFailed(
            f"connection {table.server.name!r}: {table.name}: the greatest value of its"
            f" cursor {column.name!r} is {quoted_value(text)}, and no value is greater. Correct"
            " the row, or pull a view without it."
        )
    known = table.greatest(column, _sql(table, column, limit))
    end = None if known is None else _parsed(table, column, known)
    if not _is_soon(top, limit):
        table.run.warn(
            WarningId.FUTURE_CURSOR,
            f"connection {table.server.name!r}: {table.name}: the greatest value of its"
            f" cursor {column.name!r} is {row_value(text)}, beyond the database's {limit}. Such"
            f" rows are pulled, and the bookmark stays at {row_value(end)}. Correct"
            " them, or pull a view without them.",
        )
    return CursorRange(False, top, end, limit)


def _limit(table: OpenTable, column: SourceColumn) -> Optional[Value]:
    """Return the database's clock, or its sequence's last number, or the type's end."""
    kind = table.dialect.cursors[column.type]
    if kind == "number":
        given = table.dialect.newest(table.session, table.sql_name, column)
        if given is not None:
            return Decimal(given)
        most = _MOST.get(column.type)
        return None if most is None else Decimal(most - 1)
    now = datetime.fromisoformat(_six_digits(table.dialect.now(table.session)))
    local = now.replace(tzinfo=timezone.utc).astimezone(_zone(table, column))
    return local.replace(tzinfo=None)


def _zone(table: OpenTable, column: SourceColumn) -> tzinfo:
    """Return the zone of the clock whose times the cursor has."""
    if table.dialect.cursors[column.type] == "timestamp":
        return timezone.utc
    return ZoneInfo(getattr(table.run.spec.source, "timezone", "UTC"))


_MOST = {
    "int4": 2**31 - 1,
    "int": 2**31 - 1,
    "int unsigned": 2**32 - 1,
    "int8": 2**63 - 1,
    "bigint": 2**63 - 1,
}
"""The greatest numbers of types: a cursor that is there cannot grow any more."""


def _parsed(table: OpenTable, column: SourceColumn, text: str) -> Optional[Value]:
    """Return a cursor's value; None for one that no number or time of the lake is."""
    try:
        if table.dialect.cursors[column.type] == "number":
            number = Decimal(text)
            return number if number.is_finite() else None
        return datetime.fromisoformat(_six_digits(text))
    except (ValueError, InvalidOperation):
        return None


def _six_digits(text: str) -> str:
    """Return digits after the second as Python 3.9 reads them: none, three or six."""
    whole, dot, digits = text.partition(".")
    return f"{whole}.{digits.ljust(6, '0')}" if dot else whole


def _is_soon(top: Optional[Value], limit: Value) -> bool:
    """Return whether a time is later than the database's by what clocks differ at most."""
    if not isinstance(top, datetime) or not isinstance(limit, datetime):
        return False
    return top <= limit + TOLERANCE


def _last(run: FileRun, bookmark: Bookmark, reach: CursorRange) -> Optional[Value]:
    """Return the bookmark's end, where the cursor still is of its kind.

    Never in the future.
    """
    last, limit = bookmark.end, reach.limit if reach.limit is not None else reach.top
    if last is None or (limit is not None and not isinstance(last, type(limit))):
        return None
    if not isinstance(limit, datetime) or not isinstance(last, datetime):
        return last
    if last <= limit:
        return last
    if last <= limit + TOLERANCE:
        return limit
    words = (
        f"the bookmark {row_value(last)} is in the future and is ignored: all rows of"
        f" {run.spec.full_name} are pulled again."
    )
    run.warn(WarningId.FUTURE_BOOKMARK, words)
    return None


def _asked(
    run: FileRun, pull: JdbcChanges, table: OpenTable, column: SourceColumn
) -> Optional[Value]:
    """Return where this run was asked to begin, if it was."""
    text = run.accepted.pull_from
    if text is None or text == START:
        return None
    value = value_of(text if ":" not in text else _six_digits(text))
    is_number = table.dialect.cursors[column.type] == "number"
    if is_number != isinstance(value, Decimal):
        raise PullFailed(
            f"connection {pull.connection!r}: {pull.table}: pull_from is {quoted_value(text)}, and"
            f" its cursor {column.name!r} is a {column.type}. Give a value of that kind."
        )
    return value


def _is_before(reach: CursorRange, start: Optional[Value]) -> bool:
    return start is not None and reach.top is not None and is_less(reach.top, start)


def _condition(
    table: OpenTable, column: SourceColumn, start: Optional[Value], reach: CursorRange
) -> str:
    """Return the condition: all rows at first, then from `start`; none beyond the top."""
    ends = f"{RANGE} IS NOT NULL"
    if reach.top is not None:
        ends = f"{RANGE} <= {_sql(table, column, reach.top)}"
    if start is None:
        return f"({ends} OR {RANGE} IS NULL)"
    return f"{RANGE} >= {_sql(table, column, start)} AND {ends}"


def _sql(table: OpenTable, column: SourceColumn, value: Value) -> str:
    if isinstance(value, Decimal):
        return table.dialect.literal(column, f"{value:f}")
    return table.dialect.literal(column, value.isoformat(" ", "microseconds"))
