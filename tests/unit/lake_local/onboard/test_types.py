"""Types of databases in the lake, and how Debezium writes their values."""

from __future__ import annotations

import pytest

from lake_spec.model.column_type import parse_type

from lake_local.onboard import mariadb_types, postgresql_types
from lake_local.onboard.catalog import Column
from lake_local.onboard.types import Written

EVENTS, QUERY = Written.DEBEZIUM, Written.TYPED


def of_postgresql(declared, written=EVENTS, kind="base"):
    return postgresql_types.lake_type(Column("c", declared, kind=kind), written)


def of_mariadb(declared, written=EVENTS):
    return mariadb_types.lake_type(Column("c", declared), written)


@pytest.mark.parametrize(
    "declared, text, form",
    [
        ("smallint", "int", None),
        ("bigint", "bigint", None),
        ("numeric(12,2)", "decimal(12,2)", None),
        ("numeric(12)", "decimal(12,0)", None),
        ("numeric(5,-2)", "decimal(7,0)", None),
        ("numeric(3,5)", "decimal(5,5)", None),
        ("double precision", "double", None),
        ("character varying(20)", "string", None),
        ("date", "date", "epoch_days"),
        ("timestamp without time zone", "timestamp", "epoch_micros"),
        ("timestamp(3) without time zone", "timestamp", "epoch_millis"),
        ("timestamp(4) without time zone", "timestamp", "epoch_micros"),
        ("timestamp with time zone", "timestamp", None),
        ("timestamp(0) with time zone", "timestamp", None),
        ("bytea", "binary", "base64"),
        ("bit(1)", "boolean", None),
        ("bit(9)", "binary", "base64"),
        ("jsonb", "string", None),
        ("uuid", "string", None),
        ("inet", "string", None),
        ("integer[]", "array<int>", None),
        ("numeric(8,3)[]", "array<decimal(8,3)>", None),
    ],
)
def test_types_of_postgresql_are_plain(declared, text, form):
    found = of_postgresql(declared)
    assert (found.text, found.format, found.guess) == (text, form, "")


@pytest.mark.parametrize(
    "declared, text",
    [
        ("numeric", "decimal(38,18)"),
        ("numeric(45,3)", "string"),
        ("time without time zone", "bigint"),
        ("time(3) without time zone", "bigint"),
        ("interval", "bigint"),
        ("date[]", "array<int>"),
        ("bytea[]", "array<string>"),
    ],
)
def test_what_is_not_sure_is_a_guess(declared, text):
    found = of_postgresql(declared)
    assert found.text == text and found.guess and found.format is None


def test_an_enum_and_a_range_are_text():
    assert of_postgresql("shop.mood", kind="enum").text == "string"
    assert of_postgresql("shop.mood[]", kind="enum").text == "array<string>"
    assert of_postgresql("int4range", kind="range").text == "string"


def test_a_geometry_is_its_bytes_and_system():
    found = of_postgresql("public.geometry(Point,4326)", kind="extension")
    assert found.text == "struct<wkb:string,srid:int>"


# Seen of Debezium 3.0.8: these columns are not in its events, json[] is always empty.
@pytest.mark.parametrize(
    "declared, kind",
    [
        ("box", "base"),
        ("polygon", "base"),
        ("tsvector", "base"),
        ("tsquery", "base"),
        ("pg_lsn", "base"),
        ("xid", "base"),
        ("jsonpath", "base"),
        ("json[]", "base"),
        ("money[]", "base"),
        ("interval[]", "base"),
        ("int4multirange", "multirange"),
        ("shop.floatrange", "range"),
        ("shop.pair", "composite"),
        ("shop.pair[]", "composite"),
    ],
)
def test_what_debezium_does_not_send_is_left_out_of_events_alone(declared, kind):
    assert declared.rstrip("[]") in of_postgresql(declared, kind=kind).left_out
    of_query = of_postgresql(declared, QUERY, kind)
    assert not of_query.left_out


@pytest.mark.parametrize(
    "declared, text",
    [
        ("date", "date"),
        ("timestamp without time zone", "timestamp"),
        ("bytea", "binary"),
        ("date[]", "array<date>"),
        ("bytea[]", "array<string>"),
        ("time without time zone", "string"),
    ],
)
def test_a_query_gives_values_of_their_types(declared, text):
    found = of_postgresql(declared, QUERY)
    assert (found.text, found.format) == (text, None)


@pytest.mark.parametrize(
    "declared, text, form",
    [
        ("tinyint(4)", "int", None),
        ("tinyint(3) unsigned", "int", None),
        ("smallint(5) unsigned", "int", None),
        ("mediumint(8) unsigned", "int", None),
        ("int(10) unsigned", "bigint", None),
        ("int(6) unsigned zerofill", "bigint", None),
        ("bigint(20) unsigned", "decimal(20,0)", "unsigned_bigint"),
        ("decimal(12,2)", "decimal(12,2)", None),
        ("decimal(20,0) unsigned", "decimal(20,0)", None),
        ("float(7,4)", "float", None),
        ("double unsigned", "double", None),
        ("enum('a','b(c)')", "string", None),
        ("set('x','y')", "string", None),
        ("longtext", "string", None),
        ("uuid", "string", None),
        ("varbinary(9)", "binary", "base64"),
        ("date", "date", "epoch_days"),
        ("datetime", "timestamp", "epoch_millis"),
        ("datetime(3)", "timestamp", "epoch_millis"),
        ("datetime(6)", "timestamp", "epoch_micros"),
        ("timestamp(6)", "timestamp", None),
        ("year(4)", "int", None),
        ("bit(1)", "boolean", None),
    ],
)
def test_types_of_mariadb_are_plain(declared, text, form):
    found = of_mariadb(declared)
    assert (found.text, found.format, found.guess) == (text, form, "")


def test_a_geometry_of_mariadb_is_its_bytes_and_system():
    assert of_mariadb("polygon").text == "struct<wkb:string,srid:int>"
    assert of_mariadb("polygon", QUERY).text == "string"


def test_tinyint_1_is_a_truth_value_in_events_and_a_number_in_queries():
    assert of_mariadb("tinyint(1)").text == "boolean"
    assert of_mariadb("tinyint(1)").guess
    assert of_mariadb("tinyint(1)", QUERY).text == "int"


@pytest.mark.parametrize("declared", ["decimal(65,30)", "time", "vector(3)"])
def test_what_is_not_sure_of_mariadb_is_a_guess(declared):
    found = of_mariadb(declared)
    assert found.guess
    parse_type(found.text)


@pytest.mark.parametrize("declared", ["name", "name[]", "bit(3)[]", "bit varying(9)[]"])
def test_types_that_debezium_loses_in_changes_are_left_out_by_name(declared):
    kind = of_postgresql(declared)
    assert "sends no values" in kind.left_out and kind.is_in_snapshots
    assert not of_postgresql(declared, QUERY).left_out


def test_a_generated_column_is_left_out_of_events_alone():
    column = Column("g", "numeric(12,2)", generated=True)
    kind = postgresql_types.lake_type(column, EVENTS)
    assert "leaves it out of changes" in kind.left_out and kind.is_in_snapshots
    assert postgresql_types.lake_type(column, QUERY).text == "decimal(12,2)"


def test_values_that_debezium_changes_are_marked():
    assert "offset" in of_postgresql("time with time zone").guess
    assert "element is null" in of_postgresql("mood[]", kind="enum").guess
