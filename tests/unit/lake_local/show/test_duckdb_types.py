"""Schemas of commits as types of DuckDB."""

from __future__ import annotations

import pytest

from lake_local.show import duckdb_types
from lake_local.show.request import NeedsHudi


def of_avro(kind):
    fields = [{"name": "c", "type": ["null", kind]}]
    return duckdb_types.of_avro({"type": "record", "name": "r", "fields": fields})["c"]


@pytest.mark.parametrize(
    "kind, expected",
    [
        ("string", "VARCHAR"),
        ("long", "BIGINT"),
        ("bytes", "BLOB"),
        ({"type": "int", "logicalType": "date"}, "DATE"),
        (
            {"type": "long", "logicalType": "timestamp-micros"},
            "TIMESTAMP WITH TIME ZONE",
        ),
        ({"type": "long", "logicalType": "local-timestamp-micros"}, "TIMESTAMP"),
        (
            {
                "type": "fixed",
                "name": "f",
                "size": 5,
                "logicalType": "decimal",
                "precision": 10,
                "scale": 2,
            },
            "DECIMAL(10, 2)",
        ),
        ({"type": "array", "items": ["null", "int"]}, "INTEGER[]"),
        ({"type": "map", "values": "double"}, "MAP(VARCHAR, DOUBLE)"),
        (
            {
                "type": "record",
                "name": "place",
                "fields": [
                    {"name": 'so "called"', "type": ["null", "string"]},
                    {"name": "at", "type": "float"},
                ],
            },
            'STRUCT("so ""called""" VARCHAR, "at" FLOAT)',
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_types_of_avro(kind, expected):
    assert of_avro(kind) == expected


def test_a_type_that_was_named_before_is_known_by_its_name():
    place = {
        "type": "record",
        "name": "place",
        "namespace": "lake",
        "fields": [{"name": "x", "type": "int"}],
    }
    schema = {
        "type": "record",
        "name": "r",
        "fields": [{"name": "a", "type": place}, {"name": "b", "type": "lake.place"}],
    }
    found = duckdb_types.of_avro(schema)
    assert found == {"a": 'STRUCT("x" INTEGER)', "b": 'STRUCT("x" INTEGER)'}


def of_spark(kind):
    return duckdb_types.of_spark({"fields": [{"name": "c", "type": kind}]})["c"]


@pytest.mark.parametrize(
    "kind, expected",
    [
        ("string", "VARCHAR"),
        ("decimal(10,2)", "DECIMAL(10, 2)"),
        ("timestamp", "TIMESTAMP WITH TIME ZONE"),
        ("timestamp_ntz", "TIMESTAMP"),
        ("varchar(5)", "VARCHAR"),
        ({"type": "array", "elementType": "short"}, "SMALLINT[]"),
        (
            {"type": "map", "keyType": "string", "valueType": "long"},
            "MAP(VARCHAR, BIGINT)",
        ),
        (
            {"type": "struct", "fields": [{"name": "x", "type": "byte"}]},
            'STRUCT("x" TINYINT)',
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_types_of_spark(kind, expected):
    assert of_spark(kind) == expected


@pytest.mark.parametrize("of, kind", [(of_avro, "void"), (of_spark, "void")])
def test_a_type_that_no_column_has_is_refused(of, kind):
    with pytest.raises(NeedsHudi, match="'void'"):
        of(kind)
