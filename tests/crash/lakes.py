"""The lakes that stages run in, and their rows."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import replace
from datetime import datetime, timezone
from functools import lru_cache, reduce
from pathlib import Path
from typing import Dict, Sequence

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lake_spec.model import Engine, Maintenance, Snapshot, TableSpec, TableType
from lake_spec.state.report import Report
from lake_spark.changelog import retractions
from lake_spark.storage.hudi_table import without_hudi_columns
from lake_spark.tables.table_run import Window
from tests.crash.comparison import Tables
from tests.crash.kinds import Kind, Source
from tests.crash.landings import CORRECTED, spec_of
from tests.crash.stages import LAYERS
from tests.spark import shop
from tests.spark.erasing import ask, request_file
from tests.spark.lake import Lake, stored
from tests.spark.stall import Stall
from tests.spark.streaming import stream

NEVER = 1000
IDLE = {"compact_after": NEVER, "cluster_after": NEVER, "keep_commits": NEVER}
COMPACT = {"compact_after": 1, "cluster_after": 2}
ALL_MAINTENANCE = {"compact_after": 1, "cluster_after": 1, "keep_commits": 1}
"""What makes each kind of maintenance due, or none."""

SECOND_SNAPSHOT = "2026-01-02"


def open_lake(
    spark: SparkSession, root: Path, kind: Kind, maintenance: Dict[str, int]
) -> Lake:
    """The lake below a folder, with only this maintenance ever due."""
    due = Maintenance(**{**IDLE, **maintenance})
    if kind.source is Source.DIMENSION:
        is_merged = kind.type is TableType.MERGE_ON_READ
        name = "dim_merged" if is_merged else "dim_customer"
        lakes = shop.Shop(spark, root, domain()).redefined(name, maintenance=due).lakes
        return lakes[name]
    if kind.source is Source.PRODUCT:
        return open_stall(spark, root, kind, due).lakes["enriched"]
    spec = stored(spec_of(kind.source), type=kind.type)
    return Lake(spark, root, replace(spec, engine=kind.engine, maintenance=due))


def open_stall(
    spark: SparkSession, root: Path, kind: Kind, due: Maintenance = Maintenance(**IDLE)
) -> Stall:
    """The lakes of a product and its tables, which are stored as it is."""
    stall = Stall(spark, root, ["enriched"])
    stall.store_as(kind.type)
    for name in stall.lakes:
        stall.redefine(name, maintenance=due)
    return stall


@lru_cache(maxsize=None)
def domain() -> Sequence[TableSpec]:
    """The tables of the dimensions."""
    with tempfile.TemporaryDirectory() as folder:
        return shop.domain_of(Path(folder))


def run_stage(lake: Lake, stage: str) -> Report:
    """Run a stage that must not fail, after its streamer step if it has one."""
    if lake.spec.engine is Engine.STREAMER and stage in ("full_load", "incremental"):
        scratch = lake.root.with_name(f"{lake.root.name}-streamer")
        scratch.mkdir(exist_ok=True)
        stream(lake, stage, scratch)
    own = {"request_uri": _request(lake)} if stage == "erase" else {}
    report = lake.run(stage, window=_window(lake, stage), **own)
    assert report.error is None, report.error
    return report


def _window(lake: Lake, stage: str) -> Window:
    """What a reprocess chooses: the corrected files, or the snapshots from one on."""
    if stage != "reprocess":
        return Window()
    is_snapshot = isinstance(lake.spec.source, Snapshot)
    first = datetime.fromisoformat(SECOND_SNAPSHOT if is_snapshot else CORRECTED)
    return Window(first.replace(tzinfo=timezone.utc))


def _request(lake: Lake) -> str:
    """To erase the first key that lives; the same when it is run again."""
    if not request_file(lake).is_file():
        first = lake.current.select(*lake.spec.key).orderBy(*lake.spec.key).first()
        return ask(lake, {name: str(value) for name, value in first.asDict().items()})
    return f"file://{request_file(lake)}"


def rows_of(lake: Lake) -> Tables:
    """All that must be the same, however often it was killed.

    But for the run of a quarantined row: that may be the one that was killed,
    or the one after it. Of the change log those rows that count.
    """
    tables = lake.tables
    found: Tables = {name: Counter() for name in LAYERS}
    times = {"timestampFormat": "yyyy-MM-dd HH:mm:ss.SSSSSS"}
    parts = []
    for name in LAYERS:
        if name not in (*tables.layers, "quarantine"):
            continue
        layer = tables.table(name)
        if layer.has_data():
            rows = layer.read()
            if name == "changes":
                taken = tables.ingested_files()
                rows = retractions.live(retractions.judged(rows, taken))
            rows = without_hudi_columns(rows).drop("lake_run")
            text = F.to_json(F.struct(*sorted(rows.columns)), times)
            parts.append(rows.select(F.lit(name), text))
    if parts:
        for name, text in reduce(lambda one, other: one.union(other), parts).collect():
            found[name][text] += 1
    return found
