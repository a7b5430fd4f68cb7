"""What lands in the lakes of feeds and of snapshots, and when: all from a seed."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Dict, List

from lake_spec.model import TableSpec
from tests.crash.kinds import Source
from tests.oracle.histories import Features, landing
from tests.oracle.landing_files import file_text
from tests.oracle.tables import SPECS
from tests.spark.lake import SNAPSHOTS, table

FEED = table(SPECS["plain"])
SNAPSHOT = table(SNAPSHOTS + """columns: {id: int, note: string, score: double}
key: [id]
quarantine: {max_share: 1.0}
storage: {buckets: 1}
""")
LANDED, CORRECTED = "2026-02-01", "2026-02-02"
"""When files landed, and when those that are reprocessed."""

Files = Dict[str, str]
"""Path -> text."""


@dataclass(frozen=True)
class Landings:
    """A full load, three batches that follow it, and what one file should have been."""

    loads: Files
    batches: List[Files]
    corrected: Files


def spec_of(source: Source) -> TableSpec:
    """The table that the files are for."""
    return SNAPSHOT if source is Source.SNAPSHOTS else FEED


def landings(source: Source, seed: int) -> Landings:
    """The files of a seed."""
    return _snapshots(seed) if source is Source.SNAPSHOTS else _change_files(seed)


def _change_files(seed: int) -> Landings:
    """Change files with bad rows, late events and copies of files."""
    files = landing(FEED, seed, list(range(30)), Features(bad_rows=True)).files
    texts = {path: file_text(FEED, files[path]) for path in files}
    changes = sorted(path for path in files if not path.startswith("load/"))
    Random(seed).shuffle(changes)
    wrong = changes[0]
    return Landings(
        {path: texts[path] for path in sorted(set(files) - set(changes))},
        [{path: texts[path] for path in changes[i::3]} for i in range(3)],
        {wrong: file_text(FEED, files[wrong][::2])},
    )


def _snapshots(seed: int) -> Landings:
    """Snapshots whose rows change, go, return and are bad; three in the second batch."""
    random = Random(seed)
    first, second, third, fourth, fifth, last = (
        {f"2026-01-0{day}.csv": _snapshot(random)} for day in range(1, 7)
    )
    corrected = {path: _snapshot(random) for path in second}
    waiting = {**third, **fourth, **fifth}
    return Landings(first, [second, waiting, last], corrected)


def _snapshot(random: Random) -> str:
    rows = [
        f"{id},{random.choice('abc')},{random.choice(['0.0', '-0.0', 'NaN', '', 'bad'])}\n"
        for id in range(40)
        if random.random() < 0.85
    ]
    return "".join(["id,note,score\n", *rows])
