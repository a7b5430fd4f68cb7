"""Keys that the rows of files do not disprove: columns whose values together differ."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from lake_local.onboard import personal
from lake_local.onboard.naming import lake_name

MOST_CELLS = 20_000_000
"""Values that are kept, of eight bytes each; keys are judged by the rows until then."""

MOST_COLUMNS = 12
"""Columns that are tried in pairs and triples, the likeliest."""

SAMPLE = 2_000
"""Rows of each file that must differ before all of them are compared."""

_NULL = -(2**63)
_IDS = re.compile(
    r"(^|_)(ids?|uuid|guid|key|code|nr|no|num|number|sku|isbn|ean|fips|iso\d*|slug|symbol"
    r"|ref|reference|index)$"
)
_PERIODS = re.compile(r"(^|_)(year|month|week|day|date|quarter|period|time|hour)(_|$)")
_MEASURES = re.compile(
    r"(^|_)(amount|price|total|sum|count|qty|quantity|pop|population|value|score|rate|share"
    r"|percent|pct|avg|mean|min|max|salary|revenue|sales|cost|costs|fee|weight|height|length"
    r"|width|depth|mass|area|size|age|lat|lon|lng|latitude|longitude|temp|temperature|balance"
    r"|umsatz|betrag|preis|menge|anzahl|kosten|gewicht|alter)(_|$)"
)
_NAMES_OF_THINGS = re.compile(r"(^|_)names?$")
_KINDS = {"string": 1, "date": 2, "timestamp": 2, "bigint": 3}
_SINGLE = frozenset((*_KINDS, "decimal", "boolean"))
MOST_TRIED = 1_000_000
"""Values of the columns that together are a key, so that fewer of them are tried."""
_LAST = 6
"""The rank of what names a person: a key is anything else before it."""


@dataclass(frozen=True)
class Nearest:
    """Columns that come nearest to a key, and how many rows share their values."""

    columns: Tuple[str, ...]
    sharing: int
    rows: int


class KeyRows:
    """The values of rows, as numbers: equal values have equal ones, in each file."""

    def __init__(self) -> None:
        self.files: List[Dict[str, array[int]]] = []
        self.rows = 0
        self._cells = 0

    @property
    def is_full(self) -> bool:
        """Whether no more rows are kept."""
        return self._cells >= MOST_CELLS

    def begin(self) -> None:
        """Begin a file: keys need not differ from those of other files."""
        self.files.append({})

    def add(self, record: Mapping[str, Any]) -> None:
        """Take a row in account."""
        if self.is_full:
            return
        file = self.files[-1]
        before = max(map(len, file.values()), default=0)
        for name, value in record.items():
            column = file.get(name)
            if column is None:
                column = file[name] = array("q", [_NULL] * before)
            is_none = value is None or value == "" or isinstance(value, (list, dict))
            column.append(_NULL if is_none else hash(value))
        for column in file.values():
            if len(column) == before:
                column.append(_NULL)
        self.rows += 1
        self._cells += len(file)

    def differ(self, names: Sequence[str]) -> bool:
        """Return whether no two rows of a file share these values, and none is missing."""
        return all(
            _all_differ(file, names, most)
            for most in (SAMPLE, None)
            for file in self.files
        )

    def different(self, names: Sequence[str]) -> int:
        """Count the values that differ in the first rows of each file."""
        return sum(len(set(_values(file, names, SAMPLE))) for file in self.files)

    def sharing(self, names: Sequence[str]) -> int:
        """Count the rows whose values another row has too, or that lack one."""
        total = 0
        for file in self.files:
            counts = Counter(_values(file, names, None))
            total += sum(n for row, n in counts.items() if n > 1 or _NULL in row)
        return total


def _values(
    file: Mapping[str, array[int]], names: Sequence[str], most: Optional[int]
) -> Iterator[Tuple[int, ...]]:
    if not file:
        return iter(())
    if any(name not in file for name in names):
        size = len(next(iter(file.values())))
        return iter([(_NULL,)] * min(size, most or size))
    return zip(*(file[name][:most] for name in names))


def _all_differ(
    file: Mapping[str, array[int]], names: Sequence[str], most: Optional[int]
) -> bool:
    seen = set()
    for row in _values(file, names, most):
        if row in seen or _NULL in row:
            return False
        seen.add(row)
    return True


def key_among(
    rows: KeyRows, types: Mapping[str, str], named: Sequence[str]
) -> "Tuple[str, ...] | Nearest":
    """Return the likeliest columns that tell all rows apart, else the nearest ones.

    Args:
        types: columns and their types in the spec.
        named: the columns that the name of the table makes its key.
    """
    ranks = {
        name: 0 if name in named else _rank(name, kind) for name, kind in types.items()
    }
    likely = sorted((n for n in ranks if ranks[n] >= 0), key=lambda name: ranks[name])
    tried = [
        each
        for size in (1, 2, 3)
        for each in combinations(likely if size == 1 else likely[:MOST_COLUMNS], size)
    ]
    # A further column costs more than a worse name does.
    tried.sort(key=lambda each: sum(ranks[n] for n in each) + 2 * (len(each) - 1))
    for names in tried:
        if rows.differ(names):
            return names
    singles = [n for n, kind in types.items() if kind.split("(")[0] in _SINGLE]
    for candidates in (likely, singles):
        if rows.differ(candidates):
            return _fewest(rows, candidates)
    nearest = max(tried, key=rows.different, default=())
    return Nearest(nearest, rows.sharing(nearest), rows.rows)


def _fewest(rows: KeyRows, names: Sequence[str]) -> Tuple[str, ...]:
    """Return those of the columns without which rows share values; all, of many rows."""
    kept = list(names)
    if rows.rows * len(kept) <= MOST_TRIED:
        for name in reversed(names):
            fewer = [each for each in kept if each != name]
            kept = fewer if rows.differ(fewer) else kept
    return tuple(kept)


def is_measure(name: str) -> bool:
    """Return whether the name of a column is that of a measure."""
    return bool(_MEASURES.search(lake_name(name)))


def _rank(name: str, kind: str) -> int:
    """Return how unlikely a column is part of a key; below 0 where it is none."""
    made = lake_name(name)
    if kind not in _KINDS or is_measure(name):
        return -1
    if personal.by_name(name) or _NAMES_OF_THINGS.search(made):
        return _LAST
    if _IDS.search(made):
        return 0
    return 1 if _PERIODS.search(made) else _KINDS[kind]
