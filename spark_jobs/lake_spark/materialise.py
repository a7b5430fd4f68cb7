"""Bring current and history up to the change log."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Dict, List, Optional

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.storagelevel import StorageLevel

from lake_spec.model import Feed
from lake_spark import definition, derived, fold
from lake_spark.current import current_layer
from lake_spark.derived import Built, Layer, TouchedEvents
from lake_spark.history import history_layer
from lake_spark.hudi_table import HudiTable
from lake_spark.table_run import TableRun, table_columns


@dataclass(frozen=True)
class Pending:
    """What the log holds that a table was not built from yet."""

    since: Optional[str]
    log_instant: str


def pending(run: TableRun, table: HudiTable, *, anew: bool) -> Optional[Pending]:
    """What to build: from the whole log if anew, else if the table is behind it."""
    newest = run.log.last_instant("inputs")
    built = None if anew else table.last_value(derived.LOG_INSTANT)
    if newest is None or newest == built:
        return None
    return Pending(built, newest)


def build_current(run: TableRun, *, anew: bool = False) -> Dict[str, int]:
    """Bring current up to the log; duplicates found per landing path."""
    waiting = pending(run, run.current, anew=anew)
    if waiting is None:
        _keep_counts(run)
        return {}
    columns = [name for name, _ in table_columns(run.spec, run.log)]
    marked, keys = _marked(run, waiting, columns)
    marked = marked.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        duplicates = {}
        if may_repeat(run, waiting):
            duplicates = _duplicates(marked, waiting.since)
        layer = current_layer(run.spec, columns)
        built = _build(run, run.current, layer, marked, keys, waiting)
    finally:
        marked.unpersist()
    run.report.commits["current"] = built.instant or ""
    run.report.current_rows = built.open
    run.say(f"current has {built.open:,} rows, commit {built.instant}")
    return duplicates


def build_history(run: TableRun, *, anew: bool = False) -> bool:
    """Bring history up to the log; whether a commit was made."""
    waiting = pending(run, run.history, anew=anew)
    if waiting is None:
        _keep_counts(run)
        return False
    columns = [name for name, _ in table_columns(run.spec, run.log)]
    marked, keys = _marked(run, waiting, columns)
    layer = history_layer(run.spec, columns)
    built = _build(run, run.history, layer, marked, keys, waiting)
    run.report.commits["history"] = built.instant or ""
    run.report.versions, run.report.versions_open = built.rows, built.open
    run.report.versions_opened += built.inserted
    run.report.versions_closed += built.closed
    run.say(
        f"history has {built.rows:,} versions, {built.open:,} open, commit {built.instant}"
    )
    return True


def _marked(run: TableRun, waiting: Pending, columns: List[str]) -> tuple:
    sightings, keys = derived.sightings_of(run.log.read(), waiting.since)
    if waiting.since is not None:
        keys = keys.persist()
    return fold.mark_events(sightings, fold.Roles.of(run.spec, columns)), keys


def _build(
    run: TableRun,
    table: HudiTable,
    layer: Layer,
    marked: DataFrame,
    keys: DataFrame,
    waiting: Pending,
) -> Built:
    events = TouchedEvents(
        fold.distinct_events(marked), keys, waiting.since, waiting.log_instant
    )
    try:
        return derived.build(
            table,
            layer,
            events,
            partition_by=run.spec.storage.partition_by,
            metadata={**run.commit_metadata(), "definition": _definition(run, layer)},
            must_be_open=_living(run, layer, waiting),
        )
    finally:
        keys.unpersist()


def _living(run: TableRun, layer: Layer, waiting: Pending) -> Optional[int]:
    """How many versions must be open: the rows of current, built from the same log."""
    if layer.name != "history":
        return None
    if run.current.last_value(derived.LOG_INSTANT) != waiting.log_instant:
        return None
    return open_rows(run)


def _definition(run: TableRun, layer: Layer) -> str:
    return json.dumps(definition.of_table(run.spec, layer.name))


def may_repeat(run: TableRun, waiting: Pending) -> bool:
    """Whether rows of the log can be sightings of known events.

    Extracts after the first are compared before they enter the log.
    """
    return isinstance(run.spec.source, Feed) or waiting.since is None


def _duplicates(marked: DataFrame, since: Optional[str]) -> Dict[str, int]:
    """New sightings of events that an earlier row of the log already was."""
    new = F.lit(True) if since is None else F.col("_hoodie_commit_time") > since
    again = marked.where(new & (F.col("lake_arrival") > 1))
    return {
        row.lake_path: row["count"]
        for row in again.groupBy("lake_path").count().collect()
    }


def _keep_counts(run: TableRun) -> None:
    """Counts of tables that needed nothing, as their last commits say."""
    if run.current.has_data():
        run.report.current_rows = open_rows(run)
    if run.history.has_data():
        rows, still_open = (
            run.history.last_value(n) for n in (derived.ROWS, derived.OPEN)
        )
        run.report.versions, run.report.versions_open = int(rows or 0), int(
            still_open or 0
        )


def open_rows(run: TableRun) -> int:
    """How many rows current has, as its last commit says."""
    return int(run.current.last_value(derived.OPEN) or 0)
