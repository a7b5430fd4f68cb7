"""Targets about what comes again and again: nothing new, late events, many rounds."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Callable, Dict, List, Sequence

from benchmarks.speed.bench import STAGES, TABLE, Bench, Loaded
from benchmarks.speed.comparing import compared
from benchmarks.speed.lake import read_whole
from benchmarks.speed.measuring import Measured, median, say
from benchmarks.speed.result import Result, over

ROUNDS = 30
FEW = 4
"""Rounds that a drift is not judged by: the JVM still warms up."""


def nothing_new(bench: Bench) -> List[Result]:
    """6: a run of a table without new files: seconds beyond the start of the JVM."""
    loaded = bench.loaded(bench.sized(TABLE))
    run = {"run": lambda: loaded.lake.done(*STAGES)}
    found = bench.meter.in_turns(lambda nth: run, bench.pairs)["run"]
    told = {name: median(found, name) for name in ("read", "written", "files", "jobs")}
    what = f"seconds of a run with nothing new, {loaded.rows:,} rows, JVM started"
    return [over("6", what, [each.seconds for each in found], 3.0, told)]


def late_events(bench: Bench) -> List[Result]:
    """11: events in the middle of their keys' history against events at its end."""
    loaded = bench.loaded(bench.sized(TABLE))
    found: Dict[str, List[Measured]] = {}
    for nth in range(bench.pairs + 2):
        for kind in ("spread", "late"):
            loaded.land(kind, loaded.spread)
            for stage in STAGES:
                took = bench.meter.measure(lambda: loaded.lake.stage(stage))
                say(f"round {nth}: {kind}, {stage} {took.seconds:.1f} s")
                if nth >= 2:
                    found.setdefault(f"{kind} {stage}", []).append(took)
    what = "{} of {:,} late keys, {:,} rows / of as many at the end of their history"
    return [
        compared(
            id,
            what.format(stage, loaded.spread, loaded.rows),
            found[f"late {stage}"],
            found[f"spread {stage}"],
            target,
        )
        for id, stage, target in (("11", "scd2", 1.3), ("11a", "incremental", None))
    ]


def many_rounds(bench: Bench) -> List[Result]:
    """8: rounds of changes, history and upkeep: what the last ones take more."""
    rows = bench.sized(TABLE)
    loaded = bench.fresh(rows, "lasting")
    fresh = _bytes_below(loaded.lake.warehouse)
    writes: List[float] = []
    reads: List[float] = []
    files: List[int] = []
    for nth in range(ROUNDS):
        loaded.land("spread", loaded.spread)
        took = [
            bench.meter.measure(_stage(loaded, each)).seconds
            for each in (*STAGES, "maintenance")
        ]
        reads.append(
            bench.meter.measure(lambda: read_whole(loaded.lake.current)).seconds
        )
        writes.append(sum(took))
        files.append(sum(1 for _ in loaded.lake.warehouse.rglob("*.parquet")))
        say(
            f"round {nth}: {', '.join(f'{each:.1f}' for each in took)} s,"
            f" read {reads[-1]:.1f} s, {files[-1]} files"
        )
    where = f"{ROUNDS} rounds of {loaded.spread:,} keys, {rows:,} rows"
    more = {"writes": writes, "reads": reads, "files": files}
    size = _bytes_below(loaded.lake.warehouse) / fresh
    return [
        _one("8", f"write time, growth per round: {where}", drift(writes), 0.02, more),
        _one("8a", "read time of current, growth per round", drift(reads), 0.02, {}),
        _one("8b", "storage after them / after the first load", size, 3.0, {}),
        _one("8c", "files after them / after ten", files[-1] / files[9], None, {}),
    ]


def drift(values: Sequence[float]) -> float:
    """The slope of a line through the rounds, as a part of the median round.

    By the median of the slopes of all pairs (Theil and Sen): one slow round moves it
    little. The first rounds are left out.
    """
    late = list(enumerate(values))[FEW:]
    slopes = [
        (b - a) / (j - i) for n, (i, a) in enumerate(late) for j, b in late[n + 1 :]
    ]
    return statistics.median(slopes) / statistics.median(each for _, each in late)


def _stage(loaded: Loaded, name: str) -> Callable[[], object]:
    return lambda: loaded.lake.stage(name)


def _bytes_below(folder: Path) -> int:
    return sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())


def _one(
    id: str, what: str, figure: float, target: "float | None", more: Dict[str, object]
) -> Result:
    """A figure of the whole run, which has no range of its own."""
    return Result(id, what, figure, figure, figure, target, more)
