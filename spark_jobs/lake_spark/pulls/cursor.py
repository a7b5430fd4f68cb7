"""Rows of a table whose cursor has moved on, as change files.

Where the last pull ended stands in the names of its folders, in landing or among
the files that were taken in, and nowhere else:

    changes/<time>_<cursor>_<from>_<to>/

Each pull begins `overlap` before the greatest value seen, so that a transaction
which commits late is seen. Of what it reads, rows that earlier pulls landed as they
are now are left out: without others nothing is landed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from functools import reduce
from typing import Iterator, List, Mapping, Optional, Sequence, Union

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from lake_spec.model import JdbcChanges
from lake_spec.pulled import CHANGES, LOAD
from lake_spark.errors import PullFailed
from lake_spark.landing import list_landing
from lake_spark.pulls.database import SourceColumn
from lake_spark.pulls.folders import discard_unfinished, folder_at, pulled_before
from lake_spark.pulls.landed import FORMAT, land_if_any
from lake_spark.pulls.tables import RANGE, OpenTable, opened_later
from lake_spark.table_run import TableRun

Value = Union[Decimal, datetime]

START = "start"
_AT = r"\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}"
_NUMBER = r"-?\d+(?:\.\d+)?"
_MOMENT = rf"{_AT}\.\d{{6}}"
_VALUE = rf"(?:{_MOMENT}|{_NUMBER})"
_NAME = re.compile(
    rf"{_AT}_(?P<cursor>[A-Za-z_][A-Za-z0-9_$]*)_(?:{START}|{_VALUE})_(?P<to>{_VALUE})"
)
_IN_NAME = "%Y-%m-%dT%H-%M-%S.%f"


@dataclass(frozen=True)
class Span:
    """What an earlier pull by the same cursor read: its folder, and up to where."""

    path: str
    to: Value


def pull_changes(run: TableRun, pull: JdbcChanges) -> None:
    """Rows whose cursor is not before the last pull's end, less the overlap."""
    discard_unfinished(run)
    before = {top: pulled_before(run, top) for top in (LOAD, CHANGES)}
    with opened_later(run, pull, before[CHANGES]) as table:
        column = cursor_of(table, pull)
        top = _greatest(table, column)
        spans = [each for each in _spans(before, pull) if _alike(each.to, top)]
        last = max((each.to for each in spans), default=None)
        start = None if last is None else _earlier(last, pull.overlap)
        if top is None or (start is not None and top < start):
            run.say(f"nothing new in {pull.table}")
            return
        rows = table.read(column, [_condition(table, column, start, top)])
        if start is not None:
            rows = _less(rows, run, [each for each in spans if each.to >= start])
        to = top if last is None else max(top, last)
        land_if_any(table, f"{CHANGES}/{_name(table, pull, start, to)}", rows)


def name_of_load(table: OpenTable, pull: JdbcChanges) -> str:
    """A folder's name that says how far the cursor was when the table was loaded."""
    top = _greatest(table, cursor_of(table, pull))
    return table.opened.at if top is None else _name(table, pull, None, top)


def cursor_of(table: OpenTable, pull: JdbcChanges) -> SourceColumn:
    """The cursor's column, which must be a number or a time."""
    column = table.column(pull.cursor)
    if column is None:
        has = ", ".join(each.name for each in table.columns)
        raise PullFailed(
            f"connection {pull.connection!r}: {pull.table} has no column {pull.cursor!r}"
            f" to be its cursor; it has {has}."
        )
    if column.type not in table.dialect.cursors:
        raise PullFailed(
            f"connection {pull.connection!r}: {pull.table}: the cursor {pull.cursor!r} is"
            f" of type {column.type}: name a column with a number or a time."
        )
    return column


def _greatest(table: OpenTable, column: SourceColumn) -> Optional[Value]:
    text = table.greatest(column)
    if text is None:
        return None
    try:
        if table.dialect.cursors[column.type] == "number":
            number = Decimal(text)
            if not number.is_finite():
                raise ValueError(text)
            return number
        return datetime.fromisoformat(_six_digits(text))
    except (ValueError, InvalidOperation):
        raise PullFailed(
            f"connection {table.server.name!r}: {table.name}: the greatest value of its"
            f" cursor {column.name!r} is {text!r}, and nothing comes after that: correct"
            " the row, or pull a view without it."
        ) from None


def _six_digits(text: str) -> str:
    """Digits after the second as Python 3.9 reads them: none, three or six."""
    whole, dot, digits = text.partition(".")
    return f"{whole}.{digits.ljust(6, '0')}" if dot else whole


def _earlier(value: Value, overlap: int) -> Value:
    if isinstance(value, Decimal):
        return value - overlap
    return max(value, datetime.min + timedelta(seconds=overlap)) - timedelta(
        seconds=overlap
    )


def _condition(
    table: OpenTable, column: SourceColumn, start: Optional[Value], top: Value
) -> str:
    """The first time all rows, later those from `start`; none beyond the top."""
    ends = f"{RANGE} <= {_sql(table, column, top)}"
    if start is None:
        return f"({ends} OR {RANGE} IS NULL)"
    return f"{RANGE} >= {_sql(table, column, start)} AND {ends}"


def _sql(table: OpenTable, column: SourceColumn, value: Value) -> str:
    if isinstance(value, Decimal):
        return table.dialect.literal(column, f"{value:f}")
    return table.dialect.literal(column, value.isoformat(" ", "microseconds"))


def _name(
    table: OpenTable, pull: JdbcChanges, start: Optional[Value], to: Value
) -> str:
    begins = START if start is None else _text(start)
    return f"{table.opened.at}_{pull.cursor}_{begins}_{_text(to)}"


def _text(value: Value) -> str:
    if isinstance(value, Decimal):
        return f"{value:f}"
    return value.isoformat("T", "microseconds").replace(":", "-")


def _spans(before: Mapping[str, Sequence[str]], pull: JdbcChanges) -> Iterator[Span]:
    """Earlier pulls by this cursor, the load among them."""
    for top, names in before.items():
        for name in names:
            found = _NAME.fullmatch(name)
            if found and found.group("cursor") == pull.cursor:
                yield Span(f"{top}/{name}", _value(found.group("to")))


def _value(text: str) -> Value:
    if re.fullmatch(_NUMBER, text):
        return Decimal(text)
    return datetime.strptime(text, _IN_NAME)


def _alike(one: Value, other: Optional[Value]) -> bool:
    """Whether both are numbers or both are times: a cursor can get another type."""
    return other is None or isinstance(one, type(other))


def _less(rows: DataFrame, run: TableRun, spans: List[Span]) -> DataFrame:
    """The rows that those pulls did not land as they are now."""
    earlier = [each for each in (_landed(rows, run, span) for span in spans) if each]
    return rows.subtract(reduce(DataFrame.union, earlier)) if earlier else rows


def _landed(rows: DataFrame, run: TableRun, span: Span) -> Optional[DataFrame]:
    """What a pull landed, where it can be compared: of the same columns, and there.

    Where not, its rows land once more, and the change log drops them as duplicates.
    """
    facts = folder_at(run, span.path).facts()
    if facts is None or StructType.fromJson(facts["schema"]) != rows.schema:
        return None
    files = list_landing(run.store, run.landing, [f"{span.path}/*"])
    if not files:
        return None
    reader = run.spark.read.schema(rows.schema).options(**FORMAT)
    reader = reader.option("__globPaths__", "false")
    return reader.format(run.spec.source.format.type).load([f.uri for f in files])
