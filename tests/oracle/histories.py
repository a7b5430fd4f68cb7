"""Random histories of change events, spread over landing files: all from a seed.

Every history has keys of its own (its number is the first part), so that any
number of them can share one table. History 17 of a seed is always the same one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any, Dict, List, Optional, Tuple

from lake_spec.model import TableSpec
from tests.oracle.oracle import DELETE, TRUNCATE, UNAVAILABLE, UPSERT, Delivery

LANDED = datetime(2026, 2, 1)
"""When every file landed."""

LOADS = ("load/part-9", "load/part-10", "load/more/part-1")
CHANGES = (
    "changes/cdc-9",
    "changes/cdc-10",
    "changes/cdc-010",
    "changes/2026/01/31/t-1",
    "changes/2026/1/4/t-100",
    "changes/again",
    "changes/resent-99",
    "changes/resent-100",
)
FULL_REFRESHED: Dict[str, Any] = {"seq": Decimal("10"), "ts": datetime(2026, 1, 3)}
"""Where the one full refresh of all histories started."""

TRUNCATED: Dict[str, List[Any]] = {
    "seq": [Decimal("-1"), Decimal("9")],
    "ts": [datetime(2026, 1, 1), datetime(2026, 1, 2)],
}
"""Early, so that much is left."""

NAN = float("nan")
DAY = datetime(2026, 1, 1)
TIMES = [DAY + timedelta(days=d) for d in range(5)] + [
    DAY + timedelta(microseconds=1),
    DAY + timedelta(microseconds=999_999),
    DAY + timedelta(days=9),
]
OF_ONE_NIGHT = [
    datetime(2025, 10, 25, 23, 10),
    datetime(2025, 10, 26, 0, 50),
    datetime(2025, 10, 26, 3, 30),
]
"""In UTC; clocks in Antarctica/Troll show the first two times again two hours later."""
POOLS: Dict[str, List[Any]] = {
    "timestamp": TIMES,
    "decimal(8,2)": [Decimal(t) for t in ("9", "10", "9.5", "9.50", "100", "-1")],
    "decimal(6,2)": [Decimal("1.5"), Decimal("1.50"), Decimal("2"), None],
    "double": [0.0, -0.0, NAN, 1.5, None],
    "string": ["x", "X", "x ", 'it\'s; 100%, "so"', "two\nlines", "NULL", None],
    "array<double>": [[], [0.0, 1.0], [-0.0, 1.0], [1.0, 0.0], [NAN], [None], None],
    "struct<names:array<string>,x:double>": [
        {"x": 0.0, "names": ["n"]},
        {"x": -0.0, "names": ["n"]},
        {"x": NAN, "names": []},
        {"x": None, "names": None},
        None,
    ],
    "struct<names:array<string>,at:struct<x:double,Label:string>>": [
        {"names": ["n"], "at": {"x": 0.0, "Label": "l"}},
        {"names": [], "at": {"x": NAN, "Label": None}},
        {"names": None, "at": None},
        None,
    ],
    "map<string,double>": [
        {},
        {"a": 1.0, "b": 0.0},
        {"b": -0.0, "a": 1.0},
        {"a": NAN},
        {"a": None},
        None,
    ],
    "array<struct<at:map<string,double>,flag:boolean>>": [
        [],
        [{"at": {"a": 1.0, "b": 0.0}, "flag": True}],
        [{"at": {"b": -0.0, "a": 1.0}, "flag": True}],
        [{"at": {"a": NAN}, "flag": None}],
        None,
    ],
}
ABSENT: Dict[str, List[Any]] = {
    "struct<names:array<string>,at:struct<x:double,Label:string>>": [
        {"names": ["m"], "at": UNAVAILABLE},
        {"names": None, "at": {"x": UNAVAILABLE, "Label": "k"}},
        {"names": UNAVAILABLE, "at": {"x": None, "Label": UNAVAILABLE}},
        {"names": UNAVAILABLE, "at": {"x": UNAVAILABLE, "Label": UNAVAILABLE}},
        {"names": UNAVAILABLE, "at": None},
    ],
}
"""Values by type of which a record says a part alone."""
KEY_TEXTS = ["a", "a|b", "b", "b|a", "a,b", "a:b", "a%7Cb", "%", "ab", "A"]
EARLY = [datetime(1500, 2, 28), datetime(1582, 10, 10), datetime(1969, 12, 31, 23)]


@dataclass(frozen=True)
class Features:
    """What histories may hold beyond what every table takes."""

    bad_rows: bool = False
    truncates: bool = False
    placeholders: bool = False
    full_refresh: bool = False
    shapes: bool = False
    moves: bool = False


FRESH = "fresh"
"""A text column that no spec declares; some files have it."""


@dataclass(frozen=True)
class Shape:
    """A file's columns in its order, and whether it spells names in capitals."""

    names: Tuple[str, ...]
    capitals: bool


