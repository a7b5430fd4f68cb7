"""Target 13: small runs from end to end, each step a process of its own as on a laptop."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Callable, Dict, Iterator, List

from lake_emulator import runtimes
from benchmarks.speed.bench import Bench
from benchmarks.speed.comparing import compared, summed
from benchmarks.speed.measuring import Measured, say, say_round
from benchmarks.speed.result import Result
from benchmarks.speed.small import CHANGED, SPEC, land_changes, land_load
from tests.spark.lake import table
from tests.spark.submitted import SubmittedDomain

ROWS, FEW_ROWS, TABLES = 100_000, 1_000, 20
COUNTED = ("seconds", "cpu", "peak")
"""What is known of a process: its files and jobs are not counted."""


def small_runs(bench: Bench) -> List[Result]:
    """13: 100 changed rows of 100,000; many tables, and nothing new, against one table."""
    least = max(1_000, round(ROWS * bench.scale))
    return [
        _one_step(bench, _loaded(bench, "one", 1, least), least),
        *_many_tables(
            bench, *(_loaded(bench, "few", n, FEW_ROWS) for n in (1, TABLES))
        ),
    ]


def _one_step(bench: Bench, lake: SubmittedDomain, rows: int) -> Result:
    """The run as it is, against two steps without the archive of classes."""

    def two_steps() -> Measured:
        with _without_archive(bench):
            return summed(_step(lake, "incremental"), _step(lake, "scd2"))

    sides = {"one": partial(_step, lake, "incremental", "scd2"), "two": two_steps}
    found = _in_turns(bench, sides, lambda _, nth: land_changes(lake, nth, rows))
    what = (
        f"incremental and scd2 of {CHANGED} changed rows of {rows:,}: one step, with the"
        " archive of classes / two steps without"
    )
    return compared("13", what, found["one"], found["two"], 0.45, COUNTED)


def _many_tables(
    bench: Bench, one: SubmittedDomain, many: SubmittedDomain
) -> List[Result]:
    lakes = {"one": one, "many": many}
    sides = {
        name: partial(_step, lake, "incremental", "scd2")
        for name, lake in lakes.items()
    }

    def land(name: str, nth: int) -> None:
        land_changes(lakes[name], nth, FEW_ROWS)

    changed = _in_turns(bench, sides, land)
    nothing = _in_turns(bench, sides, lambda name, nth: None)
    tables = f"{TABLES} small tables in one step / one table: "
    return [
        compared(
            "13a",
            f"{tables}nothing new",
            nothing["many"],
            nothing["one"],
            1.5,
            COUNTED,
        ),
        compared(
            "13b",
            f"{tables}{CHANGED} changed rows of {FEW_ROWS:,} in each",
            changed["many"],
            changed["one"],
            4.0,
            COUNTED,
        ),
    ]


def _in_turns(
    bench: Bench,
    sides: Dict[str, Callable[[], Measured]],
    land: Callable[[str, int], None],
) -> Dict[str, List[Measured]]:
    """Land changes for each piece of work, by its name, and do all in turns; each is
    cold."""
    found: Dict[str, List[Measured]] = {name: [] for name in sides}
    for nth in range(bench.pairs):
        names, took = list(sides), {}
        for name in reversed(names) if nth % 2 else names:
            land(name, len(names) * nth + names.index(name))
            took[name] = sides[name]()
            found[name].append(took[name])
        say_round(nth, took)
    return found


def _loaded(bench: Bench, name: str, count: int, rows: int) -> SubmittedDomain:
    say(f"{count} table(s) of {rows:,} rows, each step a process")
    one = table(SPEC)
    names = [f"t{nth:02}" for nth in range(count)]
    tables = [replace(one, name=n, source=replace(one.source, path=n)) for n in names]
    lake = SubmittedDomain(bench.unused(name), tables)
    land_load(lake, rows)
    _step(lake, "full_load", "scd2")
    return lake


def _step(lake: SubmittedDomain, *stages: str) -> Measured:
    began = time.monotonic()
    process = lake.start(*stages)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, lake.log(stages[0])[-3000:]
    peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    cpu = used.ru_utime + used.ru_stime
    return Measured(seconds, read=0, written=0, files=0, jobs=0, cpu=cpu, peak=peak)


@contextmanager
def _without_archive(bench: Bench) -> Iterator[None]:
    """Name the folder of jars in another way: the archive is looked for next to it."""
    place, before = bench.root / "no-archive" / "jars", os.environ.get("LAKE_JARS")
    if not place.exists():
        place.parent.mkdir()
        place.symlink_to(Path(runtimes.jars_root()).resolve())
    os.environ["LAKE_JARS"] = str(place)
    try:
        yield
    finally:
        del os.environ["LAKE_JARS"]
        if before is not None:
            os.environ["LAKE_JARS"] = before
