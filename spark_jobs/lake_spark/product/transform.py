"""Run a product's SQL over its inputs, and give its rows the declared types."""

from __future__ import annotations

import threading
from typing import Callable, Dict, Mapping, Optional

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lake_spec.model import ProductPlan, ProductTable
from lake_spec.text.marked_values import unmarked
from lake_spec.text.sql_text import sql_identifier
from lake_spark.errors import ProductMismatch, first_line
from lake_spark.schema.key_text import key_text
from lake_spark.product.input_table import InputTable
from lake_spark.product.units import of_units, semi_join
from lake_spark.scd2.events import KEY
from lake_spark.schema.columns import typed
from lake_spark.schema.promotion import widens
from lake_spark.schema.spark_types import typed_names, with_types
from lake_spark.storage.spec_sql import select

_VIEWS = threading.Lock()
"""Products of one step have views of the same names in one session, one at a time."""


def rows_of(
    spec: ProductTable, plan: ProductPlan, views: Mapping[str, DataFrame]
) -> DataFrame:
    """Return the product's rows over these views: its columns as declared, and `lake_key`.

    With columns that tell rows without a match (ProductPlan.time_joins).
    """
    spark = next(iter(views.values())).sparkSession
    return _as_declared(spec, plan, _select(spark, spec, plan, views))


def views_of(
    plan: ProductPlan,
    inputs: Mapping[str, InputTable],
    units: Optional[DataFrame],
    keep: Callable[[DataFrame], DataFrame],
) -> Dict[str, DataFrame]:
    """Return the rows of each input, or only those that these units follow from.

    `keep` caches rows that are looked at more than once.
    """
    rows = {view: table.rows() for view, table in inputs.items()}
    if units is None:
        return rows
    rows[plan.driver] = of_units(rows[plan.driver], units, plan.unit)
    if plan.lookups and plan.driver_columns:
        names = dict.fromkeys((*plan.unit, *plan.driver_columns))
        rows[plan.driver] = rows[plan.driver].select(*map(sql_identifier, names))
    if plan.lookups:
        rows[plan.driver] = keep(rows[plan.driver])
    for lookup in plan.lookups:
        pairs = {each.other: each.column for each in lookup.on}
        rows[lookup.view] = semi_join(
            rows[lookup.view], rows[lookup.other], pairs, Column.__eq__
        )
    return rows


def _select(
    spark: SparkSession,
    spec: ProductTable,
    plan: ProductPlan,
    views: Mapping[str, DataFrame],
) -> DataFrame:
    """Analyse the SQL; what it becomes no longer needs the views."""
    with _VIEWS:
        for view, rows in views.items():
            # As another plan: with a view Spark forgets what is cached of its own plan.
            rows.where(F.lit(True)).createOrReplaceTempView(view)
        try:
            return select(spark, plan.sql, views, spec.full_name)
        except AnalysisException as error:
            tables = ", ".join(f"{e.table} {e.layer.value}" for e in plan.inputs)
            raise ProductMismatch(
                f"{spec.full_name}: its SQL does not fit the columns that its inputs have "
                f"({tables}): {unmarked(first_line(error))}. Correct the SQL, or load the columns "
                "that it lacks."
            ) from error
        finally:
            for view in views:
                spark.catalog.dropTempView(view)


def _as_declared(spec: ProductTable, plan: ProductPlan, rows: DataFrame) -> DataFrame:
    columns = [(name, column.type) for name, column in spec.columns]
    declared = typed(columns)
    found = {name.lower(): kind for name, kind in typed_names(rows.schema)}
    missing = [name for name, _ in declared if name.lower() not in found]
    if missing:
        raise ProductMismatch(
            f"{spec.full_name}: its SQL makes no column {missing[0]!r}, only "
            f"{', '.join(found)}. Correct the SQL, or `columns` of the spec."
        )
    valued = [(n, kind) for n, kind in declared if found[n.lower()].name != "void"]
    for name, kind in valued:
        made = found[name.lower()].stored
        if not widens(made, kind):
            raise ProductMismatch(
                f"{spec.full_name}: column {name!r} is {made.text} in its SQL and "
                f"{kind.text} in the spec, which does not hold every {made.text}. Declare "
                f"{made.text}, or write CAST(... AS {kind.text}) in the SQL."
            )
    told = [each.column for each in plan.time_joins]
    kept = [*(name for name, _ in valued), *told]
    shown = rows.select([F.col(f"`{name}`").alias(name) for name in kept])
    kinds = dict(columns)
    key = key_text([(name, kinds[name]) for name in spec.key])
    names = [sql_identifier(name) for name, _ in columns]
    return with_types(shown, declared).selectExpr(*names, f"{key} AS {KEY}", *told)