def shape_of(spec: TableSpec, seed: int, path: str) -> Shape:
    """One of three shapes: without some columns, perhaps with a new one."""
    variant = Random(f"{seed}/{path}").randrange(3)
    random = Random(f"{seed}/shape {variant}")
    needed = {*spec.key, *spec.order_by}
    names = [n for n, _ in spec.columns if n not in spec.path_columns]
    names = [n for n in names if n in needed or random.random() < 0.75]
    names += [FRESH] if variant else []
    random.shuffle(names)
    return Shape(tuple(names), bool(variant))


def shaped(spec: TableSpec, record: Delivery, shape: Shape) -> Delivery:
    """What a file of that shape says: a dropped column is not sent, others are null.

    Where absent fields are unchanged, no column that the file lacks is sent.
    """
    dropped = {name for name, column in spec.columns if column.dropped}
    unsent = record.values if spec.keeps_absent else dropped
    lacking = {n: UNAVAILABLE if n in unsent else None for n in record.values}
    said = {*shape.names, *spec.path_columns}
    values = {n: v if n in said else lacking[n] for n, v in record.values.items()}
    return replace(record, values=values)


@dataclass(frozen=True)
class Landing:
    """What landed: the records of every file, in their order, and its shape if any."""

    files: Dict[str, List[Delivery]] = field(default_factory=dict)
    shapes: Dict[str, Shape] = field(default_factory=dict)

    def deliveries(self, *paths: str) -> List[Delivery]:
        """The records of these files, of all if none is named."""
        return [each for path in paths or self.files for each in self.files[path]]


def landing(
    spec: TableSpec, seed: int, numbers: List[int], features: Features = Features()
) -> Landing:
    """Histories of these numbers, in files that they share."""
    files: Dict[str, List[Delivery]] = {}
    for number in numbers:
        for each in _History(spec, seed, number, features).records():
            records = files.setdefault(each.path, [])
            values = {**each.values, **values_in_path(spec, each.path)}
            records.append(replace(each, record=len(records) + 1, values=values))
    if not features.shapes:
        return Landing(files)
    shapes = {path: shape_of(spec, seed, path) for path in files}
    return Landing(
        {p: [shaped(spec, e, shapes[p]) for e in each] for p, each in files.items()},
        shapes,
    )


def values_in_path(spec: TableSpec, path: str) -> Dict[str, str]:
    """What a path says of all records of its file."""
    patterns = spec.path_columns.items()
    return {n: re.findall(pattern, path)[0] for n, pattern in patterns}


