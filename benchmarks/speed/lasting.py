"""Targets about what comes again and again: nothing new, late events, many rounds."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Dict, List, Sequence

from lake_spec.state.report import Report, State
from benchmarks.speed.bench import STAGES, TABLE, Bench, taken
from benchmarks.speed.comparing import compared
from benchmarks.speed.lake import BenchLake, read_whole
from benchmarks.speed.measuring import Work, alternating, median, say
from benchmarks.speed.result import Result, over

ROUNDS = 30
FEW = 4
"""Rounds that a drift is not judged by: the JVM still warms up."""


def nothing_new(bench: Bench) -> List[Result]:
    """6: a run of a table without new files: seconds beyond the start of the JVM."""
    loaded = bench.loaded(bench.sized(TABLE))
    run = {"run": Work(lambda: loaded.lake.done(*STAGES))}
    found = bench.meter.in_turns(lambda nth: run, bench.pairs)["run"]
    told = {name: median(found, name) for name in ("read", "written", "files", "jobs")}
    what = f"seconds of a run with nothing new, {loaded.rows:,} rows, JVM started"
    return [over("6", what, [each.seconds for each in found], 3.0, told)]


def late_events(bench: Bench) -> List[Result]:
    """11: events in the middle of their keys' history against events at its end."""
    loaded = bench.loaded(bench.sized(TABLE))
    keys = loaded.spread
    sides = [
        taken(loaded, keys, f"{kind} ", partial(loaded.land, kind, keys))
        for kind in ("spread", "late")
    ]
    found = bench.meter.in_turns(
        lambda nth: alternating(nth, *sides), bench.pairs, warm_up=2
    )
    what = "{} of {:,} late keys, {:,} rows / of as many at the end of their history"
    return [
        compared(
            id,
            what.format(stage, keys, loaded.rows),
            found[f"late {stage}"],
            found[f"spread {stage}"],
            target,
        )
        for id, stage, target in (("11", "scd2", 1.3), ("11a", "incremental", None))
    ]


def many_rounds(bench: Bench) -> List[Result]:
    """8: rounds of changes, history and maintenance: what the last ones take more."""
    rows = bench.sized(TABLE)
    loaded = bench.loaded(rows)
    fresh = _bytes_below(loaded.lake.warehouse)
    story = Story([], [], [], [])
    for nth in range(ROUNDS):
        loaded.land("spread", loaded.spread)
        _round(bench, loaded.lake, story)
        say(
            f"round {nth}: {story.writes[-1]:.1f} s, read {story.reads[-1]:.1f} s,"
            f" {story.files[-1]} files{', maintenance' if nth in story.maintenance else ''}"
        )
    size = _bytes_below(loaded.lake.warehouse) / fresh
    where = f"{ROUNDS} rounds of {loaded.spread:,} keys, {rows:,} rows"
    return _told(story, size, where)


@dataclass
class Story:
    """Rounds in their order: seconds of the stages and of reading current, files of
    rows there are then, and the numbers of those in which maintenance was due."""

    writes: List[float]
    reads: List[float]
    files: List[int]
    maintenance: List[int]


def _round(bench: Bench, lake: BenchLake, story: Story) -> None:
    measure = bench.meter.measure
    took = [measure(lambda: lake.stage(each)).seconds for each in STAGES]
    maintenance: List[Report] = []
    took.append(measure(lambda: maintenance.append(lake.stage("maintenance"))).seconds)
    if maintenance[0].state == State.DONE:
        story.maintenance.append(len(story.writes))
    story.writes.append(sum(took))
    story.reads.append(measure(lambda: read_whole(lake.current)).seconds)
    story.files.append(_files_of_rows(lake.warehouse))


def _told(story: Story, size: float, where: str) -> List[Result]:
    writes, reads, files = story.writes, story.reads, story.files
    between = max(drift(each, 0) for each in _periods(reads, story.maintenance))
    wears = "read time of current, growth per round between two upkeeps, the largest"
    more = asdict(story)
    return [
        _one("8", f"write time, growth per round: {where}", drift(writes), 0.02, more),
        _one("8a", "read time of current, growth per round", drift(reads), 0.02, {}),
        _one("8b", "storage after them / after the first load", size, 3.0, {}),
        _one("8c", "files after them / after ten", files[-1] / files[9], None, {}),
        _one("8d", wears, between, None, {}),
    ]


def drift(values: Sequence[float], few: int = FEW) -> float:
    """The slope of a line through the rounds, as a part of the median round.

    By the median of the slopes of all pairs (Theil and Sen): one slow round moves it
    little. The first `few` rounds are left out.
    """
    late = list(enumerate(values))[few:]
    slopes = [
        (b - a) / (j - i) for n, (i, a) in enumerate(late) for j, b in late[n + 1 :]
    ]
    return statistics.median(slopes) / statistics.median(each for _, each in late)


def _periods(
    values: Sequence[float], maintenance: Sequence[int]
) -> List[Sequence[float]]:
    """The rounds after the first few, cut where maintenance was; of five at least."""
    cuts = [FEW, *(nth for nth in maintenance if nth > FEW), len(values)]
    found = [values[begin:end] for begin, end in zip(cuts, cuts[1:])]
    return [each for each in found if len(each) >= 5] or [values[FEW:]]


def _files_of_rows(warehouse: Path) -> int:
    """Base files and log files, those of Hudi's metadata left out."""
    return sum(
        each.is_file() and not each.name.endswith(".crc")
        for each in warehouse.rglob("*")
        if ".hoodie" not in each.parts and each.name != ".hoodie_partition_metadata"
    )


def _bytes_below(folder: Path) -> int:
    return sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())


def _one(
    id: str, what: str, figure: float, target: "float | None", more: Dict[str, object]
) -> Result:
    """A figure of the whole run, which has no range of its own."""
    return Result(id, what, figure, figure, figure, target, more)
