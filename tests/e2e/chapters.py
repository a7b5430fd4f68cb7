"""What the chapters of the end-to-end story leave for the tests to read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Set, Tuple

from tests.e2e.command_line import Done
from tests.e2e.lake import Figures, Run


@dataclass(frozen=True)
class Chapter:
    """A run, and the figures of the museum's tables after it."""

    run: Run
    figures: Dict[str, Figures]


@dataclass(frozen=True)
class Refused:
    """Runs that were refused, and the clusters that there were afterwards."""

    dag: Done
    table: Done
    window: Done
    clusters: List[Any]


@dataclass(frozen=True)
class Queued:
    """Two runs of one domain asked for at once, and `status` meanwhile."""

    load: Run
    status: Done
    compare: Run


@dataclass(frozen=True)
class Marked:
    """A run that was marked as failed: its cluster, its tasks, its own state."""

    cluster: Dict[str, Any]
    tasks: Dict[str, str]
    state: str


@dataclass(frozen=True)
class Reaped:
    """The reaper's run and the states of two clusters after it."""

    done: Done
    left: str
    other: str


@dataclass(frozen=True)
class Backfilled:
    """A plan, a scheduled run without input, then a backfill, and the history after it."""

    plan: Done
    clusters_of_plan: List[Any]
    scheduled: Dict[str, Any]
    runs: List[Run]
    versions: List[str]


@dataclass(frozen=True)
class Treated:
    """Two runs of a domain with products, each with its products' rows after it."""

    runs: List[Run]
    clusters: List[Dict[str, Any]]
    shown: List[Dict[str, Set[Tuple[str, ...]]]]
    expected: List[Dict[str, Set[Tuple[str, ...]]]]


@dataclass(frozen=True)
class Revived:
    """What could be asked while the emulator was dead, and its clusters afterwards."""

    count: str
    clusters: List[Dict[str, Any]]


@dataclass(frozen=True)
class Repeated:
    """The same input once more, between two looks at everything stored."""

    run: Run
    before: Dict[str, Any]
    after: Dict[str, Any]


@dataclass(frozen=True)
class Forgotten:
    """The receipt of an erase, and the pages of the lake that were built after it."""

    receipt: Dict[str, Any]
    pages: List[Path]


@dataclass(frozen=True)
class Down:
    """What lived before and after `down`, and what can still be asked."""

    before: List[str]
    after: List[str]
    versions: str
    after_show: List[str]
