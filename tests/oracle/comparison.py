"""Tables as the oracle and as Spark have them, made comparable and compared."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import Any, Dict, Iterable, List, Tuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lake_spec.model import TableSpec
from tests.oracle.oracle import Row, Delivery, same

TIMES = ("valid_from", "valid_to")
FLAGS = ("is_current", "is_deleted")
Rows = List[Tuple]


def rows_of(table: DataFrame, spec: TableSpec, *more: str) -> Rows:
    """A table's rows as comparable tuples: key, values, then the columns named."""
    names = [*spec.key, *(n for n, _ in spec.columns if n not in spec.key), *more]
    shown = [
        (
            F.unix_micros(name).alias(name)
            if table.schema[name].dataType.typeName() == "timestamp"
            else F.col(name)
        )
        for name in names
    ]
    rows = (
        row.asDict(recursive=True).values() for row in table.select(*shown).collect()
    )
    return [tuple(same(value) for value in row) for row in rows]


def expected(rows: Iterable[Row], *more: str) -> Rows:
    """The oracle's rows in the same form."""
    return [
        tuple(same(_micros(value)) for value in (*row.key, *row.values.values()))
        + tuple(_micros(getattr(row, name)) for name in more)
        for row in rows
    ]


def _micros(value: Any) -> Any:
    if isinstance(value, datetime):
        return (value - datetime(1970, 1, 1)) // timedelta(microseconds=1)
    return value


def differing(made: Rows, wanted: Rows) -> Dict[int, Tuple[Rows, Rows]]:
    """By history number: (rows that should not be, rows that are missing)."""
    surplus, missing = Counter(made) - Counter(wanted), Counter(wanted) - Counter(made)
    numbers = sorted({row[0] for row in [*surplus, *missing]})
    return {
        number: tuple(
            sorted((r for r in found.elements() if r[0] == number), key=repr)
            for found in (surplus, missing)
        )
        for number in numbers
    }


def story(events: Iterable[Delivery], difference: Tuple[Rows, Rows]) -> str:
    """One mismatch, with all that is needed to see who is right."""
    lines = ["  events:"]
    lines += [f"    {_told(each)}" for each in events]
    for title, rows in zip(("made, but wrong", "missing"), difference):
        lines += [f"  {title}:"] + [f"    {row}" for row in rows]
    return "\n".join(lines)


def _told(event: Delivery) -> str:
    kind = "load" if event.is_load else event.op
    values = {n: str(v) for n, v in event.values.items() if v is not None}
    return f"{event.path} #{event.record} {kind} {event.key} {values}"
