"""The stages that are killed, and the points at which they are.

A stage begins and ends with a state of the lake, as undisturbed.py makes them:
`landed`, `loaded` (full load ingested), `recorded` (in history too), `changed`
(maintenance done, more files landed), `ingested`, `built` (in history too), `corrected`
(other files landed), `reprocessed`, `erased` (a key is), `input erased` (a key of a
product's input), `made again` (the product after that).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from random import Random
from typing import Container, Dict, Iterable, Iterator, List, Optional, Pattern, Tuple

from tests.crash.kinds import (
    COPIED,
    DIMENSIONS,
    SNAPSHOTS,
    FEEDS,
    MERGED,
    PRODUCTS,
    STREAMED,
    Kind,
)
from tests.crash.watch import Watch

KINDS = (COPIED, MERGED, STREAMED)
LAYERS = ("changes", "current", "history", "quarantine")
LOG_COMMIT = re.compile(r"^\+.*/changes/\.hoodie/(timeline/)?[0-9_]+\.commit$")


@dataclass(frozen=True)
class Stage:
    """One kind of work that can be killed: what runs, and on which copy of the lake.

    `maintenance` makes one kind of maintenance due. `since` is the change at which
    the kind begins, `until` the one at which it ends, if not with the stage.
    Its `whole` layers show the rows of the state at one of its ends.
    Afterwards the stage `idle`, if it is another one, has nothing to do.
    """

    name: str
    runs: str
    begins_with: str
    ends_with: str
    maintenance: Dict[str, int] = field(default_factory=dict)
    since: Optional[Pattern[str]] = None
    until: Optional[Pattern[str]] = None
    kinds: Tuple[Kind, ...] = KINDS
    whole: Tuple[str, ...] = LAYERS
    idle: str = ""

    def counted(self, watch: Watch) -> int:
        """How many changes of this kind the watch has seen so far."""
        first = watch.first(self.since) if self.since else 0
        last = watch.first(self.until) if self.until else None
        end = len(watch.changes) if last is None else last
        return 0 if first is None else end - first

    @property
    def states(self) -> Tuple[str, ...]:
        """Those of the lake that may be seen when it is killed."""
        return (self.begins_with, self.ends_with)

    @property
    def repaired(self) -> Stage:
        """The run after a killed one: whatever it changes is of this kind."""
        return replace(self, since=None, until=None)


STAGES = (
    Stage("first load", "full_load", "landed", "loaded"),
    Stage("first history", "scd2", "loaded", "recorded", kinds=FEEDS),
    Stage("ingest", "incremental", "changed", "ingested", until=LOG_COMMIT),
    Stage("current", "incremental", "changed", "ingested", since=LOG_COMMIT),
    Stage("history", "scd2", "ingested", "built", kinds=FEEDS),
    Stage(
        "compaction",
        "maintenance",
        "built",
        "built",
        {"compact_after": 1},
        kinds=(MERGED,),
    ),
    Stage("clustering", "maintenance", "built", "built", {"cluster_after": 2}),
    Stage(
        "cleaning",
        "maintenance",
        "built",
        "built",
        {"keep_commits": 1},
        kinds=(*KINDS, *PRODUCTS),
    ),
    Stage("rebuild", "rebuild", "built", "built", kinds=FEEDS, idle="incremental"),
    Stage(
        "reprocess",
        "reprocess",
        "corrected",
        "reprocessed",
        kinds=(*KINDS, *SNAPSHOTS),
        whole=("current", "history"),  # the log has retracted files for a while
        idle="incremental",
    ),
    Stage(
        "erase",
        "erase",
        "built",
        "erased",
        kinds=(*KINDS, *SNAPSHOTS),
        idle="incremental",
    ),
    Stage(
        "snapshots",
        "incremental",
        "changed",
        "ingested",
        kinds=SNAPSHOTS,
    ),
    Stage("first dimension", "dimension", "landed", "loaded", kinds=DIMENSIONS),
    Stage("dimension", "dimension", "changed", "built", kinds=DIMENSIONS),
    Stage(
        "rebuilt dimension",
        "rebuild_dimension",
        "built",
        "built",
        kinds=DIMENSIONS,
        idle="dimension",
    ),
    Stage("first product", "product", "landed", "loaded", kinds=PRODUCTS),
    Stage("product", "product", "changed", "built", kinds=PRODUCTS),
    Stage(
        "rebuilt product",
        "rebuild_product",
        "built",
        "built",
        kinds=PRODUCTS,
        idle="product",
    ),
    Stage("erased product", "product", "input erased", "made again", kinds=PRODUCTS),
)


@dataclass(frozen=True)
class Point:
    """Where it is killed: shares of the stage's changes, one for each kill in a row.

    With a `detour` the stage is not the next to run: after a killed maintenance
    that is the ingesting of the next change files, after all else a maintenance.
    """

    kind: Kind
    stage: Stage
    kills: Tuple[float, ...]
    detour: bool = False


def random_points(seed: int, names: Container[str]) -> Iterator[Point]:
    """The stages of these names in each kind of lake in random order, then all again.

    One point in four is killed twice: the second time while it is run again.
    """
    random = Random(seed)
    while True:
        stages = [stage for stage in STAGES if stage.name in names]
        pairs = [(stage, kind) for stage in stages for kind in stage.kinds]
        random.shuffle(pairs)
        for stage, kind in pairs:
            kills = [random.random() for _ in range(random.choice([1, 1, 1, 2]))]
            yield Point(kind, stage, tuple(kills), random.random() < 0.5)


def in_groups(points: Iterable[Point]) -> List[Tuple[Kind, List[Point]]]:
    """Those of one stage in one kind of lake together, with that kind."""
    groups: Dict[Tuple[Kind, str], List[Point]] = {}
    for point in points:
        groups.setdefault((point.kind, point.stage.name), []).append(point)
    return [(kind, group) for (kind, _), group in groups.items()]
