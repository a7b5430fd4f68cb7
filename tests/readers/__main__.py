"""Random histories through every format and reader, as many as asked for.

    python -m tests.readers --histories N [--seed S]
    python -m tests.readers --kills N [--seed S]

Forty share a table, which is played copy on write and merge on read, published as
Iceberg and as Delta and read by Hudi, Spark with Iceberg, pyiceberg, delta-rs and DuckDB
at the newest commit and at each that is published. With `--kills` the publication of a
table of each kind is killed so many times, run again and read the same way. The last line
says `N histories, M differences`, or `N kills, M differences`; the exit code is 1 if M is
not 0.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Optional, Sequence

from tests.asked import parser

SHARED = 40
"""How many histories share one table."""


def play_all(histories: int, seed: int) -> int:
    """Play all histories, a line for each table; return how many differences there are."""
    from lake_spec.model import HUDI_TYPES
    from tests.readers.playing import play, worlds
    from tests.spark.local_session import local_session

    spark = local_session()
    wrong = 0
    try:
        for world in worlds(histories, seed, SHARED):
            for kind in HUDI_TYPES:
                with tempfile.TemporaryDirectory(prefix="lake-readers-") as root:
                    outcome = play(spark, Path(root), world, kind)
                wrong += len(outcome.differences)
                print(
                    f"{world.name}, {kind.value}: histories {world.numbers[0]} to "
                    f"{world.numbers[-1]}, {outcome.commits} commits, compared "
                    f"{outcome.compared} times: {len(outcome.differences)} differences",
                    flush=True,
                )
                for each in outcome.differences:
                    print(f"DIFFERENCE seed {seed}, {world.name}, {kind.value}: {each}")
    finally:
        spark.stop()
    return wrong


def kill_all(kills: int, seed: int) -> int:
    """Kill so often, a line for each; return how many differences there are."""
    from lake_spec.model import HUDI_TYPES
    from tests.readers.kills import KilledLake
    from tests.spark.local_session import local_session

    spark = local_session()
    wrong, number = 0, 0
    try:
        for place, kind in enumerate(HUDI_TYPES, 1):
            with tempfile.TemporaryDirectory(prefix="lake-readers-") as root:
                lake = KilledLake(spark, Path(root), kind, seed)
                while number < kills * place // len(HUDI_TYPES):
                    when = lake.at_random()
                    found, lake.outcome.differences = lake.outcome.differences, []
                    number += bool(when)
                    wrong += len(found)
                    done = f"kill {number}: {when}" if when else "a run without a kill"
                    print(f"{kind.value}, {done}: {len(found)} differences", flush=True)
                    for each in found:
                        print(f"DIFFERENCE seed {seed}, {kind.value}: {each}")
    finally:
        spark.stop()
    return wrong


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Play, print, and return 1 if anything differs."""
    asked = parser("readers", "histories", __doc__, "kills").parse_args(argv)
    os.environ.setdefault("AWS_EC2_METADATA_DISABLED", "true")
    print(f"seed {asked.seed}", flush=True)
    if asked.kills:
        count, what, wrong = asked.kills, "kills", kill_all(asked.kills, asked.seed)
    else:
        count, what = asked.histories, "histories"
        wrong = play_all(count, asked.seed)
    print(f"{count} {what}, {wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
