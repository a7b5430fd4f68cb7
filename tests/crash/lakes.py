"""The lakes: one that nobody kills, and copies of its states.

It is played to its end once: a full load, then three times change files with
bad rows, late events and copies of files. What was killed must come to the same.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections import Counter
from dataclasses import replace
from functools import reduce
from pathlib import Path
from random import Random
from typing import Dict, List, Optional, Tuple

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lake_spec.model import Engine, Maintenance
from lake_spec.report import Report
from lake_spark.hudi_table import without_hudi_columns
from tests.crash.comparison import Tables
from tests.crash.stages import Kind, Stage
from tests.crash.watch import Watch
from tests.oracle.histories import Features, landing
from tests.oracle.landing_files import file_text
from tests.oracle.tables import SPECS
from tests.spark.lake import Lake, stored, table
from tests.spark.streaming import stream

SPEC = table(SPECS["plain"])
NEVER = 1000
IDLE = {"compact_after": NEVER, "cluster_after": NEVER, "keep_commits": NEVER}
COMPACT = {"compact_after": 1, "cluster_after": 2}
ALL_UPKEEP = {**COMPACT, "keep_commits": 1}
"""What makes each kind of maintenance due, or none."""


def open_lake(
    spark: SparkSession, root: Path, kind: Kind, upkeep: Dict[str, int]
) -> Lake:
    """The lake below a folder, with only this upkeep ever due."""
    due = Maintenance(**{**IDLE, **upkeep})
    spec = replace(stored(SPEC, type=kind.type), engine=kind.engine, maintenance=due)
    return Lake(spark, root, spec)


def run_stage(lake: Lake, stage: str) -> Report:
    """Run a stage that must not fail, after its streamer step if it has one."""
    if lake.spec.engine is Engine.STREAMER and stage in ("full_load", "incremental"):
        scratch = lake.root.with_name(f"{lake.root.name}-streamer")
        scratch.mkdir(exist_ok=True)
        stream(lake, stage, scratch)
    return lake.done(stage)[0]


def rows_of(lake: Lake) -> Tables:
    """All that must be the same, however often it was killed.

    But for the run of a quarantined row: that may be the one that was killed,
    or the one after it.
    """
    tables = lake.tables
    layers = {
        name: getattr(tables, name) for name in ("current", "history", "quarantine")
    }
    layers = {"changes": tables.log, **layers}
    found: Tables = {name: Counter() for name in layers}
    times = {"timestampFormat": "yyyy-MM-dd HH:mm:ss.SSSSSS"}
    parts = []
    for name, layer in layers.items():
        if layer.has_data():
            rows = without_hudi_columns(layer.read()).drop("lake_run")
            text = F.to_json(F.struct(*sorted(rows.columns)), times)
            parts.append(rows.select(F.lit(name), text))
    if parts:
        for name, text in reduce(lambda one, other: one.union(other), parts).collect():
            found[name][text] += 1
    return found


class Undisturbed:
    """The lake that nobody kills: a copy and the rows of each of its states."""

    def __init__(self, spark: SparkSession, home: Path, kind: Kind, seed: int) -> None:
        self.kind = kind
        self.rows: Dict[str, Tables] = {}
        self._spark = spark
        self._home = home
        self._watches: Dict[Tuple[str, str], Watch] = {}
        files = landing(SPEC, seed, list(range(30)), Features(bad_rows=True)).files
        self._texts = {path: file_text(SPEC, files[path]) for path in files}
        changes = sorted(path for path in files if not path.startswith("load/"))
        Random(seed).shuffle(changes)
        self._loads = sorted(set(files) - set(changes))
        self._changes = [changes[i::3] for i in range(3)]
        self._play(self.lake(home / "lake"))

    def lake(self, root: Path, upkeep: Optional[Dict[str, int]] = None) -> Lake:
        """A lake of this kind below the folder."""
        return open_lake(self._spark, root, self.kind, upkeep or {})

    def _play(self, lake: Lake) -> None:
        self._land(lake, self._loads)
        self._watched(lake, "landed", "full_load")
        self._watched(lake, "loaded", "scd2")
        self._keep(lake, "recorded")
        self._land(lake, self._changes[0])
        self._take_in(lake)
        self.lake(lake.root, COMPACT).done("maintenance")
        self._land(lake, self._changes[1])
        self._watched(lake, "changed", "incremental")
        self._watched(lake, "taken in", "scd2")
        self._keep(lake, "built")
        self.go_on(lake)
        self.rows["gone on"] = rows_of(lake)

    def go_on(self, lake: Lake) -> None:
        """What comes after: the last change files."""
        self._land(lake, self._changes[2])
        self._take_in(lake)

    def _take_in(self, lake: Lake) -> None:
        for stage in ("incremental", "scd2"):
            run_stage(lake, stage)

    def _land(self, lake: Lake, paths: List[str]) -> None:
        for path in paths:
            lake.land(path, self._texts[path], at="2026-02-01")

    def _watched(self, lake: Lake, state: str, stage: str) -> None:
        self._keep(lake, state)
        self._watches[state, stage] = watched(lake, stage)

    def _keep(self, lake: Lake, state: str) -> None:
        shutil.copytree(lake.root, self._home / state)
        self.rows[state] = rows_of(lake)

    def copy(self, state: str, root: Path) -> None:
        """The lake as it was in that state, in a folder of its own."""
        shutil.copytree(self._home / state, root)

    def changes(self, stage: Stage) -> int:
        """How many changes the stage makes when nobody kills it."""
        name = stage.name if stage.runs == "maintenance" else stage.runs
        if (stage.begins_with, name) not in self._watches:
            root = self._home / name
            self.copy(stage.begins_with, root)
            lake = self.lake(root, stage.upkeep)
            self._watches[stage.begins_with, name] = watched(lake, stage.runs)
        return stage.counted(self._watches[stage.begins_with, name])


def watched(lake: Lake, stage: str) -> Watch:
    """Run a stage and count the changes that it makes."""
    watch, ended = Watch(str(lake.root)), threading.Event()

    def look() -> None:
        while not ended.is_set():
            watch.look()
            time.sleep(0.001)  # the stage needs the core too

    looking = threading.Thread(target=look)
    looking.start()
    try:
        run_stage(lake, stage)
    finally:
        ended.set()
        looking.join()
    watch.look()
    return watch
