"""Deletes that a column tells, by having a value or by having none; beside words or alone."""

from __future__ import annotations

import json

import pytest

from tests.spark.lake import Lake, table

SPEC = """
source:
  kind: feed
  path: tests/people
  load: load/**
  changes: changes/**
  format: {form}
  operation: {operation}
columns:
  id: int
  name: string
  since: {{type: date, source: [active_since]}}
  gone: {{type: timestamp, source: [deleted_at]}}
  at: timestamp
key: [id]
order_by: [at]
storage: {{buckets: 1}}
"""
CSV = '{type: csv, null_text: ["", "NULL"]}'
LOAD = """id,name,active_since,deleted_at,at
1,Ann,2020-01-01,NULL,2026-01-01
2,Ben,2020-01-01,2025-12-31,2026-01-01
"""
CHANGES = """op,id,name,active_since,deleted_at,at
U,1,Anna,2020-01-01,,2026-01-02
U,3,Cid,2020-01-01,NULL,2026-01-02
U,3,Cid,,2026-01-03,2026-01-03
D,1,,2020-01-01,,2026-01-04
U,4,Dan,2020-01-01,not a time,2026-01-04
U,2,Ben,2020-01-01,,2026-01-05
"""


def versions(lake):
    rows = lake.history.orderBy("id", "valid_from").collect()
    return [
        (e.id, e.name, e.valid_from.day, e.valid_to and e.valid_to.day) for e in rows
    ]


WITH_WORDS = [
    (1, "Ann", 1, 2),
    (1, "Anna", 2, 4),
    (2, "Ben", 5, None),
    (3, "Cid", 2, 3),
]


@pytest.mark.nightly
def test_beside_words(spark, tmp_path):
    operation = "{column: op, deleted_when: {column: gone}}"
    lake = Lake(spark, tmp_path, table(SPEC.format(form=CSV, operation=operation)))
    lake.land("load/1.csv", LOAD, at="2026-03-01")
    lake.land("changes/1.csv", CHANGES, at="2026-03-01")
    *_, report, _ = lake.done("full_load", "incremental", "scd2")
    assert (report.rows_in, report.quarantined) == (6, 0)
    assert versions(lake) == WITH_WORDS
    # Without the column nobody knows who was deleted: the file is refused by name.
    lake.land("changes/2.csv", "op,id,name,at\nU,1,Eve,2026-01-06\n", at="2026-03-01")
    report = lake.run("incremental")
    assert report.set_aside[0]["type"] == "WrongColumns"
    assert "lacks the column(s) gone" in report.set_aside[0]["reason"]


def lines(*records):
    return "".join(json.dumps(each) + "\n" for each in records)


@pytest.mark.parametrize(
    "told, gone, there",
    [
        ("{column: deleted_at}", {"deleted_at": "2026-01-02"}, {}),
        *(
            pytest.param(*each, marks=pytest.mark.nightly)
            for each in (
                (
                    "{column: meta.gone, is: not_null}",
                    {"meta": {"gone": 1}},
                    {"meta": {}},
                ),
                ('{column: since, is: "null"}', {}, {"active_since": "2020-01-01"}),
                ("{column: since, is: null}", {}, {"active_since": "2020-01-01"}),
            )
        ),
    ],
)
def test_alone(spark, tmp_path, told, gone, there):
    operation = f"{{deleted_when: {told}}}"
    spec = table(SPEC.format(form="{type: json}", operation=operation))
    lake = Lake(spark, tmp_path, spec)
    first = [{"id": i, "name": f"n{i}", "at": "2026-01-01", **there} for i in (1, 2)]
    lake.land("changes/1.json", lines(*first), at="2026-03-01")
    later = [{"id": 1, "at": "2026-01-02", **gone}, {**first[1], "at": "2026-01-03"}]
    lake.land("changes/2.json", lines(*later), at="2026-03-01")
    report, _ = lake.done("incremental", "scd2")
    assert report.quarantined == 0
    assert versions(lake) == [(1, "n1", 1, 2), (2, "n2", 1, None)]
    assert not {"deleted_at", "meta", "meta_gone"} & {*lake.current.columns}


@pytest.mark.nightly
def test_a_row_that_moves_and_is_deleted_at_once_is_gone_under_both_keys(
    spark, tmp_path
):
    operation = '{deleted_when: {column: gone}, before: "was_{column}"}'
    spec = table(SPEC.format(form="{type: json}", operation=operation))
    lake = Lake(spark, tmp_path, spec)
    records = [
        {"id": 1, "name": "Ann", "at": "2026-01-01"},
        {"id": 2, "was_id": 1, "at": "2026-01-02", "deleted_at": "2026-01-02"},
    ]
    lake.land("changes/1.json", lines(*records), at="2026-03-01")
    report, _ = lake.done("incremental", "scd2")
    assert report.derived_deletes == 1
    assert versions(lake) == [(1, "Ann", 1, 2)]
