"""Rows of a table whose cursor has moved on, as change files.

Each pull begins `overlap` before the bookmark (sources/jdbc_bookmark.py), so that a
transaction which commits late is seen. Of what it reads, rows that earlier pulls landed
as they are now are left out: without others nothing is landed.

The bookmark never goes beyond what the database itself has reached: its clock, or the
sequence of a number. A row with a later value is pulled, and moves nothing, so rows
that arrive with values before it are not missed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from decimal import Decimal, InvalidOperation
from functools import reduce
from typing import Any, Dict, Iterable, List, Optional
from zoneinfo import ZoneInfo

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lake_spec.contract.pull_folders import CHANGES
from lake_spec.contract.schema_json import plain_schema
from lake_spec.contract.state_format import to_fields
from lake_spec.diagnostics.warnings import WarningId
from lake_spec.model import JdbcChanges
from lake_spec.text.marked_values import quoted_value, row_value
from lake_spark.errors import PullFailed
from lake_spark.landing.files import list_landing
from lake_spark.sources.database import SourceColumn
from lake_spark.sources.jdbc_bookmark import (
    Bookmark,
    BookmarkFile,
    Landed,
    TOLERANCE,
    Value,
    moved,
    text_of,
    value_of,
)
from lake_spark.sources.jdbc_tables import OpenTable, RANGE, opened_later
from lake_spark.sources.staging_folder import (
    discard_unfinished,
    folder_at,
    pulled_before,
)
from lake_spark.sources.write_files import FORMAT, land_if_any
from lake_spark.tables.table_run import TableRun

START = "start"
"""Where a run is asked to pull all rows again."""


@dataclass(frozen=True)
class Reach:
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


def pull_changes(run: TableRun, pull: JdbcChanges) -> None:
    """Pull the rows whose cursor is not before the last pull's end, less the overlap."""
    discard_unfinished(run)
    file = BookmarkFile(run, pull)
    bookmark, content = file.load()
    with opened_later(run, pull, pulled_before(run, CHANGES)) as table:
        column = cursor_of(table, pull)
        reach = _reach(table, column)
        last = _last(run, bookmark, reach)
        start = _asked(run, pull, table, column) or _earlier(last, pull.overlap)
        if run.accepted.pull_from == START:
            start = None
        if reach.is_empty or _is_before(reach, start):
            run.say(f"nothing new in {pull.table}")
            return
        rows = table.read(column, [_condition(table, column, start, reach)])
        if start is not None and run.accepted.pull_from is None:
            known = moved(bookmark, None, None, start).pulls
            rows = _less(rows, run, known, column.name, start)
        path = f"{CHANGES}/{table.opened.at}"
        count = land_if_any(table, path, rows, _facts(pull, path, reach))
        end = reach.end
        if last is not None and run.accepted.pull_from is None:
            end = max(end, last) if end is not None else last
        landed = Landed(path, reach.greatest) if count else None
        after = moved(bookmark, end, landed, _earlier(end, pull.overlap))
        if after != bookmark or content is None:
            file.save(after, content)


def facts_of_load(table: OpenTable, pull: JdbcChanges, path: str) -> Dict[str, Any]:
    """Return what a load says of how far its cursor goes, should no bookmark be written."""
    return _facts(pull, path, _reach(table, cursor_of(table, pull)))


def remember_load(run: TableRun, pull: JdbcChanges, facts: Dict[str, Any]) -> None:
    """Move the bookmark to where a load that has landed goes; never back."""
    file = BookmarkFile(run, pull)
    bookmark, content = file.load()
    said = facts["bookmark"]
    ends = [value_of(each) for each in (bookmark.to, said["to"]) if each]
    alike = [each for each in ends if isinstance(each, type(ends[-1]))]
    landed = tuple(Landed(**each) for each in said["pulls"])
    known = [each for each in bookmark.pulls if each not in landed]
    to = text_of(max(alike)) if alike else ""
    file.save(replace(bookmark, to=to, pulls=(*known, *landed)), content)


def _facts(pull: JdbcChanges, path: str, reach: Reach) -> Dict[str, Any]:
    end = text_of(reach.end) if reach.end is not None else ""
    landed = (Landed(path, reach.greatest),)
    return {"bookmark": to_fields(Bookmark(pull.cursor, end, landed))}


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


