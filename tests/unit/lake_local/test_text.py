"""Tables for people."""

from __future__ import annotations

from decimal import Decimal

from lake_local import text


def test_numbers_stand_right_and_texts_left():
    lines = list(text.table(("table", "rows"), [("artists", 14839), ("x", None)]))
    assert lines == [
        "table      rows",
        "-------  ------",
        "artists  14,839",
        "x             -",
    ]


def test_wide_letters_count_as_two():
    lines = list(text.table(("name", "x"), [("草間", "1"), ("Ana", "2")]))
    assert lines[2:] == ["草間  1", "Ana   2"]


def test_money_keeps_its_digits():
    lines = list(text.table(("cost",), [(Decimal("1204.500"),), (None,)]))
    assert lines == ["     cost", "---------", "1,204.500", "        -"]


def test_a_table_without_rows_is_its_head():
    assert list(text.table(("a",), [])) == ["a", "-"]


def test_time_is_told_in_minutes_and_seconds():
    assert [text.elapsed(each) for each in (0, 65.9, 3600)] == ["0:00", "1:05", "60:00"]
