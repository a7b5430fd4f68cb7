"""From a request to a DataFrame: which rows, which columns, in which order."""

from __future__ import annotations

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType

from lake_local.show import plain, timeline
from lake_local.show.columns import no_column, shown
from lake_local.show.request import Layer, QueryRefused, Request, Validity

KEY, COMMIT = "_hoodie_record_key", "_hoodie_commit_time"
CHANGE = "change"


def rows(spark: SparkSession, request: Request) -> DataFrame:
    """Return the rows that are asked for; QueryRefused says why there is no answer."""
    found = _snapshot(spark, request)
    if request.valid:
        found = valid_at(found, request.valid)
    if request.where:
        found = _where(found, request.where)
    if request.count:
        return found
    names = shown(found.columns, request)
    return _ordered(found, request).select(*map(_column, names))


def valid_at(history: DataFrame, validity: Validity) -> DataFrame:
    """Return the versions that are valid at a time: from <= it < to, without deletes."""
    at = F.lit(validity.at).cast("timestamp")
    ends = _column(validity.valid_to)
    return history.where(
        (_column(validity.valid_from) <= at)
        & (ends.isNull() | (ends > at))
        & ~F.coalesce(_column(validity.is_deleted), F.lit(False))
    )


def changed(before: DataFrame | None, after: DataFrame, since: str) -> DataFrame:
    """Return what became of rows since a commit: inserted, updated and deleted ones."""
    touched = after.where(F.col(COMMIT) > since)
    if before is None:
        return touched.withColumn(CHANGE, F.lit("insert"))
    keys = before.select(F.col(KEY).alias("lake_before"))
    changed = touched.join(keys, F.col(KEY) == F.col("lake_before"), "left").withColumn(
        CHANGE,
        F.when(F.col("lake_before").isNull(), "insert").otherwise("update"),
    )
    gone = before.join(after.select(KEY), KEY, "left_anti")
    gone = gone.withColumn(CHANGE, F.lit("delete"))
    return changed.drop("lake_before").unionByName(gone, allowMissingColumns=True)


def live(changes: DataFrame) -> DataFrame:
    """Return the rows of a change log without retracted ones."""
    retracts = F.col("lake_op") == "retract"
    last = F.max(COMMIT).alias("lake_retracted_at")
    retracted = changes.where(retracts).groupBy("lake_path").agg(last)
    taken = changes.where(~retracts).join(retracted, "lake_path", "left")
    kept = F.coalesce(F.col(COMMIT) >= F.col("lake_retracted_at"), F.lit(True))
    return taken.where(kept).select(changes.columns)


def _snapshot(spark: SparkSession, request: Request) -> DataFrame:
    if request.is_plain:
        return plain.rows(spark, request)
    if request.between:
        return _between(spark, request, *request.between)
    if request.as_of:
        commits = timeline.read(spark, request.table, request.path)
        commits.require_readable(request.as_of)
    return _load(spark, request, request.as_of)


def _between(
    spark: SparkSession, request: Request, since: str, until: str
) -> DataFrame:
    commits = timeline.read(spark, request.table, request.path)
    commits.require_readable(until)
    after = _load(spark, request, until)
    if commits.is_before_all(since):
        return changed(None, after, since)
    commits.require_readable(since)
    return changed(_load(spark, request, since), after, since)


def _load(spark: SparkSession, request: Request, as_of: str | None) -> DataFrame:
    reader = spark.read.format("hudi")
    if as_of:
        reader = reader.option("as.of.instant", as_of)
    found = reader.load(request.path)
    return live(found) if request.layer == Layer.CHANGES.value else found


def _where(found: DataFrame, condition: str) -> DataFrame:
    try:
        chosen = F.expr(condition)
        kind = found.select(chosen).schema.fields[0].dataType
    except ParseException as error:
        raise QueryRefused(
            f"--where: not a valid condition: {condition!r}: {_first(error)}. Write one"
            " condition in Spark SQL."
        ) from None
    except AnalysisException as error:
        raise QueryRefused(
            f"--where {condition!r}: {_unresolved(error, found)}"
        ) from None
    if not isinstance(kind, BooleanType):
        raise QueryRefused(
            f"--where: {condition!r} is a value of type {kind.simpleString()}, not a"
            " condition. Compare it, as in \"name = 'Ana'\"."
        )
    return found.where(chosen)


def _ordered(found: DataFrame, request: Request) -> DataFrame:
    """Sort by key and start of validity, so that the same query has one result."""
    order = [_column(name) for name in request.order if name in found.columns]
    if not order:
        return found
    ordered = found.orderBy(*order)
    return ordered.limit(request.limit + 1) if request.limit else ordered


def _unresolved(error: AnalysisException, found: DataFrame) -> str:
    parameters = error.getMessageParameters() or {}
    name = parameters.get("objectName", "").strip("`")
    return no_column(name, found.columns) if name else _first(error)


def _first(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


def _column(name: str) -> Column:
    return F.col("`" + name.replace("`", "``") + "`")
