"""When values are equal: typed, null-safe and structural. Contract sections 3 and 5."""

from __future__ import annotations

from typing import Dict, Iterable, List, Sequence, Set

from pyspark.sql import Column, DataFrame, WindowSpec
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from lake_spec.model.column_type import ColumnType
from lake_spec.text.sql_text import sql_identifier
from lake_spark.schema.casts import Conversion
from lake_spark.schema.promotion import with_floats
from lake_spark.schema.spark_types import column_type


def comparable(rows: DataFrame, names: Iterable[str]) -> List[Column]:
    """Return columns in a form that equality is defined on: maps as sorted entries.

    They keep their names.
    """
    kinds = {field.name: field.dataType for field in rows.schema.fields}
    return [_comparable(F.col(name), name, kinds[name]) for name in names]


def _comparable(value: Column, name: str, kind: DataType) -> Column:
    sorted_value = _with_sorted_maps(value, kind)
    return value if sorted_value is value else sorted_value.alias(name)


def _with_sorted_maps(column: Column, kind: DataType) -> Column:
    if "map<" not in kind.simpleString():
        return column
    if isinstance(kind, ArrayType):
        return F.transform(
            column, lambda each: _with_sorted_maps(each, kind.elementType)
        )
    if isinstance(kind, StructType):
        fields = [
            _with_sorted_maps(column[field.name], field.dataType).alias(field.name)
            for field in kind.fields
        ]
        return F.when(column.isNotNull(), F.struct(*fields))
    assert isinstance(kind, MapType), kind
    return F.array_sort(
        F.transform(
            F.map_entries(column),
            lambda entry: F.struct(
                entry["key"].alias("key"),
                _with_sorted_maps(entry["value"], kind.valueType).alias("value"),
            ),
        )
    )


def same_as_floats(
    rows: DataFrame, order: WindowSpec, tracked: Sequence[str], paths: Sequence[str]
) -> Column:
    """Return whether a row has the values of the row before it in the order.

    Doubles are compared as floats where either row's was one (`lake_narrow`):
    a source that widens them sends 0.1 as 0.10000000149011612, or with digits that
    no float has, and neither is a change.
    """
    by_column: Dict[str, Set[str]] = {}
    for path in paths:
        by_column.setdefault(path.split(".")[0], set()).add(path)
    narrow = [name for name in tracked if name in by_column]
    others = comparable(rows, [name for name in tracked if name not in narrow])
    same = _as_before(F.struct(F.col("lake_op"), *others), order)
    marks = F.concat_ws(",", "lake_narrow", F.lag("lake_narrow").over(order))
    for name in narrow:
        is_repeated = F.arrays_overlap(
            F.split(marks, ","), F.array(*map(F.lit, sorted(by_column[name])))
        )
        (value,) = comparable(rows, [name])
        exact = _as_before(value, order)
        same &= exact | (
            is_repeated & _as_before(_as_float(rows, name, by_column[name]), order)
        )
    return same


def _as_before(value: Column, order: WindowSpec) -> Column:
    return value.eqNullSafe(F.lag(value).over(order))


def _as_float(rows: DataFrame, name: str, paths: Set[str]) -> Column:
    kind: ColumnType = column_type(rows.schema[name].dataType)
    text = Conversion().value(
        sql_identifier(name), kind, with_floats(kind, paths, name)
    )
    value = F.expr(text)
    floats = rows.select(value.alias(name))
    return _with_sorted_maps(value, floats.schema[name].dataType)
