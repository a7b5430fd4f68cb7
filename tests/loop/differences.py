"""The lake's tables next to the source's: what differs, by table, key and column."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tests.loop.audit import Version, from_timestamp, versions
from tests.loop.kinds import comparable
from tests.loop.source import Source
from tests.loop.tables import LOADED_AT, Table
from tests.spark.lake import Lake

Row = Tuple[Any, ...]


def differences(
    lake: Lake,
    source: Source,
    table: Table,
    load_number: int,
    since: Optional[int] = None,
) -> List[str]:
    """Every row of current and of history that only one side has, in words.

    With `since`, in microseconds, of the history from then on.
    """
    shape = source.shapes[table.name]
    told = []
    for what, columns, made, wanted in (
        ("current", list(shape.now), lake.current, source.rows(table)),
        (
            "history",
            ["valid_from", "valid_to", *shape.ever],
            lake.history,
            list(_versions(source, table, load_number)),
        ),
    ):
        rows = list(_rows(made, columns))
        identity = [
            columns.index(n) for n in (*table.key, "valid_from") if n in columns
        ]
        if what == "history" and since is not None:
            rows, wanted = (_since(each, identity, since) for each in (rows, wanted))
        for words in _differing(columns, identity, rows, wanted):
            told.append(f"{source.database} {table.name}, {what}: {words}")
    return told


def _versions(source: Source, table: Table, load_number: int) -> Iterator[Row]:
    changes = source.changes(table)
    found = versions(changes, load_number, comparable(LOADED_AT))
    values = [n for n in source.shapes[table.name].ever if n not in table.key]
    order = list(source.shapes[table.name].ever)
    for key, of_key in found.items():
        for each in of_key:
            row = {**dict(zip(table.key, key)), **each.values}
            assert set(values) == set(each.values)
            yield (each.since, each.until, *(row[name] for name in order))


def _since(rows: Iterable[Row], identity: Sequence[int], timestamp: int) -> List[Row]:
    known: Dict[Row, List[Version]] = defaultdict(list)
    for row in rows:
        values = dict(enumerate(row[2:]))
        known[_of(row, identity[:-1])].append(Version(row[0], row[1], values))
    return [
        (each.since, each.until, *each.values.values())
        for of_key in known.values()
        for each in from_timestamp(of_key, timestamp)
    ]


def _rows(made: DataFrame, columns: Sequence[str]) -> Iterator[Row]:
    """Columns that the lake has not seen yet have no value in it."""
    known = {field.name: field.dataType.typeName() for field in made.schema}
    shown = []
    for name in columns:
        if name not in known:
            shown.append(F.lit(None).alias(name))
        elif known[name] == "timestamp":  # else in the zone of this machine
            shown.append(F.unix_micros(name).alias(name))
        else:
            shown.append(F.col(name))
    for row in made.select(*shown).collect():
        yield tuple(comparable(value) for value in row)


def _differing(
    columns: Sequence[str],
    identity: Sequence[int],
    made: Iterable[Row],
    wanted: Iterable[Row],
) -> Iterator[str]:
    surplus, missing = Counter(made) - Counter(wanted), Counter(wanted) - Counter(made)
    others: Dict[Row, List[Row]] = {}
    for row in missing.elements():
        others.setdefault(_of(row, identity), []).append(row)
    for row in sorted(surplus.elements(), key=repr):
        same = others.get(_of(row, identity), [])
        if same:
            yield f"{_named(row, columns, identity)}: {_values(row, same.pop(), columns)}"
        else:
            yield f"{_named(row, columns, identity)} should not be: {_short(row)}"
    for rows in others.values():
        for row in rows:
            yield f"{_named(row, columns, identity)} is missing: {_short(row)}"


def _of(row: Row, places: Sequence[int]) -> Row:
    return tuple(row[place] for place in places)


def _named(row: Row, columns: Sequence[str], places: Sequence[int]) -> str:
    return ", ".join(f"{columns[place]} {row[place]!r}" for place in places)


def _values(made: Row, wanted: Row, columns: Sequence[str]) -> str:
    return "; ".join(
        f"{name} is {_short(one)}, should be {_short(other)}"
        for name, one, other in zip(columns, made, wanted)
        if one != other
    )


def _short(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(_short(each) for each in value)})"
    text = repr(value)
    return text if len(text) < 60 else f"{text[:40]}... ({len(value)})"
