"""The clusters that an environment may have at once: who has one, and who waits for one.

Both stand in one object on S3, `<runs>/cluster_slots.json`, that every write changes under
the condition that it is as it was read. A run has a slot for GRACE after it was granted, and
then as long as EMR lists a cluster of it: what ended without its task frees its slot. So do
clusters count that have none, as those from before there was a limit.

The run that has waited longest comes first. Each look of a run that waits is noted, and one
that has not looked for GRACE is passed over: its DAG is paused, or it was deleted.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from functools import cached_property
from typing import Any

from lake_airflow.runs.s3_object import S3Object
from lake_spec.model import EnvironmentSpec
from lake_spec.state.state_format import FORMAT, UnreadableState, parse_state

GRACE = timedelta(minutes=20)
"""Longest time from a grant of a run, of its lease or its slot, to a cluster that EMR
lists."""

_ATTEMPTS, _PAUSE = 8, 0.5
"""Writes when others write too, and seconds by which the pauses before them grow."""
_SHOWN = 10  # runs in a sentence
_WAIT = ("since", "looked")  # times of a run that waits

log = logging.getLogger(__name__)


@dataclass
class _Slots:
    """The content of the object: times in ISO 8601, by the names of runs."""

    granted: dict[str, str] = field(default_factory=dict)
    waiting: dict[str, dict[str, str]] = field(default_factory=dict)
    """Of each run `since` when it waits, and when it last `looked`."""
    more: dict[str, Any] = field(default_factory=dict)

    def to_data(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        ours = {FORMAT: 1, "granted": self.granted, "waiting": self.waiting}
        return {**self.more, **ours}

    def queue(self, run: str, now: datetime) -> list[str]:
        """Note a look of a run; return those that come before it, the first one first."""
        looks = {"since": now.isoformat(), **self.waiting.get(run, {})}
        self.waiting[run] = {**looks, "looked": now.isoformat()}
        self.waiting = {
            name: each
            for name, each in self.waiting.items()
            if _age(each["looked"], now) < GRACE
        }
        order = sorted(
            self.waiting, key=lambda name: (self.waiting[name]["since"], name)
        )
        return order[: order.index(run)]

    def holders(self, living: Sequence[str], now: datetime) -> list[str]:
        """Drop grants of which nothing came; return of whom a cluster lives, or may come."""
        self.granted = {
            run: since
            for run, since in self.granted.items()
            if run in living or _age(since, now) < GRACE
        }
        return [*living, *(run for run in self.granted if run not in living)]

    def grant(self, run: str, now: datetime) -> None:
        """Give the run a slot, or keep it."""
        self.granted[run] = now.isoformat()
        self.waiting.pop(run, None)


class ClusterSlots:
    """The slots of one environment; without `clusters_at_once` each run has one."""

    def __init__(
        self, environment: EnvironmentSpec, *, aws_conn_id: str | None
    ) -> None:
        self.environment = environment
        self.aws_conn_id = aws_conn_id
        self.address = f"{environment.runs.rstrip('/')}/cluster_slots.json"

    @cached_property
    def _object(self) -> S3Object:
        region = self.environment.region
        return S3Object(self.address, region=region, aws_conn_id=self.aws_conn_id)

    def take(self, run: str, living: Callable[[], Sequence[str]]) -> str:
        """Take a slot; return "" where the run has one, else what it waits for.

        `living` lists for each cluster of the environment that is not gone the name of its
        run. It is asked only where the answer may be a slot, as EMR counts these calls.
        """
        if (limit := self.environment.clusters_at_once) is None:
            return ""
        for attempt in range(_ATTEMPTS):
            time.sleep(random.uniform(0, attempt * _PAUSE))
            slots, etag = self._read()
            waits_for = _turn(slots, run, limit, living)
            if self._object.write(slots.to_data(), etag):
                return waits_for
        return f"Other runs wrote {self.address} at the same time."

    def give_back(self, run: str) -> None:
        """Give back the run's slot, and its place among those that wait."""
        if self.environment.clusters_at_once is None:
            return
        for attempt in range(_ATTEMPTS):
            time.sleep(random.uniform(0, attempt * _PAUSE))
            slots, etag = self._read()
            had = [slots.granted.pop(run, None), slots.waiting.pop(run, None)]
            if not any(had) or self._object.write(slots.to_data(), etag):
                return
        log.info("%s: the slot of %s frees itself.", self.address, run)

    def _read(self) -> tuple[_Slots, str | None]:
        """Return the content and its ETag, if there is one."""
        content, etag = self._object.read()
        what = f"the object of the cluster slots of {self.environment.name}"
        data = parse_state(content or "{}", what=what, where=self.address)
        slots = _Slots(data.pop("granted", {}), data.pop("waiting", {}), data)
        now = datetime.now(timezone.utc)
        try:
            waits = [each[at] for each in slots.waiting.values() for at in _WAIT]
            for at in (*slots.granted.values(), *waits):
                _age(at, now)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise UnreadableState(
                f"{what} cannot be read: {error!r}. Location: {self.address}. Delete the "
                "object: what lives EMR lists itself."
            ) from None
        return slots, etag


def _turn(
    slots: _Slots, run: str, limit: int, living: Callable[[], Sequence[str]]
) -> str:
    """Grant the run a slot where one is free and it is its turn, else say why not."""
    now = datetime.now(timezone.utc)
    if run in slots.granted:
        slots.grant(run, now)
        return "The run's cluster of before is there." if run in living() else ""
    before, holders = slots.queue(run, now), list(slots.granted)
    # Who has waited longest looks also where all have been granted: one may be over.
    if not before or len(holders) + len(before) < limit:
        holders = slots.holders(living(), now)
        if len(holders) + len(before) < limit:
            slots.grant(run, now)
            return ""
    first = f" {_named(before)} waited longer." if before else ""
    return (
        f"{len(holders)} of {limit} clusters (clusters_at_once) are taken, by "
        f"{_named(holders)}.{first}"
    )


def _age(at: str, now: datetime) -> timedelta:
    return now - datetime.fromisoformat(at)


def _named(runs: Sequence[str]) -> str:
    more = f" and {len(runs) - _SHOWN} more" if len(runs) > _SHOWN else ""
    return ", ".join(runs[:_SHOWN]) + more
