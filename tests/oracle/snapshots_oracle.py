"""What snapshots that come again mean: change events for the oracle of the tables.

Written from docs/contract.md (sections 4 and 9) in plain Python, never from the code.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Set, Tuple

from tests.oracle import oracle
from tests.oracle.oracle import DELETE, UPSERT, Settings, Delivery, position, same

AT, SINCE = "snapshot time", "effective time"
MIN_KEYS = 10  # with fewer known the lost share is not judged, but the loss of all is
LATE = "late"
Rows = Dict[Any, Delivery]


@dataclass(frozen=True)
class SourceSnapshot:
    """All rows of one snapshot; `covers` holds the scope that its path names."""

    at: datetime
    rows: Tuple[Delivery, ...]
    covers: Tuple[Optional[str], ...] = (None,)


@dataclass(frozen=True)
class Source:
    """What a snapshot table says of itself, next to what every table says."""

    table: Settings
    scope: Optional[str] = None  # a column
    missing_keys: str = "delete"
    lost_share: float = 0.5
    may_be_empty: bool = False

    @property
    def of_rows(self) -> Settings:
        """What rows are accepted by: without effective_at the snapshot's time counts."""
        return replace(self.table, order_by=(AT,), first_time=AT)

    @property
    def of_events(self) -> Settings:
        """What the events of `Story` are folded by: they bring their own times."""
        untracked = (*self.table.ignore, self.table.effective_at)
        return replace(self.of_rows, effective_at=SINCE, ignore=untracked)


class Story:
    """Snapshots in the order in which they are taken, and what they say of each key."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.first: Optional[datetime] = None
        self.last: Dict[Any, datetime] = {}
        self.living: Dict[Any, Rows] = {}
        self.since: Dict[Tuple, Any] = {}
        self.events: List[Delivery] = []

    def take(self, snapshot: SourceSnapshot) -> Optional[str]:
        """Take what it says of each scope value; why not, where it is refused."""
        at, is_load = snapshot.at, snapshot.at <= (self.first or snapshot.at)
        rows = [replace(row, is_load=is_load) for row in snapshot.rows]
        unsure = self._unsure(rows, at)
        good = [row for row in rows if self._is_good(row, at)]
        good = [row for row in good if self._about(row) not in unsure]
        covers = set(snapshot.covers) or {self._scope(row) for row in good}
        if not covers:
            return "empty"
        if self.is_late(at, covers):
            return LATE
        if not snapshot.rows and not self.source.may_be_empty:
            return "empty"
        has: Dict[Any, Rows] = {scope: {} for scope in covers}
        for row in sorted(good, key=position):
            has[self._scope(row)][same(row.key)] = row
        taken = {row.record for row in good}
        held = self._held(row for row in rows if row.record not in taken)
        gone = {scope: self._gone(scope, has[scope], held) for scope in covers}
        loses = any(self._loses_too_much(scope, gone[scope]) for scope in covers)
        if snapshot.rows and loses:
            return "losses"
        self.first = self.first or at
        for each in covers:
            self._tell(at, each, has[each], gone[each])

    def is_late(self, at: datetime, covers: Iterable[Optional[str]]) -> bool:
        """Whether one that is not older was taken, of one of the scope values."""
        return any(at <= self.last.get(scope, datetime.min) for scope in covers)

    def _is_good(self, row: Delivery, at: datetime) -> bool:
        timed = replace(row, values={**row.values, AT: at})
        has_scope = self._scope(row, missing="") is not None
        return has_scope and oracle.accepted(timed, self.source.of_rows)

    def _unsure(self, rows: Iterable[Delivery], at: datetime) -> Set[Tuple]:
        """Which keys have several rows that differ: none of these is taken."""
        told: Dict[Tuple, Set[Tuple]] = {}
        for row in rows:
            if None not in row.key and self._scope(row, missing="") is not None:
                says = self._is_good(row, at), same(row.values)
                told.setdefault(self._about(row), set()).add(says)
        return {about for about, said in told.items() if len(said) > 1}

    def _about(self, row: Delivery) -> Tuple:
        return self._scope(row), same(row.key)

    def _scope(self, row: Delivery, missing: Any = None) -> Any:
        return row.values[self.source.scope] if self.source.scope else missing

    def _held(self, bad: Iterable[Delivery]) -> Optional[Set]:
        """Keys of quarantined rows; none where one cannot be read: hold every key."""
        keys = [row.key for row in bad]
        return None if any(None in key for key in keys) else {same(k) for k in keys}

    def _gone(self, scope: Any, has: Mapping, held: Optional[Set]) -> List[Any]:
        there = self.living.get(scope, {}) if held is not None else ()
        return [key for key in there if key not in has and key not in held]

    def _loses_too_much(self, scope: Any, gone: List[Any]) -> bool:
        known = len(self.living.get(scope, {}))
        too_much = len(gone) > self.source.lost_share * known
        is_judged = known >= MIN_KEYS or len(gone) == known
        return too_much and is_judged and self.source.missing_keys == "delete"

    def _tell(self, at: datetime, scope: Any, has: Rows, gone: List[Any]) -> None:
        there = self.living.setdefault(scope, {})
        for key, row in has.items():
            if key not in there or same(there[key].values) != same(row.values):
                times = {AT: at, SINCE: self._valid_from(row, scope, at)}
                self.events.append(replace(row, values={**row.values, **times}))
                self.since[scope, key] = row.values.get(self.source.table.effective_at)
            there[key] = row
        for key in gone if self.source.missing_keys == "delete" else ():
            row = there.pop(key)
            values = {AT: at, SINCE: at, self.source.scope: scope}
            ended = replace(row, op=DELETE, values=values, record=-1, is_load=False)
            self.events.append(ended)
        self.last[scope] = at

    def _valid_from(self, row: Delivery, scope: Any, at: datetime) -> datetime:
        declared = row.values.get(self.source.table.effective_at)
        seen = self.since.get((scope, same(row.key)))
        if declared is None or (seen is not None and declared <= seen):
            return at
        return max(declared, self.last.get(scope, datetime.min))


def of_keys(events: Iterable[Delivery], scope: Optional[str]) -> Iterator[Delivery]:
    """What the scopes' stories mean together: a key lives while one of them has it."""

    def order(event: Delivery) -> Tuple:
        at = event.values[AT]
        return not event.is_load, at, event.op == DELETE, position(event)

    lines: Dict[Any, List[Delivery]] = {}
    for each in sorted(events, key=order):
        lines.setdefault(same(each.key), []).append(each)
    for line in lines.values():
        has: Rows = {}  # by scope; the row that came last is the last one
        for each in line:
            stood = next(reversed(has.values()), None)
            has.pop(each.values.get(scope), None)
            if each.op == UPSERT:
                has[each.values.get(scope)] = each
                yield each
                continue
            stands = next(reversed(has.values()), None)
            if stands is None:
                yield each
            elif stands is not stood:
                times = {name: each.values[name] for name in (AT, SINCE)}
                yield replace(each, op=UPSERT, values={**stands.values, **times})
