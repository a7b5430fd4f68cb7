"""The files of the Spark tests, in shards that take about the same time."""

from __future__ import annotations

import json
from pathlib import Path
from zlib import crc32

FOLDER = "tests/spark"
SECONDS = f"{FOLDER}/seconds.json"
"""What the tests of each file took in a run of all; `--note-seconds` writes it."""


def spark_files(root: Path) -> list[str]:
    """Return every file of Spark tests, as pytest finds them, relative to the root."""
    found = (root / FOLDER).rglob("test_*.py")
    return sorted(str(each.relative_to(root)) for each in found)


def spark_shards(root: Path, count: int) -> list[list[str]]:
    """Deal the files out to shards: the longest first, each to the shard with least.

    A file whose seconds nobody has noted goes where its name says, so that it moves no
    other one.
    """
    seconds = noted_seconds(root)
    shards: list[list[str]] = [[] for _ in range(count)]
    loads = [0.0] * count
    files = spark_files(root)
    for file in sorted(files, key=lambda each: -seconds.get(each, 0.0)):
        if file in seconds:
            place = loads.index(min(loads))
            loads[place] += seconds[file]
        else:
            place = crc32(file.encode()) % count
        shards[place].append(file)
    return [sorted(shard) for shard in shards]


def noted_seconds(root: Path) -> dict[str, float]:
    """Return the seconds of each file in the table."""
    noted: dict[str, float] = json.loads((root / SECONDS).read_text(encoding="utf-8"))
    return noted
