"""What both tables must be, from the deliveries alone: the contract in plain Python.

Written from docs/contract.md (sections 2, 3 and 7), never from the code: where
the two differ, one of them is wrong. Slow on purpose, so that it can be read.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import accumulate, groupby
from typing import Any, Dict, Iterable, List, Mapping, Optional, Set, Tuple

UPSERT, DELETE, TRUNCATE = "upsert", "delete", "truncate"
UNAVAILABLE = "__debezium_unavailable_value"
"""For a value that the source did not send: its word for one, or a field that is absent."""


@dataclass(frozen=True)
class Settings:
    """What a table says of itself, as far as it changes rows."""

    columns: Tuple[str, ...]  # all but the key
    order_by: Tuple[str, ...] = ("ts",)
    first_time: Optional[str] = "ts"  # the first timestamp of order_by
    effective_at: Optional[str] = None
    load_effective_at: Optional[datetime] = None
    future_dates: bool = False
    track: Tuple[str, ...] = ()
    ignore: Tuple[str, ...] = ()
    deletes: str = "close"  # or marker
    current: str = "hard"  # or soft
    open_end: Optional[datetime] = None
    missing_keys: str = "delete"  # or ignore: what a full refresh lacks
    doubled: Optional[Tuple[datetime, datetime]] = None  # what its clock showed twice

    @property
    def tracked(self) -> Tuple[str, ...]:
        """The columns whose change opens a version."""
        if self.track:
            return self.track
        left_out = {*self.order_by, self.effective_at, *self.ignore}
        return tuple(name for name in self.columns if name not in left_out)


@dataclass(frozen=True)
class Delivery:
    """One record of one landing file; `full_refresh_at` is where its full refresh started."""

    key: Optional[Tuple]  # none for a truncate
    op: str
    values: Mapping[str, Any]
    path: str
    record: int
    landed: datetime
    is_load: bool = False
    full_refresh_at: Optional[Tuple] = None
    moved_from: Optional[Tuple] = None
    """The key before the update, as far as it is said."""


@dataclass(frozen=True)
class Row:
    """A row of current (valid_from is none) or of history."""

    key: Tuple
    values: Mapping[str, Any]
    valid_from: Optional[datetime] = None
    valid_to: Optional[datetime] = None
    is_current: bool = True
    is_deleted: bool = False


def same(value: Any) -> Any:
    """Equal for values that are equal: by type and structure, 0.0 = -0.0, NaN = NaN."""
    if isinstance(value, float):
        return "NaN" if value != value else value + 0.0
    if isinstance(value, Mapping):
        return frozenset((name, same(each)) for name, each in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(same(each) for each in value)
    return value


def position(event: Delivery) -> Tuple:
    """Where it stands: digits of the path as numbers, then the record."""
    parts = [
        (ord("0"), int(part)) if part.isdigit() else (ord(part), 0)
        for part in re.findall(r"[0-9]+|[^0-9]", event.path)
    ]
    return parts, event.path, event.record


def stands(event: Delivery, settings: Settings) -> Tuple:
    """The total order: the first load lowest, then order_by, then the position."""
    order = event.full_refresh_at or [
        event.values.get(name) for name in settings.order_by
    ]
    first_load = event.is_load and event.full_refresh_at is None
    typed = [(value is not None, _place(value, settings)) for value in order]
    return not first_load, typed, position(event)


def _place(value: Any, settings: Settings) -> Any:
    """All times are one of an hour that the clock shows twice: who knows of which pass."""
    if not (isinstance(value, datetime) and settings.doubled):
        return value
    begin, until = settings.doubled
    return begin if begin <= value < until else value


def declared_time(event: Delivery, settings: Settings) -> Optional[datetime]:
    """Its effective time before the order is known."""
    first_load = event.is_load and event.full_refresh_at is None
    if first_load and settings.load_effective_at is not None:
        return settings.load_effective_at
    time = event.values.get(settings.effective_at)
    time = None if time == UNAVAILABLE else time
    start = dict(zip(settings.order_by, event.full_refresh_at or ()))
    ordered = [each.get(settings.first_time) for each in (event.values, start)]
    earliest = min((each for each in ordered if each is not None), default=None)
    return time if time is not None else earliest


def accepted(event: Delivery, settings: Settings) -> bool:
    """Whether it enters the change log; the others go to the quarantine."""
    if event.op != TRUNCATE and any(part is None for part in event.key):
        return False
    order = [event.values.get(name) for name in settings.order_by]
    time = declared_time(event, settings)
    if time is None or (not event.is_load and None in order):
        return False
    too_late = time > event.landed + timedelta(days=1) and not settings.future_dates
    return not too_late and (settings.open_end is None or time < settings.open_end)


def as_events(event: Delivery, settings: Settings) -> List[Delivery]:
    """The event; of an update with another key before, also the delete of that key."""
    said = event.moved_from or event.key or ()
    old = tuple(
        new if part is None else part for part, new in zip(said, event.key or ())
    )
    if event.op != UPSERT or same(old) == same(event.key):
        return [replace(event, moved_from=None)]
    kept = {*settings.order_by, settings.effective_at}
    values = {name: v if name in kept else None for name, v in event.values.items()}
    gone = replace(event, key=old, op=DELETE, values=values, moved_from=None)
    return [replace(event, moved_from=old), gone]


def distinct(deliveries: Iterable[Delivery], settings: Settings) -> List[Delivery]:
    """The events: each at the smallest position at which it was seen."""
    seen: Counter = Counter()
    events: Dict[Tuple, Delivery] = {}
    for each in sorted(deliveries, key=position):
        time = declared_time(each, settings)
        what = (same(each.key), each.op, each.is_load, each.full_refresh_at, time)
        what += (same(each.values),)
        seen[each.path, what] += 1
        events.setdefault((what, seen[each.path, what]), each)
    return list(events.values())


def deletes_of_all(
    events: List[Delivery], settings: Settings
) -> List[Tuple[Delivery, Set]]:
    """Deletes of every key but some: truncates, and what each full refresh lacks."""
    found: List[Tuple[Delivery, Set]] = [
        (replace(each, op=DELETE), set()) for each in events if each.op == TRUNCATE
    ]
    full_refresh = {
        e.full_refresh_at: e for e in reversed(events) if e.full_refresh_at is not None
    }
    for start, first in (
        full_refresh.items() if settings.missing_keys == "delete" else ()
    ):
        has = {same(each.key) for each in events if each.full_refresh_at == start}
        at_start = dict(zip(settings.order_by, start))
        found.append((replace(first, op=DELETE, values=at_start, is_load=False), has))
    return found


def lines_of(events: List[Delivery], settings: Settings) -> List[List[Delivery]]:
    """Every key's events in their order, with the deletes that meant every key."""
    lines: Dict[Any, List[Delivery]] = {}
    for each in events:
        if each.op != TRUNCATE:
            lines.setdefault(same(each.key), []).append(each)
    wide = deletes_of_all(events, settings)
    for key, line in lines.items():
        first = min(stands(each, settings) for each in line)
        name = line[0].key
        line += [
            replace(each, key=name)
            for each, spared in wide
            if key not in spared and stands(each, settings) > first
        ]
        line.sort(key=lambda each: stands(each, settings))
    return filled(list(lines.values()), settings)


