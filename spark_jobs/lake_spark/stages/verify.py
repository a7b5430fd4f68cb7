"""rebuild --verify: whether both tables are what their change log makes of them.

Each table is compared with a fold of the log up to the commit that it was built
from, row by row; a product with what its SQL makes of the commits that it was built
from. Nothing is written.
"""

from __future__ import annotations

from typing import Iterator, List, Sequence

from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as F

from lake_spec.model import FileTable, ProductTable, VersionedTable
from lake_spec.state.report import State
from lake_spec.text.marked_values import quoted_value, row_value
from lake_spark.changelog import retractions
from lake_spark.errors import DiffersFromInputs, DiffersFromLog
from lake_spark.materialize import difference
from lake_spark.materialize.layers import complete_events, keep_counts, layer_of_history
from lake_spark.product.build_product import plan_of, rows_as_built
from lake_spark.product.layer import ProductLayer
from lake_spark.scd2 import fold
from lake_spark.scd2.all_key_deletes import about_all_keys
from lake_spark.scd2.current import CurrentLayer
from lake_spark.scd2.derived_table import INSERTED, Layer, REMOVED, SAME
from lake_spark.scd2.events import KEY, mark_events, Roles
from lake_spark.scd2.key_changes import with_families
from lake_spark.storage.commit_values import CommitValue
from lake_spark.storage.hudi_table import HudiTable
from lake_spark.tables import recorded_settings
from lake_spark.tables.table_run import (
    FileRun,
    ProductRun,
    Table,
    table_columns,
    TableRun,
)

SHOWN = 5
"""How many differing rows of a table are reported."""

_COPY = "lake_copy"
_PARTS = 1_000_000


def verify(run: TableRun, share: float) -> State:
    """Compare that share of all keys, 0 to 1; raise DiffersFromLog if a row differs.

    Of a product DiffersFromInputs, or InputsGone where its inputs were cleaned.
    """
    if isinstance(run.spec, ProductTable):
        return _verify_product(run.of_kind(ProductTable), share)
    return _verify_versions(run.of_kind(FileTable), share)


def _verify_versions(run: FileRun, share: float) -> State:
    recorded_settings.check_tables(run)
    columns = [name for name, _ in table_columns(run.spec, run.log)]
    layers = (
        (run.hudi("current"), CurrentLayer(run.spec, columns)),
        (run.history, layer_of_history(run, columns)),
    )
    found: List[str] = []
    for table, layer in layers:
        if table.has_data():
            folded = _folded(run, table, layer, columns, share)
            found += _faults(run, table, layer, folded, share, "its change log")
    if found:
        raise DiffersFromLog(
            f"{run.spec.full_name}: {' '.join(found)} Find out what wrote to it, then "
            f"rebuild it from the change log: the DAG {run.spec.domain}_rebuild."
        )
    keep_counts(run)
    return State.DONE


def _verify_product(run: ProductRun, share: float) -> State:
    if run.current.has_data():
        made = rows_as_built(run).where(_chosen(share))
        layer = ProductLayer(run.spec, plan_of(run))
        found = list(_faults(run, run.current, layer, made, share, "its inputs"))
        if found:
            raise DiffersFromInputs(
                f"{run.spec.full_name}: {' '.join(found)} Find out what wrote to it, then "
                f"rebuild it: the DAG {run.spec.domain}_rebuild."
            )
    keep_counts(run)
    return State.DONE


def _faults(
    run: TableRun,
    table: Table,
    layer: Layer,
    desired: DataFrame,
    share: float,
    source: str,
) -> Iterator[str]:
    """Yield in words how a table differs from the desired rows; nothing if it does not."""
    stored = difference.shaped_as(table.read(), desired).where(_chosen(share))
    identity = list(
        dict.fromkeys((*layer.record_key, *run.spec.storage.partition_by, _COPY))
    )
    # A row that is there twice differs too: only its first copy has a counterpart.
    copies = Window.partitionBy(*identity[:-1]).orderBy(F.lit(1))
    joined = difference.joined(
        desired.withColumn(_COPY, F.lit(1)),
        stored.withColumn(_COPY, F.row_number().over(copies)),
        identity,
        layer,
    )
    differing = joined.where(F.col("lake_action") != SAME).persist()
    try:
        count = differing.count()
        shown = [_shown(run, row, source) for row in _first(differing, layer, desired)]
    finally:
        differing.unpersist()
    run.say(f"{layer.name}: {count:,} rows differ from {source}")
    if count:
        more = f"; and {count - len(shown):,} more" if count > len(shown) else ""
        yield (
            f"{layer.name} differs from {source} in {count:,} row(s): "
            f"{'; '.join(shown)}{more}."
        )


def _folded(
    run: FileRun,
    table: HudiTable,
    layer: Layer,
    columns: Sequence[str],
    share: float,
) -> DataFrame:
    """Return what the log makes of the chosen keys, as of the table's commit."""
    built = table.value(CommitValue.LOG_INSTANT)
    roles = Roles.of(run.spec, columns)
    ingested = run.ingested_files()
    log = retractions.until(run.log.read(), built)
    deliveries = retractions.live(retractions.judged(log, ingested))
    chosen = deliveries.where(_chosen(share) | about_all_keys())
    if (
        ingested.contents.has_key_changes
    ):  # what a chosen key shows may follow from another's
        keys = deliveries.where(_chosen(share)).select(KEY).distinct()
        keys = with_families(keys, deliveries)
        chosen = difference.of_keys(deliveries, keys, ingested.contents)
    marked = mark_events(chosen, roles)
    folded = layer.desired(complete_events(marked, run.spec, roles, ingested.contents))
    return folded.where(_chosen(share))


def _chosen(share: float) -> Column:
    """Choose keys by their hash: a share chooses the same ones every time."""
    part = F.pmod(F.xxhash64(KEY), F.lit(_PARTS))
    return part < F.lit(round(share * _PARTS))


def _first(differing: DataFrame, layer: Layer, desired: DataFrame) -> List[Row]:
    """Return a few of them, by key, each with the names of the columns that differ."""
    names = [
        F.when(~F.col(f"new_same.{n}").eqNullSafe(F.col(f"old_same.{n}")), F.lit(n))
        for n in desired.columns
        if n not in layer.witnesses
    ]
    key = F.coalesce(f"new.{KEY}", f"old.{KEY}")
    shown = differing.select(
        "new", "old", "lake_action", F.array_compact(F.array(*names)).alias("names")
    )
    return shown.orderBy(key, *_starts(desired)).limit(SHOWN).collect()


def _starts(desired: DataFrame) -> List[Column]:
    if fold.FROM not in desired.columns:
        return []
    return [F.coalesce(f"new.{fold.FROM}", f"old.{fold.FROM}")]


def _shown(run: TableRun, row: Row, source: str) -> str:
    there = row.new or row.old
    place = [*run.spec.key]
    if fold.FROM in there and isinstance(run.spec, VersionedTable):
        place.append(run.spec.history.columns.valid_from)
    where = ", ".join(f"{name} {row_value(there[name])}" for name in place)
    if row.lake_action == INSERTED:
        return f"{where}: is missing"
    if row.lake_action == REMOVED:
        return f"{where}: {source} has no such row"
    values = [
        f"{n} is {quoted_value(row.old[n])}, not {quoted_value(row.new[n])}"
        for n in row.names
    ]
    return f"{where}: {', '.join(values)}"
