"""Plays what needs pyspark: a process of the Python that has it.

    python -m tests.neighbour.lake KIND
    python -m tests.neighbour.lake --without-guards

The last line is JSON: what is left of a kind, or the guards without which nothing is lost.
"""

from __future__ import annotations

import json
import sys
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import tests.conftest  # noqa: F401  nobody's account

from tests.neighbour import catalogue, published
from tests.neighbour.guard import unseen
from tests.neighbour.guards_of_spark import GUARDS
from tests.neighbour.scene import play

SCENES = {"catalogue": catalogue.SCENES, "published tables": published.SCENES}
"""By kind."""

if __name__ == "__main__":
    (kind,) = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="lake-neighbour-") as folder:
        with redirect_stdout(StringIO()):
            if kind == "--without-guards":
                found = {"guards": len(GUARDS), "unseen": unseen(GUARDS, Path(folder))}
            else:
                found = play(kind, SCENES[kind], Path(folder)).to_json()
    print(json.dumps(found))
