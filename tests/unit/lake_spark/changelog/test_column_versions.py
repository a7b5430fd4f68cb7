"""Where the change log keeps the values of a column whose type was widened."""

from __future__ import annotations

from lake_spark.changelog.column_versions import shown_columns, written_columns
from lake_spark.schema.promotion import stored_type


def typed(**columns):
    return [(name, stored_type(kind)) for name, kind in columns.items()]


def places(stored, rows):
    return [
        (each.place, each.kind.text, each.column and each.column[0])
        for each in written_columns(stored, rows)
    ]


def test_the_first_rows_are_stored_as_they_are():
    assert places([], typed(id="int", at="date")) == [
        ("id", "int", "id"),
        ("at", "date", "at"),
    ]


def test_wider_values_go_to_a_further_column_and_then_stay_there():
    stored = typed(id="int", amount="decimal(6,2)")
    wider = typed(amount="decimal(9,2)", id="int")
    once = [
        ("id", "int", "id"),
        ("amount", "decimal(6,2)", None),
        ("lake_2_amount", "decimal(9,2)", "amount"),
    ]
    assert places(stored, wider) == once
    stored += typed(lake_2_amount="decimal(9,2)")
    assert places(stored, wider) == once
    third = places(stored, typed(id="int", amount="decimal(12,2)"))
    assert third[1:] == [
        ("amount", "decimal(6,2)", None),
        ("lake_2_amount", "decimal(9,2)", None),
        ("lake_3_amount", "decimal(12,2)", "amount"),
    ]


def test_fields_are_added_in_place():
    stored = typed(place="struct<a:int,b:date>")
    assert places(stored, typed(place="struct<c:int,B:date,a:int>")) == [
        ("place", "struct<a:int,b:date,c:int>", "place")
    ]


def test_readers_see_one_column_of_the_widest_type():
    stored = typed(
        lake_10_n="decimal(20,1)", n="int", lake_2_n="bigint", lake_2_x="int"
    )
    shown = {each.name: each for each in shown_columns(stored)}
    assert sorted(shown) == ["lake_2_x", "n"]
    assert shown["n"].kind.text == "decimal(20,1)"
    assert shown["n"].shown == (
        "coalesce(`lake_10_n`, CAST(`lake_2_n` AS decimal(20,1)),"
        " CAST(`n` AS decimal(20,1)))"
    )
