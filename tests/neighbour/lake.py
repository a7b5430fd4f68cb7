"""Plays the scenes of a kind that need pyspark: a process of the Python that has it.

    python -m tests.neighbour.lake KIND

The last line is what is left, as JSON.
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
from tests.neighbour.scene import play

SCENES = {"catalogue": catalogue.SCENES, "published tables": published.SCENES}
"""By kind."""

if __name__ == "__main__":
    (kind,) = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="lake-neighbour-") as folder:
        with redirect_stdout(StringIO()):
            left = play(kind, SCENES[kind], Path(folder))
    print(json.dumps(left.to_json()))
