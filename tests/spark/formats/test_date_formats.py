"""Dates and times in the formats that onboarding proposes: read, or no value at all."""

from __future__ import annotations

from datetime import datetime

from lake_spark.schema.timestamps import timestamp
from lake_spec.text.sql_text import sql_literal
from tests.dated_texts import DATED
from tests.spark.lake import Lake, table


def test_what_onboarding_proposes_is_read(spark):
    read = [
        f"CAST({timestamp(sql_literal(text), kind, form, 'UTC')} AS string)"
        for texts, kind, form, _ in DATED
        for text in texts
    ]
    found = list(spark.range(1).selectExpr(*read).first())
    assert None not in found
    firsts = [len(texts) for texts, _, _, _ in DATED]
    places = [sum(firsts[:at]) for at in range(len(firsts))]
    assert [found[at] for at in places] == [first for _, _, _, first in DATED]


SPEC = """
source:
  kind: feed
  path: tests/things
  format: {type: csv, delimiter: ";"}
  load: "load/*"
  changes: "changes/*"
columns:
  id: int
  day: {type: date, format: dd.MM.yyyy}
  at: {type: timestamp, format: dd/MM/yyyy HH:mm}
key: [id]
order_by: [at]
quarantine: {max_share: 1.0}
storage: {buckets: 1}
"""
LOAD = """id;day;at
1;31.12.2026;31/12/2026 10:00
2;1.2.2026;31/12/2026 10:00
3;31.02.2026;31/12/2026 10:00
4;31.12.26;31/12/2026 10:00
5;31.12.2026 10:00;31/12/2026 10:00
6;31.12.2026;12/31/2026 10:00
7;31.12.2026;31/12/2026
8;;31/12/2026 10:00
"""


def test_a_text_of_another_form_is_a_bad_row_and_no_other_is_lost(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(SPEC))
    lake.land("load/1.csv", LOAD, at="2027-02-01")
    report = lake.run("full_load")
    assert report.rows_in == 8, report
    rows = lake.changes.select("id", "day", "at").collect()
    when = datetime(2026, 12, 31, 10)
    assert sorted(map(tuple, rows)) == [(1, when.date(), when), (8, None, when)]
    bad = lake.tables.quarantine.read().select("lake_record", "lake_reason").collect()
    reasons = {each.lake_record: each.lake_reason for each in bad}
    assert sorted(reasons) == [2, 3, 4, 5, 6, 7]
    assert "day: cannot be read as date: 1.2.2026" in reasons[2]
