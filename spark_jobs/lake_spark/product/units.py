"""Which units of a product what changed in its inputs may have changed.

A unit is the values of some columns of the driving input: its key, or the columns that
rows are grouped by. All rows of the product that show a unit follow from the rows of the
driver that have it, and from what these are joined with.
"""

from __future__ import annotations

import re
from functools import reduce
from typing import Callable, Dict, List, Mapping, Optional, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lake_spec.model import Layer, Lookup, ProductPlan, ProductTable
from lake_spark import java
from lake_spark.product.input_table import BuildWhole, InputTable, Pin
from lake_spark.scd2.events import KEY

_OTHER = "lake_other_"
_STEP = re.compile(r"^[ :|+-]*(\w+)", re.MULTILINE)
_ONE_ROW_OF_ONE = {
    *("Project", "Filter", "SubqueryAlias", "View", "Relation", "LogicalRDD"),
    "LocalRelation",
}
"""Steps of Spark's plans that make at most one row of each."""


def changed_units(
    plan: ProductPlan,
    inputs: Mapping[str, InputTable],
    since: Mapping[str, Pin],
    keep: Callable[[DataFrame], DataFrame],
) -> Optional[DataFrame]:
    """Return the values of `plan.unit` that may show other rows now; None if none may.

    `since` has by the name of an input the commit that the product was built from. `keep`
    caches keys before they are joined with all rows of a table. Raise BuildWhole where
    that cannot be known.
    """
    changed = _changed_keys(inputs, since)
    units = []
    # Backwards: a lookup that leads over another one changes what that one shows.
    for lookup in reversed(plan.lookups):
        if lookup.view not in changed:
            continue
        keys = keep(changed[lookup.view])
        met = _rows_that_meet(inputs[lookup.other], lookup, keys)
        if lookup.other == plan.driver:
            units.append(met.select(*plan.unit))
        else:
            key = met.select(KEY, *inputs[lookup.other].used.key)
            changed[lookup.other] = _union(changed.get(lookup.other), key)
    if plan.driver in changed:
        driver = inputs[plan.driver]
        keys = changed[plan.driver]
        units += _units_of(plan, driver, keys, since[driver.name], keep)
    return reduce(DataFrame.union, units).distinct() if units else None


def has_keys_of_its_driver(
    spec: ProductTable, plan: ProductPlan, rows: DataFrame
) -> bool:
    """Return whether no two rows can have one key, for no two rows of the driver have.

    So it is where each row is made of one row of a current table, which makes no other
    one, and shows that row's key as a part of its own. That no two rows of that table
    have one key is for its own commits to see.
    """
    if not (plan.is_row_by_row and set(plan.unit_columns) <= set(spec.key)):
        return False
    if plan.input(plan.driver).layer is not Layer.CURRENT:
        return False
    plan_of_rows = java.frame(rows).queryExecution().analyzed().toString()
    return set(_STEP.findall(plan_of_rows)) <= _ONE_ROW_OF_ONE


def _changed_keys(
    inputs: Mapping[str, InputTable], since: Mapping[str, Pin]
) -> Dict[str, DataFrame]:
    found = {}
    for view, table in inputs.items():
        if table.name not in since:
            raise BuildWhole(f"it was not built from {table.name} before")
        keys = table.changed_keys(since[table.name])
        if keys is not None:
            found[view] = keys
    return found


def _union(one: Optional[DataFrame], other: DataFrame) -> DataFrame:
    return other if one is None else one.unionByName(other)


def _rows_that_meet(table: InputTable, lookup: Lookup, keys: DataFrame) -> DataFrame:
    """Return the rows that are joined with one of those keys: equal as SQL has it."""
    pairs = {each.column: each.other for each in lookup.on}
    return semi_join(table.rows(), keys, pairs, Column.__eq__)


def _units_of(
    plan: ProductPlan,
    driver: InputTable,
    keys: DataFrame,
    since: Pin,
    keep: Callable[[DataFrame], DataFrame],
) -> List[DataFrame]:
    """Return the units that changed keys of the driver have, or had."""
    if set(plan.unit) <= set(driver.used.key):
        return [keys.select(*plan.unit)]
    if not driver.is_readable(since):
        raise BuildWhole(
            f"files of commit {since.commit} of {driver.name}, from which it was built, "
            "were cleaned"
        )
    keys = keep(keys.select(KEY).distinct())
    states = (driver.rows(), driver.rows(since))
    return [rows.join(keys, KEY, "left_semi").select(*plan.unit) for rows in states]


def of_units(rows: DataFrame, units: DataFrame, columns: Sequence[str]) -> DataFrame:
    """Return the rows that show one of these units in those columns, null as a value."""
    pairs = dict(zip(units.columns, columns))
    return semi_join(rows, units, pairs, Column.eqNullSafe)


def semi_join(
    rows: DataFrame,
    others: DataFrame,
    pairs: Mapping[str, str],
    same: Callable[[Column, Column], Column],
) -> DataFrame:
    """Return the rows whose columns are the `same` as those of another row.

    `pairs` has by a column of the others that of the rows.
    """
    named = others.select([F.col(f"`{n}`").alias(f"{_OTHER}{n}") for n in pairs])
    conditions = [
        same(F.col(f"`{ours}`"), F.col(f"`{_OTHER}{other}`"))
        for other, ours in pairs.items()
    ]
    return rows.join(named, reduce(Column.__and__, conditions), "left_semi")
