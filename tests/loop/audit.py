"""What a source itself remembers of every change, by triggers, and the history of that.

Nothing here knows the lake: versions are folded from the audit as contract.md
sections 2 and 3 say, one key after the other.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

Key = Tuple[Any, ...]
Values = Dict[str, Any]
UPSERT, DELETE, TRUNCATE = "u", "d", "t"


@dataclass(frozen=True)
class Change:
    """One row as it is after a change, or the key of one that is gone."""

    number: int
    """Grows with the changes of a key: each waits for the one before to be committed."""
    time: datetime
    what: str
    key: Key
    values: Values


@dataclass(frozen=True)
class Version:
    """The values of a key from a time on, until another."""

    since: datetime
    until: Optional[datetime]
    values: Values


def versions(
    changes: Iterable[Change], load_number: int, load_time: datetime
) -> Dict[Key, List[Version]]:
    """The versions of each key.

    What stands at the change of that number is what the capture began with: it is
    valid since `load_time`, and of what was before nothing is known.
    """
    events: Dict[Key, List[Change]] = defaultdict(list)
    truncates: List[Change] = []
    for change in sorted(changes, key=lambda each: each.number):
        if change.what == TRUNCATE:
            truncates.append(change)
        else:
            events[change.key].append(change)
    found = {}
    for key, own in events.items():
        of_key = sorted(own + truncates, key=lambda each: each.number)
        made = _folded(_since_load(of_key, load_number, load_time))
        if made:
            found[key] = made
    return found


def from_timestamp(known: Iterable[Version], timestamp: Any) -> List[Version]:
    """What versions of a key say of the time from a moment on, as few as can be."""
    found: List[Version] = []
    for each in sorted(known, key=lambda version: version.since):
        if each.until is not None and each.until <= timestamp:
            continue
        since = max(each.since, timestamp)
        last = found[-1] if found else None
        if last and last.until == since and last.values == each.values:
            found[-1] = Version(last.since, each.until, each.values)
        else:
            found.append(Version(since, each.until, each.values))
    return found


def _since_load(
    changes: Sequence[Change], load_number: int, load_time: datetime
) -> Iterator[Tuple[datetime, Optional[Values]]]:
    """Times and values, None for no row, with what was loaded as the first of them."""
    loaded = [each for each in changes if each.number <= load_number]
    if loaded and loaded[-1].what == UPSERT:
        yield load_time, loaded[-1].values
    for each in changes[len(loaded) :]:
        yield each.time, each.values if each.what == UPSERT else None


def _folded(states: Iterable[Tuple[datetime, Optional[Values]]]) -> List[Version]:
    """Of one time the last state counts; equal neighbours are one version."""
    at_times: List[Tuple[datetime, Optional[Values]]] = []
    for time, values in states:
        if at_times and time <= at_times[-1][0]:  # time never goes back
            at_times[-1] = (at_times[-1][0], values)
        else:
            at_times.append((time, values))
    steps: List[Tuple[datetime, Optional[Values]]] = []
    for time, values in at_times:
        if not steps or values != steps[-1][1]:
            steps.append((time, values))
    ends = [time for time, _ in steps[1:]] + [None]
    return [
        Version(since, until, values)
        for (since, values), until in zip(steps, ends)
        if values is not None
    ]
