"""Small tables that get a few changes in each of many runs, next to the oracle."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Dict, Iterator, List

from pyspark.sql import SparkSession

from lake_spec.model import HUDI_TYPES, Rule
from lake_spark.ingest.reprocess import Selection
from tests.oracle.histories import Features, Landing, landing, values_in_path
from tests.oracle.landing_files import file_text
from tests.oracle.oracle import Delivery
from tests.oracle.playing import Play, World
from tests.oracle.tables import SPECS
from tests.soak.measures import CountedStore

FEATURES = Features(placeholders=True)
OLD_KEYS = 3
"""So many earlier histories get changes in a run too."""


def tables_of(
    spark: SparkSession, root: Path, seed: int, count: int, store: CountedStore
) -> "List[SoakTable]":
    """So many tables of all kinds, each in a lake of its own; they share the store."""
    names = [(name, kind) for kind in HUDI_TYPES for name in SPECS]
    chosen = [names[n % len(names)] for n in range(count)]
    return [
        SoakTable(
            spark, root / f"lake{n}", World(name, seed + n, range(1)), kind, store
        )
        for n, (name, kind) in enumerate(chosen)
    ]


class SoakTable(Play):
    """One table of random histories that never ends."""

    def __init__(self, spark, root, world, kind, store) -> None:  # type: ignore
        super().__init__(spark, root, world, kind)
        self.lake.store = store
        self.landing = Landing({}, {})
        self.erased: set = set()

    def land(self, number: int) -> None:
        """Land the changes of run `number`: a new history, and more of old ones."""
        random = Random(f"{self.world.seed}/{number}")
        old = [random.randrange(number + 1) for _ in range(OLD_KEYS)]
        events = self._changes(self.world.seed, [number])
        events += self._changes(self.world.seed + 7919 * (number + 1), sorted({*old}))
        files: Dict[str, List[Delivery]] = {}
        for each in events:
            path = each.path.replace("changes/", f"changes/{number:05}/", 1)
            records = files.setdefault(path, [])
            values = {**each.values, **values_in_path(self.world.spec, path)}
            record = len(records) + 1
            records.append(replace(each, path=path, record=record, values=values))
        for path, records in files.items():
            text = file_text(self.lake.spec, records)
            self.lake.land(path, text, at="2026-02-01")
        self.landing = Landing({**self.landing.files, **files}, {})

    def _changes(self, seed: int, numbers: List[int]) -> List[Delivery]:
        made = landing(self.world.spec, seed, numbers, FEATURES).deliveries()
        return [each for each in made if each.path.startswith("changes/")]

    def let_an_hour_pass(self) -> None:
        """Make what the table has noted of its files an hour older."""
        for path in self.lake.root.rglob("inputs/**/*"):
            if path.is_file():
                seconds = path.stat().st_mtime - timedelta(hours=1).total_seconds()
                os.utime(path, (seconds, seconds))

    def reprocess(self) -> None:
        """Take a file again, as it is."""
        path = sorted(self.landing.files)[0]
        again = Selection((path,), False, True)
        report = self.lake.run("reprocess", selection=again)
        assert report.error is None, report.error
        self.lake.done("scd2")

    def erase(self) -> None:
        """Erase a key, if its parts can be written as JSON."""
        spec = self.lake.spec
        keys = [e.key for each in self.landing.files.values() for e in each if e.key]
        whole = [k for k in keys if all(type(part) in (int, str) for part in k)]
        if not whole or len(spec.key) != len(whole[0]):
            return
        uri = self.lake.root / "runs/erase/tests/request.json"
        (self.lake.root / "secret").write_text("a secret of the soak")
        uri.parent.mkdir(parents=True, exist_ok=True)
        asked = {spec.name: [dict(zip(spec.key, whole[0]))]}
        uri.write_text(json.dumps({"keys": asked}))
        report = self.lake.run("erase", request_uri=f"file://{uri}")
        assert report.error is None, report.error
        self.erased.add(whole[0])

    def rename(self) -> None:
        """Give the table another name: it goes on where it is."""
        spec = self.lake.spec
        self.lake.spec = replace(spec, name="parts", formerly=spec.full_name)
        self.lake.domain = (self.lake.spec,)

    def add_rule(self) -> None:
        """Judge rows from now on by a rule that none of them breaks."""
        rule = Rule(column=self.lake.spec.key[0], not_null=True)
        quality = (*self.lake.spec.quality, rule)
        self.lake.spec = replace(self.lake.spec, quality=quality)
        self.lake.domain = (self.lake.spec,)

    def differing(self) -> "Iterator[str]":  # type: ignore[override]
        """A line for each history whose rows are not the oracle's."""
        files = {
            path: [e for e in each if e.key not in self.erased]
            for path, each in self.landing.files.items()
        }
        self.landing = Landing(files, {})
        for number, (made, wanted) in super().differing(list(files)):
            yield f"{self.lake.root.name} {self.world.name} {number}: {made} {wanted}"
