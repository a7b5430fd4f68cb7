"""Things of others of each kind, and the product's own commands and functions beside them.

    python -m tests.neighbour [--only KIND]... [--list]
    python -m tests.neighbour --without-guards

Buckets, folders, catalogues, clusters and slots have things of other teams and of a second
deployment, by the very names that the product uses. It deploys, rolls back, prunes, runs and
removes acceptance runs, registers and drops tables, is started in folders of others, reaps
and connects. Then each of their things must be as it was, byte by byte or as data. So it
does beside its own things as the release before left them, without a mark: it has to go on
with them, and marks them once. One line for each kind; the last one says `N foreign things,
L lost`. The exit code is 1 if L is not 0, N is less than 120, or the product did not do or
refuse what it had to.

With `--without-guards` it is played once without each guard of the product, and once with
each way from the release before cut off: the last line says `N guards, U not seen`, and the
exit code is 1 if U is not 0.
"""

from __future__ import annotations

import argparse
import json
import logging
import subprocess
import sys
import tempfile
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any, Dict, Iterator, Optional, Sequence

from tests.neighbour.guard import unseen
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
LEAST = 120
ROOT = Path(__file__).resolve().parents[2]


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Play, print, and return 1 if anything is lost."""
    asked = _parser().parse_args(argv)
    kinds = asked.only or [*KINDS, *OF_SPARK]
    if asked.list:
        print("\n".join(kinds))
        return 0
    if asked.without_guards:
        return _without_guards()
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


def _without_guards() -> int:
    """Play without each guard, print those that nothing tells, return 1 for any."""
    with _silent() as folder:
        guards = import_module("tests.neighbour.guards").GUARDS
        here = unseen(guards, folder)
    there = _by_spark("--without-guards")
    found = [*here, *there["unseen"]]
    for name in found:
        print(f"? {name}")
    print(f"{len(guards) + there['guards']} guards, {len(found)} not seen")
    return 1 if found else 0


@contextmanager
def _silent() -> Iterator[Path]:
    """A folder to play in, where the product says nothing."""
    import tests.conftest  # noqa: F401  nobody's account, and nobody's Airflow

    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory(prefix="lake-neighbour-") as folder:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            yield Path(folder)


def _played(kinds: Sequence[str]) -> Iterator[Left]:
    for kind in kinds:
        if kind in OF_SPARK:
            yield Left(**_by_spark(kind))
            continue
        with _silent() as folder:
            scenes = import_module(f"tests.neighbour.{KINDS[kind]}").SCENES
            left = play(kind, scenes, folder)
        yield left


def _by_spark(asked: str) -> Dict[str, Any]:
    """What the Python with pyspark says of a kind, or of its guards."""
    argv = [str(ROOT / ".venv-spark/bin/python"), "-m", "tests.neighbour.lake", asked]
    done = subprocess.run(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="neighbour", description=__doc__)
    made.formatter_class = argparse.RawDescriptionHelpFormatter
    made.add_argument(
        "--only", action="append", choices=[*KINDS, *OF_SPARK], metavar="KIND"
    )
    made.add_argument("--list", action="store_true", help="show the kinds, play none")
    made.add_argument(
        "--without-guards", action="store_true", help="which must be seen, each"
    )
    return made


if __name__ == "__main__":
    sys.exit(main())
