"""The ledger read by run, table and domain: every minute once."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

import pytest

from lake_check.costs import ledger
from lake_check.costs.prices import load_prices

BEGIN = datetime(2026, 1, 31, tzinfo=timezone.utc)


def entry(number, tables, *, domain="sales", start=9.0, busy=20.0, idle=1.0):
    total = start + busy + idle
    return {
        "cluster": f"j-{number}",
        "run": f"{domain}_incremental/{number}",
        "domain": domain,
        "created": f"2026-01-{28 + number}T23:30:00+00:00",
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


PRICES = """\
currency: USD
instance_hours:
  m7g.xlarge: {ec2: 4.0, spot: 1.0, emr: 2.0}
"""


def typed(entry):
    """The entry with two instances on demand and one on Spot."""
    total = entry["minutes"]["total"]
    by_type = {"m7g.xlarge": {"on_demand": 2 * total, "spot": total}}
    return {**entry, "instance_minutes_by_type": by_type}


TYPED = [typed(each) for each in ENTRIES]
"""A minute of each of these costs (2 * 6 + 3) / 60 = 0.25: 7.50, 3.00 and 2.50."""


@pytest.fixture
def prices_file(tmp_path):
    file = tmp_path / "prices.yml"
    file.write_text(PRICES)
    return file


@pytest.fixture
def prices(prices_file):
    return load_prices(prices_file)


def of(by, entries=ENTRIES, **more):
    return {row[by]: row for row in ledger.rows(entries, by, **more)}


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


@pytest.mark.parametrize("by", ledger.BY)
def test_costs_of_all_rows_add_up_to_those_of_the_clusters(by, prices):
    *rows, total = ledger.rows(TYPED, by, prices=prices)
    assert list(total)[-1] == "cost_USD"
    assert total["cost_USD"] == pytest.approx(7.5 + 3 + 2.5)
    costs = [row["cost_USD"] for row in rows]
    assert sum(costs) == pytest.approx(13)
    assert costs == sorted(costs, reverse=True)


def test_a_table_bears_of_the_cost_what_it_bears_of_the_minutes(prices):
    found = of("table", TYPED, prices=prices)
    told = {name: row["cost_USD"] for name, row in found.items()}
    assert told == {
        "sales.orders": pytest.approx(7.5 * 15 / 20 + 3),
        "sales.items": pytest.approx(7.5 * 5 / 20),
        "shop.-": 2.5,
        "all": pytest.approx(13),
    }


def test_a_longer_start_is_priced_as_the_clusters_minutes(prices):
    found = of("domain", TYPED, prices=prices, start_minutes=13)
    assert found["sales"]["cost_USD"] == pytest.approx((34 + 16) * 0.25)


def test_a_cluster_without_types_takes_the_cost_from_all_that_it_is_part_of(prices):
    mixed = [*TYPED[:1], ENTRIES[1], {**TYPED[2], "instance_minutes_by_type": None}]
    for by, told in (
        ("run", {"sales_incremental/1": 7.5}),
        ("table", {"sales.items": 1.875}),
        ("domain", {}),
    ):
        found = of(by, mixed, prices=prices)
        known = {name: row["cost_USD"] for name, row in found.items()}
        assert {name: cost for name, cost in known.items() if cost is not None} == told
        assert list(found)[: len(told)] == list(told)
    assert ledger.without_cost(mixed, prices) == (
        "2 of 3 clusters have no cost: their entries lack instance types. Rows with"
        " such a cluster show `-`; the other clusters cost 7.500 USD. Exclude them with"
        " `--since 2026-02-01`."
    )
    assert ledger.without_cost(TYPED, prices) == ""


def test_an_hour_that_was_open_twice_counts_once():
    def at(*minutes):
        return tuple(BEGIN + timedelta(minutes=each) for each in minutes)

    assert ledger.covered_minutes([]) == 0
    assert ledger.covered_minutes([at(5, 9), at(0, 6), at(1, 2), at(20, 21)]) == 10


def test_entries_lie_by_the_day_of_their_cluster():
    folder = ledger.day_folder("s3://lake/runs", date(2026, 1, 31))
    names = [f"{folder}j-1.json", "s3://lake/runs/costs/2026-01-30/j-2.json"]
    assert folder == "s3://lake/runs/costs/2026-01-31/"
    assert ledger.made_since(names, date(2026, 1, 31)) == names[:1]
