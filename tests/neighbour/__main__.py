"""Things of others of each kind, and the product's own commands and functions beside them.

    python -m tests.neighbour [--only KIND]... [--list]

Buckets, folders, catalogues, clusters and slots have things of other teams and of a second
deployment, by the very names that the product uses. It deploys, rolls back, prunes, runs and
removes acceptance runs, registers and drops tables, is started in folders of others, reaps
and connects. Then each of their things must be as it was, byte by byte or as data. One line
for each kind; the last one says `N foreign things, L lost`. The exit code is 1 if L is not 0,
N is less than 60, or the product did not do or refuse what it had to.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import subprocess
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Dict, Iterator, Optional, Sequence

from tests.neighbour.scene import Left, play

KINDS: Dict[str, str] = {
    "airflow bucket": "airflow_bucket",
    "acceptance runs": "acceptance_runs",
    "folders": "folders",
    "clusters": "clusters",
    "slots": "slots",
}
"""Modules of scenes, by kind."""
OF_SPARK = ("catalogue", "published tables")
"""Kinds of `tests.neighbour.lake`, which the Python with pyspark plays."""
LEAST = 60
ROOT = Path(__file__).resolve().parents[2]


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Play, print, and return 1 if anything is lost."""
    asked = _parser().parse_args(argv)
    kinds = asked.only or [*KINDS, *OF_SPARK]
    if asked.list:
        print("\n".join(kinds))
        return 0
    things = lost = unexpected = 0
    for left in _played(kinds):
        things, lost = things + left.things, lost + len(left.lost)
        unexpected += len(left.unexpected)
        print(f"{left.kind}: {left.things} things, {len(left.lost)} lost")
        for mark, lines in (("L", left.lost), ("?", left.unexpected)):
            for line in lines:
                print(f"{mark} {line}", flush=True)
    print(f"{things} foreign things, {lost} lost")
    too_few = not asked.only and things < LEAST
    return 1 if lost or unexpected or too_few else 0


def _played(kinds: Sequence[str]) -> Iterator[Left]:
    import tests.conftest  # noqa: F401  nobody's account, and nobody's Airflow

    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory(prefix="lake-neighbour-") as folder:
        for kind in kinds:
            if kind in OF_SPARK:
                yield _played_by_spark(kind)
                continue
            with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
                scenes = import_module(f"tests.neighbour.{KINDS[kind]}").SCENES
                left = play(kind, scenes, Path(folder))
            yield left


def _played_by_spark(kind: str) -> Left:
    python = str(ROOT / ".venv-spark/bin/python")
    asked = [python, "-m", "tests.neighbour.lake", kind]
    done = subprocess.run(
        asked, cwd=ROOT, env=dict(os.environ), stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        return Left(kind, unexpected=[f"exit code {done.returncode}"])
    return Left(**json.loads(done.stdout.splitlines()[-1]))


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="neighbour", description=__doc__)
    made.formatter_class = argparse.RawDescriptionHelpFormatter
    made.add_argument(
        "--only", action="append", choices=[*KINDS, *OF_SPARK], metavar="KIND"
    )
    made.add_argument("--list", action="store_true", help="show the kinds, play none")
    return made


if __name__ == "__main__":
    sys.exit(main())