def filled(lines: List[List[Delivery]], settings: Settings) -> List[List[Delivery]]:
    """The lines with each placeholder replaced by the value before it.

    A life is what is between two deletes of a key. The first upsert of one goes on with
    the values of the key that its row had before: of its life, or of the one just ended.
    """
    living: Dict[Any, Mapping[str, Any]] = {}
    ended: Dict[Any, Mapping[str, Any]] = {}
    result: List[List[Delivery]] = [[] for _ in lines]
    every = [(each, place) for place, line in enumerate(lines) for each in line]
    # The update that ended the old key's life is looked at before that end.
    every.sort(key=lambda x: (stands(x[0], settings), x[0].op == DELETE))
    for each, place in every:
        key, old = same(each.key), same(each.moved_from)
        if each.op == DELETE:
            ended[key] = living.pop(key, {})
            result[place].append(each)
            continue
        before = living.get(key)
        if before is None:
            before = living.get(old, ended.get(old, {})) if old else {}
        values = {n: resolved(v, before.get(n)) for n, v in each.values.items()}
        living[key] = values
        result[place].append(replace(each, values=values))
    return result


def resolved(value: Any, before: Any) -> Any:
    """The value with what was not sent of it, whole or by its parts, from the one before."""
    if says_nothing(value):
        return before
    if not isinstance(value, Mapping):
        return value
    known = before if isinstance(before, Mapping) else {}
    return {name: resolved(each, known.get(name)) for name, each in value.items()}


