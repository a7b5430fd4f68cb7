"""`show` on a small history of three keys.

First commit: 1 Ana, 2 without a name (empty text), 3 Bo, all since 2016-03-03.
Second commit: 1 ends on 2016-05-12 and goes on as Anna; 3 is deleted.
"""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime

import pytest

from lake_local.show import reading, timeline
from lake_local.show.request import QueryRefused, Request, Validity

SCHEMA = (
    "lake_key string, id int, name string, valid_from timestamp, valid_to timestamp,"
    " is_deleted boolean"
)
MARCH, MAY = datetime(2016, 3, 3), datetime(2016, 5, 12)
OPTIONS = {
    "hoodie.table.name": "history",
    "hoodie.datasource.write.recordkey.field": "lake_key",
    "hoodie.datasource.write.partitionpath.field": "",
    "hoodie.datasource.write.keygenerator.class": (
        "org.apache.hudi.keygen.NonpartitionedKeyGenerator"
    ),
    "hoodie.record.merge.mode": "COMMIT_TIME_ORDERING",
    "hoodie.table.timeline.timezone": "UTC",
    "hoodie.metadata.enable": "false",
}
FIRST = [
    ("1a", 1, "Ana", MARCH, None, False),
    ("2a", 2, "", MARCH, None, False),
    ("3a", 3, "Bo", MARCH, None, False),
]
SECOND = [("1a", 1, "Ana", MARCH, MAY, False), ("1b", 1, "Anna", MAY, None, False)]
DELETED = [FIRST[2]]


@pytest.fixture(scope="module")
def history(spark, tmp_path_factory):
    """A request for all of the history, and the instants of its commits."""
    path = str(tmp_path_factory.mktemp("lake") / "history")

    def write(rows, operation):
        options = {**OPTIONS, "hoodie.datasource.write.operation": operation}
        frame = spark.createDataFrame(rows, SCHEMA)
        frame.write.format("hudi").options(**options).mode("append").save(path)
        time.sleep(0.01)

    write(FIRST, "upsert")
    write(SECOND, "upsert")
    write(DELETED, "delete")
    asked = Request("shop.people", "history", path, order=("id", "valid_from"))
    return replace(asked, hidden=("_hoodie_", "lake_"))


@pytest.fixture(scope="module")
def commits(spark, history):
    return timeline.read(spark, history.table, history.path).commits


def shown(spark, request, **changes):
    return [
        tuple(row) for row in reading.rows(spark, replace(request, **changes)).collect()
    ]


def test_technical_columns_are_shown_only_by_name(spark, history):
    names = reading.rows(spark, history).columns
    assert names == ["id", "name", "valid_from", "valid_to", "is_deleted"]
    assert shown(spark, history, columns=("lake_key",)) == [("1a",), ("1b",), ("2a",)]


def test_a_row_is_true_from_its_first_timestamp_up_to_its_last(spark, history):
    def names_at(timestamp):
        valid = Validity(timestamp, "valid_from", "valid_to", "is_deleted")
        return shown(spark, history, valid=valid, columns=("name",))

    assert names_at("2016-03-02T23:59:59+00:00") == []
    assert names_at("2016-03-03T00:00:00+00:00") == [("Ana",), ("",)]
    assert names_at("2016-05-11T23:59:59+00:00") == [("Ana",), ("",)]
    assert names_at("2016-05-12T00:00:00+00:00") == [("Anna",), ("",)]


def test_tombstones_are_not_true_at_any_time(spark):
    rows = [("1", 1, None, MARCH, None, True)]
    valid = Validity(
        "2016-04-01T00:00:00+00:00", "valid_from", "valid_to", "is_deleted"
    )
    assert reading.valid_at(spark.createDataFrame(rows, SCHEMA), valid).count() == 0


def test_as_of_a_commit_the_table_is_what_it_was_then(spark, history, commits):
    found = shown(spark, history, as_of=commits[0], columns=("name", "valid_to"))
    assert found == [("Ana", None), ("", None), ("Bo", None)]


def test_as_of_before_the_first_commit_is_refused_with_the_first_one(spark, history):
    with pytest.raises(QueryRefused, match="shop.people had no commit at 2000-01-01"):
        shown(spark, history, as_of="20000101000000000")


def test_between_two_commits_each_row_says_what_became_of_it(spark, history, commits):
    found = shown(
        spark,
        history,
        between=(commits[0], commits[-1]),
        columns=("id", "name", "change"),
    )
    assert found == [(1, "Ana", "update"), (1, "Anna", "insert"), (3, "Bo", "delete")]


def test_since_before_the_first_commit_all_rows_are_inserts(spark, history, commits):
    found = shown(
        spark,
        history,
        between=("20000101000000000", commits[0]),
        columns=("name", "change"),
    )
    assert found == [("Ana", "insert"), ("", "insert"), ("Bo", "insert")]


def test_a_condition_chooses_rows(spark, history):
    found = shown(spark, history, where="name like 'An%' and valid_to is null")
    assert [row[1] for row in found] == ["Anna"]


@pytest.mark.parametrize(
    "condition, message",
    [
        ("nmae = 'x'", "no column 'nmae'. Did you mean 'name'"),
        ("id", "is a value of type int"),
        ("1 = 1; drop table x", "not a valid condition: .*Syntax error"),
        ("1 = 1) union select * from x --", "not a valid condition: .*Syntax error"),
    ],
)
def test_what_is_no_condition_is_refused_in_one_line(
    spark, history, condition, message
):
    with pytest.raises(QueryRefused, match=message) as refused:
        shown(spark, history, where=condition)
    assert "\n" not in str(refused.value)


def test_an_unknown_column_is_met_with_the_nearest(spark, history):
    with pytest.raises(
        QueryRefused, match="no column 'valid_form'. Did you mean 'valid_from'"
    ):
        shown(spark, history, columns=("valid_form",))


def test_what_cleaning_took_is_refused_with_what_is_left():
    january, february = "20260101000000000", "20260201000000000"
    commits = timeline.Timeline("shop.people", (january, february), kept_from=february)
    with pytest.raises(
        QueryRefused, match="readable since 2026-02-01 00:00:00.000 UTC"
    ):
        commits.require_readable("20260115000000000")
    commits.require_readable(february)
