"""The ledger read by run, table and domain: every minute once."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta, timezone

import pytest

from lake_spec import ledger
from lake_spec.__main__ import main

BEGIN = datetime(2026, 1, 31, tzinfo=timezone.utc)


def entry(number, tables, *, domain="sales", start=9.0, busy=20.0, idle=1.0):
    total = start + busy + idle
    return {
        "cluster": f"j-{number}",
        "run": f"{domain}_incremental/{number}",
        "domain": domain,
        "minutes": {"start": start, "busy": busy, "idle": idle, "total": total},
        "instances": 3,
        "instance_minutes": 3 * total,
        "normalized_instance_hours": 12,
        "tables": tables,
    }


ENTRIES = [
    entry(1, {"orders": {"incremental": 10.0, "scd2": 5.0}, "items": {"scd2": 5.0}}),
    entry(2, {"orders": {"incremental": 2.0}}, busy=2.0),
    entry(3, {}, domain="shop", busy=0.0),
]


def of(by, **more):
    return {row[by]: row for row in ledger.rows(ENTRIES, by, **more)}


def test_a_table_bears_of_start_and_idle_what_it_bears_of_the_work():
    found = of("table")
    orders, items = found["sales.orders"], found["sales.items"]
    assert (orders["busy"], orders["start"], orders["idle"]) == (17, 6.75 + 9, 1.75)
    assert (items["busy"], items["minutes"]) == (5, 7.5)
    assert (orders["clusters"], items["clusters"]) == (2, 1)


def test_a_cluster_that_no_report_explains_stays_with_its_domain():
    assert of("table")["shop.-"]["minutes"] == 10


@pytest.mark.parametrize("by", ledger.BY)
def test_every_minute_counts_once_the_dearest_first(by):
    *rows, total = ledger.rows(ENTRIES, by)
    for name in ledger.COLUMNS[1:]:
        assert sum(row[name] for row in rows) == pytest.approx(total[name])
    assert (total[by], total["clusters"], total["minutes"]) == ("all", 3, 52)
    assert total["instance_minutes"] == 156
    minutes = [row["minutes"] for row in rows]
    assert minutes == sorted(minutes, reverse=True)


def test_minutes_to_start_can_be_given():
    found = of("domain", start_minutes=4)["sales"]
    assert (found["start"], found["minutes"]) == (8, 32)
    assert found["instance_minutes"] == 3 * 32


def test_an_hour_that_was_open_twice_counts_once():
    def at(*minutes):
        return tuple(BEGIN + timedelta(minutes=each) for each in minutes)

    assert ledger.covered_minutes([]) == 0
    assert ledger.covered_minutes([at(5, 9), at(0, 6), at(1, 2), at(20, 21)]) == 10


def test_the_command_prints_a_copied_ledger_as_csv(tmp_path, capsys):
    for day, each in zip(("2026-01-30", "2026-01-31", "2026-02-01"), ENTRIES):
        file = tmp_path / day / f"{each['cluster']}.json"
        file.parent.mkdir()
        file.write_text(json.dumps(each))
    assert main(["cost", str(tmp_path), "--since", "2026-01-31", "--by", "run"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head == (
        "run,clusters,start,busy,idle,minutes,instance_minutes,normalized_hours"
    )
    assert lines == [
        "sales_incremental/2,1,9.0,2.0,1.0,12.0,36.0,12.0",
        "shop_incremental/3,1,9.0,0.0,1.0,10.0,30.0,12.0",
        "all,2,18.0,2.0,2.0,22.0,66.0,24.0",
    ]


def test_entries_lie_by_the_day_of_their_cluster():
    folder = ledger.day_folder("s3://lake/runs", date(2026, 1, 31))
    names = [f"{folder}j-1.json", "s3://lake/runs/costs/2026-01-30/j-2.json"]
    assert folder == "s3://lake/runs/costs/2026-01-31/"
    assert ledger.made_since(names, date(2026, 1, 31)) == names[:1]
