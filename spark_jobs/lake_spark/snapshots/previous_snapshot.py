"""What was known as of the snapshot before, for the next one to be compared with."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from lake_spark.changelog import retractions
from lake_spark.changelog.schema import LogColumn, UPSERT
from lake_spark.landing.ingested_files import IngestedFiles
from lake_spark.materialize.layers import living_rows
from lake_spark.reading.repeated_keys import identity
from lake_spark.scd2.events import KEY, Roles
from lake_spark.scd2.order import newest_first
from lake_spark.schema.columns import Columns, typed
from lake_spark.schema.spark_types import with_types
from lake_spark.snapshots.derived_events import BEFORE, KNOWN
from lake_spark.snapshots.source_snapshot import SourceSnapshot, scope_text
from lake_spark.storage.commit_values import CommitValue
from lake_spark.tables.table_run import SnapshotRun


def before(
    run: SnapshotRun,
    snapshot: SourceSnapshot,
    columns: Columns,
    ingested: IngestedFiles,
) -> DataFrame:
    """Return rows as of the snapshot before: lake_key, the columns, KNOWN and BEFORE.

    Current knows only what lives and, of a key that several scope values have,
    only one row: so tables with a scope or an effective time ask the log. So does
    a reprocess, which keeps current from what it takes again, and a table whose current
    is behind the log, because checks stopped its commit.
    """
    if not run.log.has_data():
        return _nothing(run, columns)
    newest = run.log.last_instant(CommitValue.INPUTS)
    is_behind = run.current.last_value(CommitValue.LOG_INSTANT) != newest
    if run.spec.scope or run.spec.effective_at or ingested.reprocess or is_behind:
        return _by_log(run, snapshot, columns, ingested)
    return _by_current(run, columns)


def _nothing(run: SnapshotRun, columns: Columns) -> DataFrame:
    kinds = [(KEY, "string"), *columns, (KNOWN, "boolean"), (BEFORE, "timestamp")]
    schema = ", ".join(f"`{name}` {kind}" for name, kind in kinds)
    return run.spark.createDataFrame([], schema)


def _by_current(run: SnapshotRun, columns: Columns) -> DataFrame:
    return with_types(living_rows(run), typed(columns)).select(
        KEY,
        *[name for name, _ in columns],
        F.lit(True).alias(KNOWN),
        F.lit(None).cast("timestamp").alias(BEFORE),
    )


def _by_log(
    run: SnapshotRun,
    snapshot: SourceSnapshot,
    columns: Columns,
    ingested: IngestedFiles,
) -> DataFrame:
    """Return the last event of each identity, also of those that are gone."""
    spec, names = run.spec, [name for name, _ in columns]
    log = with_types(retractions.live_log(run.log.read(), ingested), typed(columns))
    if spec.scope:
        log = log.where(scope_text(spec).isin(list(snapshot.scopes)))
    roles = Roles.of(spec, names)
    newest = Window.partitionBy(*identity(spec)).orderBy(*newest_first(roles))
    is_upsert = F.col(LogColumn.OP) == UPSERT
    declared = F.lit(None) if spec.effective_at is None else F.col(spec.effective_at)
    declared = declared.cast("timestamp")
    # A delete has no values: its key was last seen in the event before.
    seen = F.when(is_upsert, declared).otherwise(F.lead(declared).over(newest))
    return (
        log.withColumn("lake_recency", F.row_number().over(newest))
        .withColumn(BEFORE, seen)
        .where("lake_recency = 1")
        .select(KEY, *names, is_upsert.alias(KNOWN), BEFORE)
    )
