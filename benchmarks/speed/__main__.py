"""Measure the targets of docs/speed.md: ratios within one run, never tests.

    ./run_tests_locally.sh bench [--only K]... [--scale F] [--pairs N] [--seed S] [--resume]
    ./run_tests_locally.sh bench --quick [--only K]...

K is the number of a target; --scale multiplies the sizes of tables (1: as the target
says). Prints a table, keeps benchmarks/results/latest.json, draws docs/speed and writes
the figures into docs/speed.md. --resume goes on with a run that was ended before all
its targets were measured: it leaves out those that were, with the same code and sizes.
--quick prints the figures of small tables and two rounds, and keeps none: it shows that
each target can be measured, and what became much slower.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from datetime import date
from pathlib import Path
from typing import Any, Dict, List

from benchmarks.speed import result, sources
from benchmarks.speed.bench import Bench
from benchmarks.speed.measuring import say
from benchmarks.speed.plots import draw
from benchmarks.speed.session import CORES, MEMORY, open_both
from benchmarks.speed.sources import ROOT
from benchmarks.speed.targets import TARGETS


def main(argv: List[str]) -> int:
    """Run what was asked for; 0 whatever the figures are."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=list(TARGETS), default=[])
    parser.add_argument("--scale", type=_positive, help="1 if left out")
    parser.add_argument("--pairs", type=_even, help="rounds that count, 6 if left out")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--resume", action="store_true", help="go on with such a run")
    parser.add_argument(
        "--quick", action="store_true", help="small and few, keeps nothing"
    )
    parser.add_argument("--folder", type=Path, help="where the lakes are made")
    asked = parser.parse_args(argv)
    scale, pairs = (0.02, 2) if asked.quick else (1.0, 6)
    asked.scale, asked.pairs = asked.scale or scale, asked.pairs or pairs
    names, about = asked.only or list(TARGETS), _about(asked)
    left = _not_measured(names, about) if asked.resume else names
    if left:
        _measure(left, asked, about)
    if asked.quick:
        return 0
    print("\n".join(result.lines(result.kept(names))))
    draw(result.LATEST, ROOT / "docs" / "speed")
    result.tell()
    return 0


def _measure(
    names: List[str], asked: argparse.Namespace, about: Dict[str, Any]
) -> None:
    """Results are kept target by target, so that Ctrl-C loses one at most."""
    folder = asked.folder or ROOT / ".local"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=folder) as temporary:
        # Apart: files are counted below the lakes, and Spark's own are none of them.
        scratch, lakes = Path(temporary) / "scratch", Path(temporary) / "lakes"
        lakes.mkdir()
        spark = open_both(scratch)
        bench = Bench(spark, lakes, asked.scale, asked.pairs, asked.seed)
        try:
            for name in names:
                say(f"target {name}: {TARGETS[name].__doc__.splitlines()[0]}")
                found = TARGETS[name](bench)
                if not asked.quick:
                    result.write(found, about)
                bench.clear()
                print("\n".join(result.lines(found)[1:]), flush=True)
        finally:
            spark.stop()


def _not_measured(names: List[str], about: Dict[str, Any]) -> List[str]:
    there = result.measured(about)
    if there:
        say(f"measured already: {', '.join(name for name in names if name in there)}")
    return [name for name in names if name not in there]


def _about(asked: argparse.Namespace) -> Dict[str, Any]:
    return {
        "day": date.today().isoformat(),
        "scale": asked.scale,
        "pairs": asked.pairs,
        "seed": asked.seed,
        "sources": sources.digest(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "spark": f"local[{CORES}], {MEMORY}",
    }


def _even(text: str) -> int:
    """Even: as many rounds with ours first as with the others'."""
    value = int(text)
    if value < 2 or value % 2:
        raise argparse.ArgumentTypeError("an even number from 2 on")
    return value


def _positive(text: str) -> float:
    value = float(text)
    if value <= 0:
        raise argparse.ArgumentTypeError("a number above 0")
    return value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
