"""The judge of random files: what plain Python says that a file holds, and what it sees."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest

from tests.fuzz.comparison import Ingested, difference
from tests.fuzz.judge import ANY, Table, judge

COLUMNS = {"id": "int", "note": "string"}
CSV = Table("csv", COLUMNS, ("id",))
JSON = Table("json", COLUMNS, ("id",))


def rows(verdict):
    return [each.row for each in verdict.records]


def test_quoted_fields_hold_delimiters_quotes_and_line_ends():
    verdict = judge(CSV, "a.csv", b'id,note\r\n1,"a,""b""\r\nc"\r\n\r\n2,\r\n')
    assert rows(verdict) == [(1, 'a,"b"\r\nc'), (2, None)]


@pytest.mark.parametrize(
    "content, why",
    [
        (b'id,note\n1,"a\n2,b\n', "never ends"),
        (b'id,note\n1,"a"b\n', "after a closing quote"),
        (b"\xff\xfei\0d\0", "mark of UTF-16"),
        (b"note\na\n", "lacks a column"),
        (b"id,ID\n1,2\n", "one name"),
        (b"", "empty"),
    ],
)
def test_a_file_that_cannot_be_split_into_records_must_be_refused(content, why):
    assert why in judge(CSV, "a.csv", content).must_refuse


@pytest.mark.parametrize(
    "line", [b"2", b"2,b,c", b"2,\xff", b"2,\0", b"x,b", b"2147483648,b", b"\x012,b"]
)
def test_a_record_that_is_not_as_declared_is_bad_and_the_others_stand(line):
    verdict = judge(CSV, "a.csv", b"id,note\n1,a\n" + line + b"\n3,c\n")
    assert rows(verdict) == [(1, "a"), None, (3, "c")]


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":2}{"id":3}',
        b'{"id":2} tail',
        b'{"id":2,"ID":3}',
        b'{"id":2,"note":"\\ud800"}',
        b'{"id":NaN}',
        b'{"id":2',
        b"[2]",
        b'{"note":"b"}',
    ],
)
def test_a_line_that_is_not_one_object_is_bad(line):
    verdict = judge(JSON, "a.json", b'{"id":1,"note":1.10}\n' + line + b"\n")
    assert rows(verdict) == [(1, "1.10"), None]


@pytest.mark.parametrize(
    "kind, text, value",
    [
        ("decimal(38,18)", "0.123456789012345678", Decimal("0.123456789012345678")),
        ("decimal(6,2)", "15e0", Decimal("15.00")),
        ("decimal(6,2)", "1e-19", None),
        ("decimal(6,2)", "1.555", None),
        ("double", "1e400", None),
        ("double", "5d", None),
        ("date", "2026-02-03", date(2026, 2, 3)),
        ("date", "2026-02-03 or later", None),
        ("date", "2026", None),
        ("timestamp", "2026-02-03T10:00:00+02:00", datetime(2026, 2, 3, 8)),
        ("timestamp", "2026-02-03 99:99", None),
        ("struct<city:string,zip:int>", '{"city":"x","zip":"lots"}', None),
    ],
)
def test_values_are_exact_or_bad(kind, text, value):
    table = Table("csv", {"id": "int", "v": kind}, ("id",), delimiter=";")
    quoted = text.replace('"', '""')
    (record,) = judge(table, "a.csv", f'id;v\n1;"{quoted}"\n'.encode()).records
    assert record.row == (None if value is None else (1, value))


def test_the_comparison_sees_each_way_of_being_wrong():
    verdict = judge(CSV, "a.csv", b"id,note\n1,a\nx,b\n")
    bad = {2: "id: cannot be read as int: x"}
    assert difference(verdict, Ingested({1: (1, "a")}, bad, None)) == ""
    wrong = [
        Ingested({1: (1, "A")}, bad, None),
        Ingested({1: (1, None)}, bad, None),
        Ingested({1: (1, "a")}, {}, None),
        Ingested({}, {1: "?", **bad}, None),
        Ingested({1: (1, "a"), 2: (2, "b")}, {}, None),
        Ingested({}, {}, "cannot be read"),
    ]
    assert all(difference(verdict, each) for each in wrong)
    must = judge(CSV, "a.csv", b'id,note\n1,"a\n')
    assert difference(must, Ingested({1: (1, "a\n")}, {}, None))
    assert difference(must, Ingested({1: (1, "a")}, {}, "a quoted field never ends"))
    assert not difference(must, Ingested({}, {}, "a quoted field never ends"))


def test_any_value_is_right_where_the_contract_does_not_decide():
    (record,) = judge(CSV, "a.csv", b"id,note\n +1,a\n").records
    assert record.row == (ANY, "a") and record.either


def test_two_spellings_of_a_column_in_two_records_may_refuse_the_file():
    verdict = judge(JSON, "a.json", b'{"id":1,"note":"a"}\n{"id":2,"NOTE":null}\n')
    assert verdict.may_refuse == "two spellings of NOTE in two records"
    assert rows(verdict) == [(1, "a"), (2, None)]


def test_columns_without_names_are_no_two_of_one_name():
    verdict = judge(CSV, "a.csv", b"id,note,,\n1,a,,\n")
    assert (verdict.must_refuse, verdict.may_refuse) == ("", "the header is odd")


def test_a_mark_before_a_line_of_json_is_left_out():
    """Seed 1796074701, file 264: as where files were joined."""
    lines = (
        b'{"id":1,"note":"a"}\n\xef\xbb\xbf{"id":2,"note":"b"}\n{"id":3}\xef\xbb\xbf\n'
    )
    first, second, third = judge(JSON, "a.json", lines).records
    assert (first.row, second.row) == ((1, "a"), (2, "b"))
    assert "no JSON" in third.reason