def _reach(table: OpenTable, column: SourceColumn) -> Reach:
    """Return how far the cursor goes; report values beyond what the database reached."""
    text = table.greatest(column)
    if table.has_nulls(column):
        table.run.warn(
            WarningId.NULL_CURSOR,
            f"{table.name}: its cursor {column.name!r} is null in some rows, which are not"
            " pulled after the first pull. Set it in every row in the source.",
        )
    if text is None:
        return Reach(is_empty=not table.has_nulls(column))
    top, limit = _parsed(table, column, text), _limit(table, column)
    if top is not None and (limit is None or top <= limit):
        return Reach(False, top, top, limit)
    if limit is None:
        raise PullFailed(
            f"connection {table.server.name!r}: {table.name}: the greatest value of its"
            f" cursor {column.name!r} is {quoted_value(text)}, and no value is greater. Correct"
            " the row, or pull a view without it."
        )
    known = table.greatest(column, _sql(table, column, limit))
    end = None if known is None else _parsed(table, column, known)
    if top is None or not isinstance(top, datetime) or top > limit + TOLERANCE:
        table.run.warn(
            WarningId.FUTURE_CURSOR,
            f"connection {table.server.name!r}: {table.name}: the greatest value of its"
            f" cursor {column.name!r} is {row_value(text)}, beyond the database's {limit}. Such"
            f" rows are pulled, and the bookmark stays at {row_value(end)}. Correct"
            " them, or pull a view without them.",
        )
    return Reach(False, top, end, limit)


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
    zone = getattr(table.run.spec.source, "timezone", "UTC")
    if kind == "timestamp" or zone == "UTC":
        return now
    local = now.replace(tzinfo=timezone.utc).astimezone(ZoneInfo(zone))
    return local.replace(tzinfo=None)


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


def _last(run: TableRun, bookmark: Bookmark, reach: Reach) -> Optional[Value]:
    """Return the bookmark's end, where the cursor still is of its kind.

    Never in the future.
    """
    last, limit = bookmark.end, reach.limit if reach.limit is not None else reach.top
    if last is None or (limit is not None and not isinstance(last, type(limit))):
        return None
    if limit is None or not isinstance(last, datetime) or last <= limit:
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
    run: TableRun, pull: JdbcChanges, table: OpenTable, column: SourceColumn
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


def _earlier(last: Optional[Value], overlap: int) -> Optional[Value]:
    if last is None:
        return None
    if isinstance(last, Decimal):
        return last - overlap
    return last - min(timedelta(seconds=overlap), last - datetime.min)


def _is_before(reach: Reach, start: Optional[Value]) -> bool:
    return start is not None and reach.top is not None and reach.top < start


def _condition(
    table: OpenTable, column: SourceColumn, start: Optional[Value], reach: Reach
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


def _less(
    rows: DataFrame,
    run: TableRun,
    pulls: Iterable[Landed],
    cursor: str,
    start: Value,
) -> DataFrame:
    """Return the rows that those pulls did not land as they are now."""
    for each in pulls:
        earlier = _landed(rows, run, each)
        if earlier is None:
            continue
        names = [name for name in rows.columns if name in earlier.columns]
        column = next((n for n in names if n.lower() == cursor.lower()), None)
        if column and earlier.schema[column].dataType.typeName() != "string":
            earlier = earlier.where(F.col(_quoted(column)) >= F.lit(_literal(start)))
        pairs: List[Any] = [
            rows[_quoted(name)].eqNullSafe(earlier[_quoted(name)]) for name in names
        ]
        rows = rows.join(earlier, reduce(lambda a, b: a & b, pairs), "left_anti")
    return rows


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _literal(value: Value) -> Any:
    return value.replace(tzinfo=timezone.utc) if isinstance(value, datetime) else value


def _landed(rows: DataFrame, run: TableRun, pull: Landed) -> Optional[DataFrame]:
    """Return what a pull landed, where it is there and can be compared with rows of now.

    It can where it has the same columns, or more: a row read again without a column
    that the source no longer has is not another row, and would only lose its value.
    Else its rows land once more, and the change log drops them as duplicates.
    """
    facts = folder_at(run, pull.path).facts()
    if facts is None:
        return None
    said = plain_schema(facts["schema"], f"{run.landing}/{pull.path}")
    schema = StructType.fromJson(said)
    kinds = {each.name: each.dataType for each in schema}
    now = {each.name: each.dataType for each in rows.schema}
    common = [name for name in now if name in kinds]
    gone, new = set(kinds) - set(now), set(now) - set(kinds)
    if any(kinds[n] != now[n] for n in common) or (new and not gone) or not common:
        return None
    files = list_landing(run.store, run.landing, [f"{pull.path}/*"])
    if not files:
        return None
    reader = run.spark.read.schema(schema).options(**FORMAT)
    reader = reader.option("__globPaths__", "false")
    return reader.format(run.spec.source.format.type).load([f.uri for f in files])
