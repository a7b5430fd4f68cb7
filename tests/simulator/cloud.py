"""A simulated EMR with a clock: what it was asked for, when each step ran.

Clusters take minutes to start, now and then hours, run their steps one after the
other, end when they are told to, when they are idle for an hour, or when they die.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from random import Random
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

START = datetime(2026, 1, 1, tzinfo=timezone.utc)
IDLE = timedelta(hours=1)
ENDING = timedelta(minutes=1)
ENDS = ["COMPLETED"] * 17 + ["FAILED", "CANCELLED", "INTERRUPTED"]


@dataclass
class Step:
    """One submission of a step, and when it ran."""

    id: str
    name: str
    created: datetime
    lasts: timedelta
    end: str
    args: Tuple[str, ...] = ()
    began: Optional[datetime] = None
    ended: Optional[datetime] = None
    state: str = "PENDING"
    is_deaf: bool = False
    is_cancelled: bool = False
    pends: timedelta = timedelta()

    @property
    def is_over(self) -> bool:
        return self.state not in ("PENDING", "RUNNING")

    def close(self, at: datetime, state: str) -> None:
        """It ends now, whatever it did."""
        self.ended, self.state = at, state


@dataclass
class Cluster:
    """One cluster and its steps."""

    id: str
    request: Dict[str, Any]
    created: datetime
    ready: datetime
    dies: Optional[datetime]
    steps: List[Step] = field(default_factory=list)
    told_to_end: Optional[datetime] = None
    ended: Optional[datetime] = None
    reason: str = ""
    is_twin: bool = False
    forgotten: int = 0
    """Requests to end it that EMR answered and did not carry out."""

    @property
    def tags(self) -> Dict[str, str]:
        return {each["Key"]: each["Value"] for each in self.request.get("Tags", ())}

    def has_ended(self, now: datetime) -> bool:
        """Whether it is gone at that moment."""
        return bool(self.ended and now >= self.ended)

    def state(self, now: datetime) -> str:
        """As EMR says it at that moment."""
        if self.has_ended(now):
            return "TERMINATED_WITH_ERRORS" if self.reason else "TERMINATED"
        if self.told_to_end:
            return "TERMINATING"
        if now < self.ready:
            return "STARTING"
        return "RUNNING" if any(not s.is_over for s in self.steps) else "WAITING"

    def move_to(self, now: datetime) -> Iterator[Step]:
        """Let happen what happens until then; the steps that completed."""
        if self.told_to_end or self.ended:
            return
        until = min(now, self.dies or now)
        free = self.ready
        for step in self.steps:
            if step.is_over:
                free = max(free, step.ended)
                continue
            begins = max(free, step.created + step.pends)
            if begins > until:
                break
            step.began, step.state = begins, "RUNNING"
            free = begins + step.lasts
            if free > until:
                break
            step.close(free, step.end)
            if step.end == "COMPLETED":
                yield step
        self._end_if_due(now, free)

    def _end_if_due(self, now: datetime, idle_since: datetime) -> None:
        if self.dies and self.dies <= now:
            self.end(self.dies, "instances were lost")
            self.ended = self.dies
        elif all(s.is_over for s in self.steps) and idle_since + IDLE <= now:
            self.end(idle_since + IDLE, "")

    def end(self, at: datetime, reason: str) -> None:
        """Told to end: its steps go with it."""
        self.told_to_end, self.ended, self.reason = at, at + ENDING, reason
        for step in self.steps:
            if not step.is_over:
                step.close(at, "CANCELLED")


class Cloud:
    """The account: its clusters, its clock, its chance."""

    def __init__(self, seed: int, completed: Callable[[Cluster, Step], None]) -> None:
        self.random, self.marks = Random(seed), Random(f"{seed}/marks")
        self.faults = Random(f"{seed}/faults")
        self.events: Counter = Counter()
        self.runs: List[Any] = []  # of DAGs, of all Airflows
        self.leases: List[Tuple[datetime, Dict[str, Any]]] = []
        self.reads_fail: Tuple[datetime, str] = (START, "")
        self.now = START
        self.clusters: Dict[str, Cluster] = {}
        self._completed = completed
        self._ids = 0

    def pass_time(self, seconds: float) -> None:
        """Let time go by, and what happens in it."""
        self.now += timedelta(seconds=seconds)
        for cluster in self.clusters.values():
            for step in cluster.move_to(self.now):
                self._completed(cluster, step)

    def happens(self, event: str, chance: float) -> bool:
        """Whether this event happens now; it is counted."""
        it_does = self.faults.random() < chance
        self.events[event] += it_does
        return it_does

    def new_id(self, prefix: str) -> str:
        self._ids += 1
        return f"{prefix}-{self._ids:06}"

    def add_cluster(self, request: Dict[str, Any]) -> Cluster:
        slow = self.random.random() < 0.03
        most = (3600, 7200) if slow else (180, 540)
        starting = timedelta(seconds=self.random.uniform(*most))
        dies = None
        if self.random.random() < 0.06:
            dies = self.now + timedelta(seconds=self.random.uniform(60, 3000))
        new = Cluster(self.new_id("j"), request, self.now, self.now + starting, dies)
        self.clusters[new.id] = new
        return new

    def add_step(self, cluster: Cluster, name: str, args: Sequence[str] = ()) -> Step:
        lasts = timedelta(seconds=self.random.uniform(20, 600))
        end = self.random.choice(ENDS)
        new = Step(self.new_id("s"), name, self.now, lasts, end, tuple(args))
        if self.happens("a step that ignores the interrupt", 0.01):
            new.is_deaf, new.lasts = True, timedelta(hours=30)
        if self.happens("a step that stays pending for long", 0.01):
            new.pends = timedelta(hours=self.faults.uniform(1, 4))
        cluster.steps.append(new)
        return new

    def living(self) -> List[Cluster]:
        """Those that cost money and are not on their way out."""
        return [c for c in self.clusters.values() if not c.told_to_end]
