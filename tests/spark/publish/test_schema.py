"""Columns and partitions as other formats say them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from pyspark.sql.types import (
    ArrayType,
    IntegerType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from lake_spark.publish.iceberg import keep_snapshots
from lake_spark.publish.instants import BaseFile
from lake_spark.publish.schema import (
    partition_columns,
    partition_values,
    published_schema,
    same_columns,
)

STRICT = StructType(
    [
        StructField("id", IntegerType(), False, {"comment": "a note"}),
        StructField("tags", ArrayType(StringType(), False)),
        StructField("sizes", MapType(StringType(), IntegerType(), False)),
        StructField("place", StructType([StructField("x", IntegerType(), False)])),
    ]
)


def test_every_value_may_be_null_and_notes_are_those_of_the_spec():
    words = {"tags": "Words of the visitor", "gone": "No column any more"}
    found = published_schema(SimpleNamespace(schema=lambda: STRICT), words)
    assert found == StructType(
        [
            StructField("id", IntegerType()),
            StructField(
                "tags",
                ArrayType(StringType()),
                metadata={"comment": "Words of the visitor"},
            ),
            StructField("sizes", MapType(StringType(), IntegerType())),
            StructField("place", StructType([StructField("x", IntegerType())])),
        ]
    )
    assert found["id"].metadata == {}
    assert same_columns(found, STRICT), "descriptions make no other columns"


def test_columns_are_the_same_in_whatever_order_and_not_in_other_types():
    other = StructType(STRICT.fields[::-1])
    assert same_columns(STRICT, other)
    wider = StructType([*STRICT.fields[1:], StructField("id", StringType())])
    assert not same_columns(STRICT, wider)
    inner = StructType([*STRICT.fields[:3], StructField("place", StructType())])
    assert not same_columns(STRICT, inner)


@pytest.mark.parametrize(
    "folder, columns, values",
    [
        ("", (), {}),
        ("place=a%3Ab%2Fc", ("place",), {"place": "a:b/c"}),
        ("place=x=y", ("place",), {"place": "x=y"}),
        (
            "p=__HIVE_DEFAULT_PARTITION__/d=2026-01-01",
            ("p", "d"),
            {"p": None, "d": "2026-01-01"},
        ),
    ],
)
def test_the_values_of_a_partition_are_those_of_its_folder(folder, columns, values):
    assert partition_values(BaseFile("x", (folder, "g"), "1", 1), columns) == values


def test_the_partition_columns_are_those_of_the_tables_options():
    name = "hoodie.datasource.write.partitionpath.field"
    assert partition_columns(SimpleNamespace(options={name: "a,b"})) == ("a", "b")
    assert partition_columns(SimpleNamespace(options={name: ""})) == ()


def test_metadata_of_fewer_snapshots_names_their_schemas_alone():
    metadata = {
        "current-snapshot-id": 3,
        "current-schema-id": 2,
        "snapshots": [{"snapshot-id": n, "schema-id": n - 1} for n in (1, 2, 3)],
        "snapshot-log": [{"snapshot-id": n} for n in (1, 2, 3)],
        "schemas": [{"schema-id": n} for n in (0, 1, 2)],
    }
    keep_snapshots(metadata, {3})
    assert metadata["snapshots"] == [{"snapshot-id": 3, "schema-id": 2}]
    assert metadata["snapshot-log"] == [{"snapshot-id": 3}]
    assert metadata["schemas"] == [{"schema-id": 2}]