def says_nothing(value: Any) -> bool:
    """Whether the value, or each part of a struct, was not sent."""
    if isinstance(value, Mapping):
        return bool(value) and all(map(says_nothing, value.values()))
    return value == UNAVAILABLE


def effective_times(line: List[Delivery], settings: Settings) -> List[datetime]:
    """Loads lowered from the end, then every event raised from the start."""
    times = [declared_time(each, settings) for each in line]
    for i in reversed(range(len(line) - 1)):
        if line[i].is_load:
            times[i] = min(times[i], times[i + 1])
    return list(accumulate(times, max))


def versions(line: List[Delivery], settings: Settings) -> List[Row]:
    """The history rows of one key."""

    def state(timed: Tuple[Delivery, datetime]) -> Any:
        values = timed[0].values
        shown = same([values.get(name) for name in settings.tracked])
        return None if timed[0].op == DELETE else shown

    times = effective_times(line, settings)
    lasts = [a != b for a, b in zip(times, times[1:] + [None])]
    # A delete before any upsert deletes nothing: it leaves no marker.
    there = list(accumulate((each.op == UPSERT for each in line), max))
    counted = [x for x in zip(line, times, lasts, there) if x[2] and x[3]]
    runs = [list(run) for _, run in groupby([x[:2] for x in counted], state)]
    ends = [run[0][1] for run in runs[1:]] + [settings.open_end]
    rows = []
    for run, end in zip(runs, ends):
        deleted, is_last = run[-1][0].op == DELETE, run is runs[-1]
        if not deleted or settings.deletes == "tombstone":
            shown = shown_row(run[-1][0], settings)
            current = is_last and not deleted
            times = {"valid_from": run[0][1], "valid_to": end}
            rows.append(replace(shown, **times, is_current=current))
    return rows


def shown_row(event: Delivery, settings: Settings) -> Row:
    """Its values, or those of a deleted row: null but the key."""
    deleted = event.op == DELETE
    values = {n: None if deleted else event.values.get(n) for n in settings.columns}
    return Row(event.key, values, is_current=not deleted, is_deleted=deleted)


def living(line: List[Delivery], settings: Settings) -> List[Row]:
    """The current row of one key, if there is one."""
    had_upsert = any(each.op == UPSERT for each in line)
    if line[-1].op == UPSERT or (had_upsert and settings.current == "soft"):
        return [shown_row(line[-1], settings)]
    return []


def tables(
    deliveries: Iterable[Delivery], settings: Settings
) -> Tuple[List[Row], List[Row]]:
    """The current table and the history table."""
    good = (each for each in deliveries if accepted(each, settings))
    events = distinct((e for each in good for e in as_events(each, settings)), settings)
    lines = lines_of(events, settings)
    current = [row for line in lines for row in living(line, settings)]
    return current, [row for line in lines for row in versions(line, settings)]
