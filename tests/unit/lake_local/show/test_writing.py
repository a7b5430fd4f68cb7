"""Rows as text: exact for programs, aligned for people."""

from __future__ import annotations

import csv
import io
import json
from datetime import date, datetime
from decimal import Decimal

import pytest

from lake_local.show.instants import instant, readable
from lake_local.show.writing import write


def written(names, rows, how):
    return "".join(write(names, rows, how))


def test_csv_tells_no_value_from_empty_text():
    assert written(("a", "b"), [(None, ""), ("x", None)], "csv") == 'a,b\n,""\nx,\n'


@pytest.mark.parametrize(
    "text",
    ['say "hi"', "a,b", "two\nlines", " spaces ", "\r", 'Futuristy "Gileia", Moscow'],
)
def test_csv_gives_back_the_very_text(text):
    lines = io.StringIO(written(("a", "b"), [(text, "x")], "csv"), newline="")
    assert list(csv.reader(lines))[1] == [text, "x"]


@pytest.mark.parametrize(
    "value, field",
    [
        (True, "true"),
        (Decimal("1.50"), "1.50"),
        (Decimal("1E+3"), "1000"),
        (0.1, "0.1"),
        (date(1, 1, 1), "0001-01-01"),
        (datetime(2016, 3, 3, 1, 2, 3, 4), "2016-03-03T01:02:03.000004Z"),
        (b"\x00\xff", "AP8="),
        ([1, None], '"[1, null]"'),
    ],
)
def test_a_csv_field_is_exact(value, field):
    assert written(("a",), [(value,)], "csv") == f"a\n{field}\n"


def test_json_is_one_array_with_a_row_per_line():
    text = written(("id", "name"), [(1, "é"), (2, None)], "json")
    assert json.loads(text) == [{"id": 1, "name": "é"}, {"id": 2, "name": None}]
    assert len(text.splitlines()) == 4


def test_json_of_no_rows_is_an_empty_array():
    assert json.loads(written(("id",), [], "json")) == []


def test_json_keeps_the_digits_of_decimals_and_says_what_json_cannot():
    row = (Decimal("1.50"), float("nan"), {"k": [True, date(2016, 3, 3)]})
    text = written(("d", "n", "m"), [row], "json")
    assert '"d": 1.50' in text
    (found,) = json.loads(text)
    assert (found["n"], found["m"]) == ("nan", {"k": [True, "2016-03-03"]})


def test_a_table_is_aligned_and_keeps_its_lines():
    rows = [(1, "Ana", None), (22, "two\nlines", Decimal("1.5"))]
    assert written(("id", "name", "price"), rows, "table").splitlines() == [
        "id  name        price",
        "--  ----------  -----",
        " 1  Ana          null",
        "22  two\\nlines    1.5",
    ]


def test_a_table_counts_wide_letters_as_two():
    lines = written(("name", "x"), [("草間", "1"), ("Ana", "2")], "table").splitlines()
    assert lines[2:] == ["草間  1", "Ana   2"]


def test_a_table_cuts_long_values():
    _, _, row = written(("a",), [("x" * 100,)], "table").splitlines()
    assert row == "x" * 59 + "…"


@pytest.mark.parametrize(
    "text, digits",
    [
        ("20260131063000123", "20260131063000123"),
        ("20260131063000", "20260131063000000"),
        ("2026-01-31", "20260131000000000"),
        ("2026-01-31T06:30:00.5Z", "20260131063000500"),
        ("2026-01-31T06:30:00+02:00", "20260131043000000"),
    ],
)
def test_a_time_becomes_a_commits_instant(text, digits):
    assert instant(text) == digits


@pytest.mark.parametrize("text", ["", "noon", "20269931063000", "2026-13-01"])
def test_what_is_no_time_is_no_instant(text):
    with pytest.raises(ValueError):
        instant(text)


def test_an_instant_is_read_as_a_time():
    assert readable("20260131063000123") == "2026-01-31 06:30:00.123"
