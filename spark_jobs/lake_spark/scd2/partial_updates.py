"""Values that the source did not send: each is the one before it. Contract section 7."""

from __future__ import annotations

from typing import Dict, List, Optional, Sequence, Set

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructField, StructType

from lake_spark.changelog.not_sent import IS_ALL_BUT, is_missing, missing_paths
from lake_spark.changelog.schema import DELETE, LogColumn
from lake_spark.scd2.events import KEY, Roles
from lake_spark.scd2.key_changes import COPIED, LIFE, with_joined_lives
from lake_spark.scd2.order import total_order

UNRESOLVED = "lake_unresolved"
"""How many values of an upsert had nothing before them to be taken from."""


def with_values_before(
    events: DataFrame,
    roles: Roles,
    dropped: Sequence[str] = (),
    *,
    renamed: bool = False,
) -> DataFrame:
    """Fill values not sent with the last one before in the order; add UNRESOLVED.

    Not across a delete, but for the create of a key change, if there are any
    (`renamed`); with nothing before, the value is null. A new key has none in a
    dropped column: that is not counted.
    """
    order = Window.partitionBy(KEY).orderBy(*total_order(roles))
    so_far = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    deletes = F.sum((F.col(LogColumn.OP) == DELETE).cast("int")).over(so_far)
    lives = events.withColumn(LIFE, deletes)
    lives = with_joined_lives(lives, roles) if renamed else lives
    life = (
        Window.partitionBy(*(() if renamed else (KEY,)), LIFE)
        .orderBy(*total_order(roles))
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    missing = _not_sent(events, roles)
    names = [name for name in events.columns if name in missing]
    is_named = ~F.coalesce(F.expr(IS_ALL_BUT), F.lit(False))
    nothing = [
        (is_named & _is_missing(name) & _last(name, life).isNull()).cast("int")
        for name in names
        if name not in dropped
    ]
    is_upsert = F.col(LogColumn.OP) != DELETE
    filled = {}
    for name in names:
        kind = events.schema[name].dataType
        value = _filled(name, F.col(name), kind, life, missing[name])
        filled[name] = F.when(is_upsert, value).otherwise(F.col(name))
    unresolved = F.when(is_upsert, sum(nothing, F.lit(0)))
    whole = lives.withColumns({UNRESOLVED: unresolved, **filled})
    if renamed:
        whole = whole.where(~F.col(COPIED)).drop(COPIED)
    return whole.drop(LIFE)


def _not_sent(events: DataFrame, roles: Roles) -> Dict[str, Set[str]]:
    """Return the columns that any of the events lacks, or a part of; and which paths."""
    paths: Dict[str, str] = {}
    for field in events.schema.fields:
        if field.name in roles.values:
            paths.update({each.lower(): each for each in _paths(field)})
    lacking = F.explode(F.expr(missing_paths(list(paths)))).alias("path")
    found: Dict[str, Set[str]] = {}
    lists = events.select(LogColumn.UNAVAILABLE).distinct()  # few: records are alike
    for row in lists.select(lacking).distinct().collect():
        path = paths.get(row.path)
        if path is not None:
            found.setdefault(path.partition(".")[0], set()).add(path)
    return found


def _paths(field: StructField, above: str = "") -> List[str]:
    """Return the path of a column or field, and those of all fields inside of it."""
    path = f"{above}{field.name}"
    inner = field.dataType.fields if isinstance(field.dataType, StructType) else ()
    return [path, *(each for one in inner for each in _paths(one, f"{path}."))]


def _filled(
    path: str,
    value: Column,
    kind: DataType,
    life: WindowSpec,
    missing: Set[str],
    known: Optional[Column] = None,
) -> Column:
    """Return the value at a path: the last one that was sent, part by part."""
    known = _is_sent(path) if known is None else known
    inside = any(each.startswith(f"{path}.") for each in missing)
    if not (isinstance(kind, StructType) and inside):
        return _last_of(value, known, life)["value"]
    is_there = _last_of(value.isNotNull(), known, life)["value"]
    parts = []
    for field in kind.fields:
        at, part = f"{path}.{field.name}", value.getField(field.name)
        said = known & (value.isNull() | ~_is_missing(at))
        made = _filled(at, part, field.dataType, life, missing, said)
        parts.append(made.alias(field.name))
    return F.when(is_there, F.struct(*parts))


def _is_missing(path: str) -> Column:
    return F.expr(is_missing(path))


def _is_sent(path: str) -> Column:
    return ~_is_missing(path) & (F.col(LogColumn.OP) != DELETE)


def _last_of(value: Column, known: Column, life: WindowSpec) -> Column:
    sent = F.when(known, F.struct(value.alias("value")))
    return F.last(sent, ignorenulls=True).over(life)


def _last(name: str, life: WindowSpec) -> Column:
    return _last_of(F.col(name), _is_sent(name), life)
