"""Target 20: a first load in a small heap, by a process of its own.

The heap of a session cannot be changed, so another one is started, which loads and ends.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import List

from benchmarks.speed.bench import Bench
from benchmarks.speed.lake import BenchLake, spec_of
from benchmarks.speed.measuring import Meter
from benchmarks.speed.result import Result
from benchmarks.speed.session import open_both
from benchmarks.speed.sources import ROOT

ROWS = 10_000_000
HEAP = "4g"


def load(bench: Bench) -> List[Result]:
    """20: a full load and its history with a heap of 4 GB; it must finish."""
    rows = bench.sized(ROWS)
    lake = bench.landed(rows, "heap").lake
    command = [sys.executable, "-m", "benchmarks.speed.heap", str(lake.root)]
    buckets = str(lake.spec.storage.buckets)
    done = subprocess.run(
        [*command, buckets], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    took = json.loads(done.stdout.splitlines()[-1])
    assert took["rows"] == rows, f"{took['rows']} rows were loaded, not {rows}"
    seconds, peak = took["seconds"], took["peak"] / 2**30
    what = f"{rows:,} rows into three tables with a heap of {HEAP}"
    most = f"the same: most memory that the JVM had at once, in GiB, its heap {HEAP}"
    return [
        Result("20", f"seconds of a load of {what}", seconds, seconds, seconds),
        Result("20a", most, peak, peak, peak),
    ]


def main(folder: str, buckets: str) -> None:
    """Load the files of a lake; print what it took as JSON."""
    root = Path(folder)
    spark = open_both(root / "scratch", memory=HEAP)
    lake = BenchLake(spark, root, spec_of(buckets=int(buckets)))
    took = Meter(spark, root).measure(lambda: lake.done("full_load", "scd2"))
    rows = int(lake.current.count())
    found = {"rows": rows, "seconds": took.seconds, "peak": took.peak}
    spark.stop()
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
