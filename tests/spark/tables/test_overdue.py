"""A run says where maintenance has waited for longer than a week and a day."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

from lake_spark.stages import overdue
from tests.spark.lake import DATED, Lake, table

KEEP = 2


def warnings(lake, days):
    run = lake.tables
    overdue.warn(run, datetime.now(timezone.utc) + timedelta(days=days))
    return [each for each in run.report.warnings if "OverdueMaintenance" in each]


def test_it_is_due_from_the_first_commit_that_a_cleaning_takes(spark, tmp_path):
    spec = table(DATED)
    kept = replace(spec.maintenance, keep_commits=KEEP)
    lake = Lake(spark, tmp_path, replace(spec, maintenance=kept))
    for number in range(1, KEEP + 3):
        lake.land(f"changes/{number}.csv", f"id,at\n{number},2026-01-0{number}\n")
        lake.done("incremental", "scd2")
        assert bool(warnings(lake, 9)) == (number > KEEP)
    assert warnings(lake, 7) == []
    (told,) = warnings(lake, 9)
    assert f"is due since {datetime.now(timezone.utc):%Y-%m-%d}: 2 commit(s)" in told
    assert "Run tests_maintenance" in told and "tests/_domain.yml" in told
    lake.done("maintenance")
    assert warnings(lake, 9) == []
    lake.land("changes/9.csv", "id,at\n9,2026-01-09\n")
    lake.done("incremental")
    assert len(warnings(lake, 9)) == 1 and warnings(lake, 7) == []
