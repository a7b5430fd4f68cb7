"""Random histories against the oracle, as many as asked for.

    python -m tests.oracle.properties --histories N [--seed S]

Each hundred shares a table, of a feed or of snapshots, which is played copy on
write and merge on read, each in runs of its own; at the end some files are
reprocessed, those of a feed corrected. A mismatch is told with the seed that makes it
again. The last line says `N histories, M mismatches`; the exit code is 1 if M is
not 0.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Iterator, Optional, Sequence, Set

from tests.asked import parser

PROJECT = Path(__file__).resolve().parents[2]
SHARED = 100
"""How many histories share one table."""


def hundreds(histories: int) -> Iterator[range]:
    """The numbers of the histories of each table."""
    for start in range(0, histories, SHARED):
        yield range(start, min(start + SHARED, histories))


def play_all(histories: int, seed: int) -> int:
    """Play every world in both kinds of table; how many histories differed."""
    from tests.oracle.snapshots import SNAPSHOT_SPECS, SnapshotWorld
    from tests.oracle.playing import World
    from tests.oracle.tables import SPECS
    from tests.spark.local_session import local_session

    worlds = [(World, name) for name in SPECS]
    worlds += [(SnapshotWorld, name) for name in SNAPSHOT_SPECS]
    spark = local_session()
    wrong = 0
    try:
        for i, numbers in enumerate(hundreds(histories)):
            kind, name = worlds[i % len(worlds)]
            wrong += len(_differing(spark, kind(name, seed, numbers)))
    finally:
        spark.stop()
    return wrong


def _differing(spark, world) -> Set[int]:
    from lake_spec.model import HUDI_TYPES

    found: Set[int] = set()
    for kind in HUDI_TYPES:
        where = f"{world.name}, {kind.value}"
        with tempfile.TemporaryDirectory(prefix="lake-properties-") as root:
            play = world.play(spark, Path(root), kind)
            mismatches = play.mismatches()
            mismatches.update(play.reprocess())
        runs = len(play.batches)
        first, last = world.numbers[0], world.numbers[-1]
        print(
            f"{where}: histories {first} to {last} in {runs} runs: "
            f"{len(mismatches)} mismatches",
            flush=True,
        )
        for number, text in mismatches.items():
            print(f"MISMATCH seed {world.seed}, {where}, history {number} {text}")
        found |= set(mismatches)
    return found


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Play, tell, and say by the exit code whether all were right."""
    asked = parser("properties", "histories", __doc__).parse_args(argv)
    sys.path[:0] = [str(PROJECT / name) for name in ("dags", "spark_jobs")]
    os.environ.setdefault("AWS_EC2_METADATA_DISABLED", "true")
    print(f"seed {asked.seed}", flush=True)
    wrong = play_all(asked.histories, asked.seed)
    print(f"{asked.histories} histories, {wrong} mismatches")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
