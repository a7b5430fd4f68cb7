"""Spark's own types as the trees that widening and conversion work on."""

from __future__ import annotations

from typing import List, Sequence, Tuple

from pyspark.sql import DataFrame
from pyspark.sql.functions import expr
from pyspark.sql.types import ArrayType, DataType, DecimalType, MapType, StructType

from lake_spec.model.column_type import ColumnType
from lake_spec.text.sql_text import sql_identifier
from lake_spark.schema.casts import Conversion

Typed = Tuple[str, ColumnType]


def column_type(kind: DataType) -> ColumnType:
    """Return the tree of a Spark type, fields spelled as Spark has them."""
    if isinstance(kind, StructType):
        inner = tuple(column_type(field.dataType) for field in kind.fields)
        return ColumnType("struct", inner, tuple(kind.fieldNames()))
    if isinstance(kind, ArrayType):
        return ColumnType("array", (column_type(kind.elementType),))
    if isinstance(kind, MapType):
        inner = (column_type(kind.keyType), column_type(kind.valueType))
        return ColumnType("map", inner)
    if isinstance(kind, DecimalType):
        return ColumnType("decimal", digits=(kind.precision, kind.scale))
    return ColumnType(kind.simpleString())


def typed_names(schema: StructType) -> List[Typed]:
    """Return the columns of a schema: (name, type) each."""
    return [(field.name, column_type(field.dataType)) for field in schema.fields]


def with_types(rows: DataFrame, columns: Sequence[Typed]) -> DataFrame:
    """Return the rows with these columns in these types, which are theirs or wider ones.

    A column that the rows lack is null.
    """
    found = dict(typed_names(rows.schema))
    changed = {}
    for name, kind in columns:
        if name not in found:
            changed[name] = expr(f"CAST(NULL AS {kind.text})")
        elif found[name] != kind:
            column = sql_identifier(name)
            changed[name] = expr(Conversion().value(column, found[name], kind))
    return rows.withColumns(changed) if changed else rows
