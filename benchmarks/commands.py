"""Seconds of the commands that people wait for, against their targets.

    .venv-airflow/bin/python benchmarks/commands.py [--runs N] [NAME...]

Each command runs as a whole process in a home of its own, one after the other;
printed are the median and the range over the runs.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Tuple

ROOT = Path(__file__).resolve().parents[1]
LOCAL = str(ROOT / "run_locally.sh")
TESTS = str(ROOT / "run_tests_locally.sh")
COUNT = ("show", "moma.artists", "--count")


@dataclass(frozen=True)
class Measure:
    """A command, what must have run before it in its home, and its target."""

    command: Tuple[str, ...]
    target: float
    before: Tuple[Tuple[str, ...], ...] = ()
    needs_home: bool = True


MEASURES: Dict[str, Measure] = {
    "demo": Measure((LOCAL,), 300),
    "show_down": Measure((LOCAL, *COUNT), 30, before=((LOCAL,),)),
    "show_up": Measure((LOCAL, *COUNT), 15, before=((LOCAL,), (LOCAL, "up"))),
    "fast_tests": Measure((TESTS, "fast"), 60, needs_home=False),
    "full_tests": Measure((TESTS, "full"), 1500, needs_home=False),
}
"""Targets in seconds on two cores, after set-up."""


def measured(measure: Measure, runs: int) -> List[float]:
    """Seconds of each run; a command that fails ends the measurement."""
    with tempfile.TemporaryDirectory() as folder:
        home = ["--state-dir", folder] if measure.needs_home else []
        try:
            for command in measure.before:
                run([*command, *home])
            return [run([*measure.command, *home]) for _ in range(runs)]
        finally:
            if measure.needs_home:
                run([LOCAL, "down", *home])


def run(command: List[str]) -> float:
    """Seconds that the command takes; its output is shown only if it fails."""
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}\n{done.stderr}")
    return time.monotonic() - began


def main() -> None:
    """Measure what was asked for, all if nothing was named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("names", nargs="*", choices=[[], *MEASURES], metavar="NAME")
    asked = parser.parse_args()
    print(f"{'what':<12} {'target':>7} {'median':>7}  range")
    for name in asked.names or MEASURES:
        seconds = measured(MEASURES[name], asked.runs)
        target, middle = MEASURES[name].target, statistics.median(seconds)
        verdict = "holds" if middle <= target else "MISSED"
        span = f"{min(seconds):.1f} to {max(seconds):.1f}"
        print(
            f"{name:<12} {target:>7.0f} {middle:>7.1f}  {span}  {verdict}", flush=True
        )


if __name__ == "__main__":
    main()
