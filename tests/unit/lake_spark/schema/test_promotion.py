"""Which type may take another's place, nested types included."""

from __future__ import annotations

import pytest

from lake_spec.model.column_type import ColumnType
from lake_spark.schema.promotion import (
    canonical_type,
    float_paths,
    is_same,
    keeps_key_text,
    merged,
    mismatch,
    new_fields,
    only_adds,
    storable,
    stored_type,
    widens,
    with_floats,
)

NESTED = "struct<a:{0},list:array<struct<at:map<string,{0}>>>>"


@pytest.mark.parametrize(
    "old, new, is_wider",
    [
        ("int", "bigint", True),
        ("bigint", "int", False),
        ("short", "long", True),
        ("int", "double", True),
        ("bigint", "double", False),
        ("float", "double", True),
        ("double", "float", False),
        ("decimal(6,2)", "decimal(7,2)", True),
        ("decimal(6,2)", "decimal(7,3)", True),
        ("decimal(6,2)", "decimal(6,3)", False),
        ("int", "decimal(12,2)", True),
        ("int", "decimal(11,2)", False),
        ("bigint", "decimal(19,0)", True),
        ("bigint", "decimal(18,0)", False),
        ("date", "timestamp", True),
        ("timestamp", "date", False),
        ("int", "string", False),
        ("string", "int", False),
        ("boolean", "int", False),
    ],
)
def test_what_is_wider_is_so_inside_structs_arrays_and_maps_too(old, new, is_wider):
    assert widens(stored_type(old), stored_type(new)) is is_wider
    inside = [stored_type(NESTED.format(kind)) for kind in (old, new)]
    assert widens(*inside) is is_wider


def test_a_struct_is_wider_by_further_fields_in_any_order_and_case():
    old, new = stored_type("struct<a:int,b:string>"), "struct<C:date,B:string,A:long>"
    assert widens(old, stored_type(new))
    assert not widens(stored_type(new), old)


@pytest.mark.parametrize(
    "found, table, place",
    [
        ("int", "bigint", None),
        ("string", "int", None),
        ("int", "string", None),
        ("struct<b:int>", "struct<a:string,B:bigint>", None),
        ("bigint", "int", ("c", "bigint", "int")),
        ("array<int>", "string", None),
        ("array<int>", "int", ("c", "array<int>", "int")),
        ("struct<a:date>", "struct<A:int>", ("c.A", "date", "int")),
        ("array<double>", "array<float>", ("c.element", "double", "float")),
        (
            "map<string,struct<x:double>>",
            "map<string,struct<x:int>>",
            ("c.value.x", "double", "int"),
        ),
    ],
)
def test_the_place_that_does_not_fit_is_named(found, table, place):
    told = mismatch(stored_type(found), stored_type(table), "c")
    assert (told and (told[0], told[1].text, told[2].text)) == place


@pytest.mark.parametrize(
    "table, file, declared, found",
    [
        ("int", "bigint", "int", "bigint"),
        ("bigint", "int", "bigint", "bigint"),
        ("date", "timestamp", "date", "date"),
        ("string", "int", "string", "string"),
        (
            "struct<a:int,b:string>",
            "struct<C:short,B:string,A:bigint>",
            "struct<a:int,b:string,C:int>",
            "struct<a:bigint,b:string,C:int>",
        ),
        (
            "array<struct<a:int>>",
            "array<struct<a:bigint,b:date>>",
            "array<struct<a:int,b:date>>",
            "array<struct<a:bigint,b:date>>",
        ),
    ],
)
def test_a_declared_column_takes_new_fields_an_undeclared_one_wider_types_too(
    table, file, declared, found
):
    kinds = stored_type(table), stored_type(file)
    assert merged(*kinds, promote=False).text == declared
    assert merged(*kinds, promote=True).text == found


def test_new_fields_are_told_by_their_paths():
    table = stored_type("struct<a:int,list:array<struct<b:int>>>")
    file = stored_type("struct<A:int,x:int,list:array<struct<B:int,y:int>>>")
    assert new_fields(table, file, "c") == ["c.x", "c.list.element.y"]


def test_adding_fields_is_all_that_leaves_a_type_in_place():
    stored = stored_type("array<struct<a:int,b:date>>")
    assert only_adds(stored, stored_type("array<struct<b:date,c:int,A:int>>"))
    assert not only_adds(stored, stored_type("array<struct<a:bigint,b:date>>"))
    assert not only_adds(stored, stored_type("array<struct<a:int>>"))
    assert is_same(stored, stored_type("array<struct<B:date,a:int>>"))


@pytest.mark.parametrize(
    "old, new, keeps",
    [
        ("int", "bigint", True),
        ("decimal(6,2)", "decimal(9,2)", True),
        ("decimal(6,2)", "decimal(9,3)", False),
        ("date", "timestamp", False),
        ("float", "double", False),
        ("int", "double", False),
    ],
)
def test_a_key_is_wider_only_where_its_text_stays(old, new, keeps):
    assert keeps_key_text(stored_type(old), stored_type(new)) is keeps


def test_a_type_has_one_name():
    assert canonical_type("Map< string, LONG >") == "map<string,bigint>"


def test_floats_that_become_doubles_are_told_by_their_paths():
    found = stored_type("struct<m:map<string,float>,x:float,l:array<float>,y:double>")
    table = stored_type("struct<X:double,m:map<string,double>,l:array<float>,y:double>")
    paths = float_paths(found, table, "c")
    assert paths == ["c.X", "c.m.value"]
    assert with_floats(table, paths, "c").text == (
        "struct<X:float,m:map<string,float>,l:array<float>,y:double>"
    )


@pytest.mark.parametrize(
    "found, stored",
    [
        ("map<int,string>", "map<string,string>"),
        ("array<map<date,struct<a:smallint>>>", "array<map<string,struct<a:int>>>"),
        ("struct<a:int,b:string>", "struct<a:int,b:string>"),
        # Their texts are not one for each value, or none that people write.
        ("map<double,int>", "map<double,int>"),
        ("map<binary,int>", "map<binary,int>"),
    ],
)
def test_tables_hold_maps_with_keys_of_text(found, stored):
    assert storable(stored_type(found)).text == stored


@pytest.mark.parametrize(
    "found, stored",
    [
        (ColumnType("timestamp_ntz"), "timestamp"),
        (ColumnType("timestamp_nanos"), "timestamp"),
        (ColumnType("array", (ColumnType("timestamp_ntz_nanos"),)), "array<timestamp>"),
        (ColumnType("time_nanos"), "string"),
        (ColumnType("time_millis"), "string"),
        (ColumnType("uuid"), "string"),
    ],
)
def test_types_of_files_that_tables_lack_are_stored_as_the_nearest(found, stored):
    assert storable(found).text == stored


def test_what_has_no_part_has_no_type():
    empty = ColumnType("struct")
    assert storable(empty) is None and storable(ColumnType("void")) is None
    assert storable(ColumnType("array", (empty,))) is None
    beside = ColumnType("struct", (empty, ColumnType("int")), ("a", "b"))
    assert storable(beside).text == "struct<b:int>"
