"""The Delta log of a table: what its lines say, and what is in force after them."""

from __future__ import annotations

import json

from pyspark.sql.types import StructType

from lake_spark.publish.delta import (
    add,
    in_force,
    lines,
    meta_data,
    protocol,
    remove,
)
from lake_spark.publish.instants import BaseFile

SCHEMA = StructType().add("id", "integer").add("name", "string")
FILE = BaseFile(
    "place=a%3Ab/f-0_1-2-3_20260101.parquet", ("place=a%3Ab", "f-0"), "2", 9
)


def test_a_file_is_named_by_an_encoded_path_and_its_partition_by_the_value():
    assert add(FILE, 3, ("place",), 7) == {
        "add": {
            "path": "place=a%253Ab/f-0_1-2-3_20260101.parquet",
            "partitionValues": {"place": "a:b"},
            "size": 9,
            "modificationTime": 7,
            "dataChange": True,
            "stats": '{"numRecords": 3}',
        }
    }


def test_a_table_says_its_columns_in_sparks_json_and_keeps_its_id():
    one, other = (meta_data("s3://l/t", "Things", SCHEMA, ()) for _ in range(2))
    assert one["metaData"]["id"] == other["metaData"]["id"]
    assert one["metaData"]["partitionColumns"] == []
    assert json.loads(one["metaData"]["schemaString"])["fields"][0] == {
        "name": "id",
        "type": "integer",
        "nullable": True,
        "metadata": {},
    }


def test_what_was_removed_is_in_force_no_more_and_the_last_head_counts():
    first = meta_data("s3://l/t", "Things", SCHEMA, ())
    then = meta_data("s3://l/t", "Other things", SCHEMA, ())
    other = BaseFile("g_1_2.parquet", ("", "g"), "2", 1)
    added, kept = add(FILE, 3, ("place",), 7), add(other, 1, (), 7)
    said = [{"commitInfo": {}}, protocol(), first, added, kept, remove(FILE, 8), then]
    assert in_force(said) == [protocol(), then, kept]


def test_each_action_is_one_line():
    text = lines([protocol(), remove(FILE, 8)])
    assert [list(json.loads(line)) for line in text.splitlines()] == [
        ["protocol"],
        ["remove"],
    ]
