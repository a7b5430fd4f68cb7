"""Many runs of small tables in one application: what run N costs beside the first.

    python -m tests.soak --runs N [--tables T] [--minutes M] [--seed S]

Each run lands the changes of a few new keys, and some of old ones, in each table, and
brings log, current and history up to them. In between come maintenance (each 24th run),
a reprocess, an erase, a rename and a new rule, and an hour for what is removed by its age.
The tables are those of the random histories
(tests/oracle), one of them in a zone whose clocks show two hours twice; at the end all
are compared with the oracle. Then stand, for the first runs, those of the ninth day (when
all that is kept for a week is there) and the last, the medians of seconds, CPU, calls, files
and memory. After M minutes no run begins any more, and what was played is compared. The last
line says `N runs, D histories differ`; the exit code is 1 if D is not 0.
"""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import Callable, List, Optional, Sequence

from tests.asked import parser
from tests.soak.measures import CountedStore, Measured, Meter, of_run, table
from tests.soak.tables import SoakTable, tables_of
from tests.spark.local_session import local_session

MAINTAINED = 24
"""Runs between two of maintenance."""


def play(
    runs: int,
    tables: Sequence[SoakTable],
    meter: Meter,
    tell: Callable[[str], object],
    until: float,
) -> List[Measured]:
    """Play so many runs, none after a moment; what each cost, but for what is done between."""
    found: List[Measured] = []
    for number in range(runs):
        if time.monotonic() > until:
            tell(f"the time is over after {number} of {runs} runs")
            break
        before = meter.now()
        for each in tables:
            each.land(number)
            each.lake.done("incremental", "scd2")
        found.append({**of_run(before, meter.now()), "memory": meter.held()})
        _between(number, runs, tables)
        if number % 10 == 0 or number == runs - 1:
            seconds = found[-1]["seconds"]
            tell(f"run {number + 1} of {runs}: {seconds:.1f} s")
    return found


def _between(number: int, runs: int, tables: Sequence[SoakTable]) -> None:
    for each in tables:
        each.let_an_hour_pass()
        if number % MAINTAINED == MAINTAINED - 1:
            each.lake.done("maintenance")
        if number == runs // 4:
            each.reprocess()
        if number == runs // 3:
            each.erase()
        if number == runs // 2:
            each.rename()
        if number == 2 * runs // 3:
            each.add_rule()


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Play, compare, and say by the exit code whether all rows were right."""
    asking = parser("soak", "runs", __doc__)
    asking.add_argument("--tables", type=int, default=12, metavar="T")
    asking.add_argument("--minutes", type=float, default=float("inf"), metavar="M")
    asked = asking.parse_args(argv)
    terminal, until = sys.stdout, time.monotonic() + 60 * asked.minutes

    def tell(line: str) -> None:
        print(line, file=terminal, flush=True)

    tell(f"seed {asked.seed}")
    spark, store = local_session(), CountedStore()
    try:
        with tempfile.TemporaryDirectory(prefix="lake-soak-") as folder:
            root = Path(folder)
            tables = tables_of(spark, root, asked.seed, asked.tables, store)
            meter = Meter(spark, store, [each.lake.root for each in tables])
            with open(root / "stages.log", "w", encoding="utf-8") as told:
                with redirect_stdout(told):
                    costs = play(asked.runs, tables, meter, tell, until)
                    wrong = [line for each in tables for line in each.differing()]
    finally:
        spark.stop()
    print(*table(costs), *wrong[:10], sep="\n")
    print(f"{len(costs)} runs, {len(wrong)} histories differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