class _History:
    """The events of a few keys."""

    def __init__(
        self, spec: TableSpec, seed: int, number: int, features: Features
    ) -> None:
        self.spec = spec
        self.random = Random(f"{seed}/{number}")
        self.features = features
        kinds = {name: column.type for name, column in spec.columns}
        texts = self.random.sample(KEY_TEXTS, 3)
        pools = {"int": [number], "string": texts, "double": [0.0, -0.0, NAN, 1.5]}
        self.keys = [
            tuple(self.random.choice(pools[kinds[name]]) for name in spec.key)
            for _ in range(self.random.randint(1, 4))
        ]
        self.pools = {
            name: self._pool(name, kind)
            for name, kind in kinds.items()
            if name not in {*spec.key, *spec.path_columns}
        }
        if features.shapes:
            self.pools[FRESH] = self.random.sample(["f", "g", None], 2)
            if features.placeholders and spec.keeps_absent:
                self.pools[FRESH].append(UNAVAILABLE)

    def _pool(self, name: str, kind: str) -> List[Any]:
        """Few values, so that many are equal."""
        pool = POOLS[kind]
        if kind == "timestamp" and self.spec.source.timezone != "UTC":
            pool = pool + OF_ONE_NIGHT
        if name == self.spec.effective_at:
            pool = pool + EARLY + [None]
        pool = self.random.sample(pool, self.random.randint(1, min(4, len(pool))))
        if not self.features.placeholders:
            return pool
        if self.spec.keeps_absent and name not in self.spec.order_by:
            return pool + ABSENT.get(kind, []) + [UNAVAILABLE] * 2
        return pool + ([UNAVAILABLE] if name == "note" else [])

    def records(self) -> List[Delivery]:
        """Its records; those of one file are in their order."""
        chosen = self.random.sample(CHANGES, self.random.randint(1, 4))
        events: List[Delivery] = []
        for _ in range(self.random.randint(0, 10)):
            event = self._repeated(events) or self._event()
            events.append(replace(event, path=self.random.choice(chosen)))
        records = self._loads() + events + self._copies(events)
        if self.features.truncates and self.random.random() < 0.01:
            records.append(self._truncate())
        if self.features.full_refresh and self.random.random() < 0.3:
            records += self._full_refresh()
        return records

    def _values(self) -> Dict[str, Any]:
        return {name: self.random.choice(pool) for name, pool in self.pools.items()}

    def _event(self) -> Delivery:
        values = self._values()
        op = DELETE if self.random.random() < 0.2 else UPSERT
        if op == DELETE and self.random.random() < 0.7:
            needed = (*self.spec.order_by, self.spec.effective_at)
            values = {n: v if n in needed else None for n, v in values.items()}
        event = Delivery(self.random.choice(self.keys), op, values, "", 0, LANDED)
        if self.features.moves and op == UPSERT and self.random.random() < 0.25:
            event = replace(event, moved_from=self._key_before(event.key))
        if self.features.bad_rows and self.random.random() < 0.03:
            return self._bad(event)
        return event

    def _key_before(self, key: Tuple) -> Tuple:
        """A key, often the same; what did not change is not always said."""
        return tuple(
            None if old == new and self.random.random() < 0.5 else old
            for old, new in zip(self.random.choice(self.keys), key)
        )

    def _bad(self, event: Delivery) -> Delivery:
        """Without a part of its key, without order, or in the future."""
        kind = self.random.randrange(3)
        first = self.spec.order_by[0]
        if kind == 0:
            return replace(event, key=(*event.key[:-1], None))
        if kind == 1:
            return replace(event, values={**event.values, first: None})
        name = self.spec.effective_at or "ts"
        late = LANDED + timedelta(days=1, microseconds=1)
        return replace(event, values={**event.values, name: late})

    def _repeated(self, events: List[Delivery]) -> Optional[Delivery]:
        if events and self.random.random() < 0.25:
            return self.random.choice(events)
        return None

    def _copies(self, events: List[Delivery]) -> List[Delivery]:
        """A file, whole or in part, again under another name."""
        if not events or self.random.random() < 0.6:
            return []
        original = self.random.choice(events).path
        copy = self.random.choice(CHANGES[-3:])
        share = self.random.choice([1.0, 1.0, 0.5])
        return [
            replace(each, path=copy)
            for each in events
            if each.path == original and self.random.random() < share
        ]

    def _loads(self) -> List[Delivery]:
        if self.random.random() < 0.3:
            return []
        return [
            self._load_row(key)
            for key in dict.fromkeys(self.keys)
            for _ in range(self.random.choice([0, 1, 1, 1, 2]))
        ]

    def _load_row(self, key: Tuple) -> Delivery:
        values = self._values()
        if self.spec.load_effective_at and self.random.random() < 0.3:
            values.update({name: None for name in self.spec.order_by})
        path = self.random.choice(LOADS)
        return Delivery(key, UPSERT, values, path, 0, LANDED, is_load=True)

    def _truncate(self) -> Delivery:
        order = self.spec.order_by
        values = {name: self.random.choice(TRUNCATED[name]) for name in order}
        path = self.random.choice(CHANGES)
        return Delivery(None, TRUNCATE, values, path, 0, LANDED)

    def _full_refresh(self) -> List[Delivery]:
        """Some of the keys again, as of one moment that all histories share."""
        start = tuple(FULL_REFRESHED[name] for name in self.spec.order_by)
        path = f"reload/{FULL_REFRESHED['ts']:%Y-%m-%d}_{FULL_REFRESHED['seq']}/part-1"
        return [
            replace(self._load_row(key), path=path, full_refresh_at=start)
            for key in dict.fromkeys(self.keys)
            if self.random.random() < 0.7
        ]
