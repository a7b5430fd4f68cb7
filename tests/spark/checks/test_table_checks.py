"""Checks of whole tables: what stops a commit, what warns, and what is kept of both."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from lake_spec.model import (
    AcceptedRange,
    Aggregate,
    CheckedLayer,
    Drift,
    Every,
    Expression,
    Freshness,
    NullShare,
    References,
    RowCount,
    Severity,
    Unique,
)
from lake_spark.checks.table_checks import pre_commit
from tests.spark.lake import SNAPSHOTS, Lake, table
from tests.spark.stall import Stall, specs_of

ORDERS = """
columns: {id: int, customer: int, amount: "decimal(10,2)", weight: double,
  ordered_at: timestamp, shipped_at: timestamp, seen: timestamp}
key: [id]
order_by: [seen]
"""
CUSTOMERS = """
columns: {id: int, email: string, seen: timestamp}
key: [id]
order_by: [seen]
"""
THINGS = SNAPSHOTS + """  lost_share: 1.0
columns: {id: int, note: string}
key: [id]
"""
DAY = "2026-01-01 00:00:00"
WARN = Severity.WARN
HISTORY, CHANGES = CheckedLayer.HISTORY, CheckedLayer.CHANGES
HEADER = "op,id,customer,amount,weight,ordered_at,shipped_at,seen\n"


class Shop:
    """Orders and customers, with checks of the orders."""

    def __init__(self, spark, root, checks):
        specs = specs_of({"orders": ORDERS, "customers": CUSTOMERS}, {})
        stall = Stall(spark, root, (), specs)
        self.orders = stall.redefine("orders", checks=tuple(checks))
        self.customers = stall.lakes["customers"]
        self._files = 0
        self._seen = 0

    def checked_by(self, *checks):
        """Have other checks from now on."""
        self.orders.spec = replace(self.orders.spec, checks=tuple(checks))

    def order(self, *rows):
        """Land orders: (op, id, customer, amount, weight, shipped_at)."""
        self._files += 1
        text = HEADER
        for op, id, customer, amount, weight, shipped in rows:
            self._seen += 1
            text += f"{op},{id},{customer},{amount},{weight},2026-01-01 00:00:00,"
            text += f"{shipped},2026-01-01 00:00:{self._seen:02}\n"
        self.orders.land(f"changes/{self._files:04}.csv", text)

    def run(self, *stages):
        """Run stages of the orders; the last report."""
        reports = [self.orders.run(stage) for stage in stages or ("incremental",)]
        return reports[-1]

    def results(self):
        """The rows of results: check, result, value, whether committed."""
        path = self.orders.root / "runs" / "checks" / "tests" / "orders.json"
        rows = map(json.loads, path.read_text().splitlines())
        return [(r["check"], r["result"], r["value"], bool(r["commit"])) for r in rows]


def found(report):
    """The results of a report by check."""
    return {each.check: (each.result, each.value) for each in report.checks}


ALL = (
    Unique(("customer", "amount"), severity=WARN),
    RowCount(at_least=2, severity=WARN),
    References("customer", "customers.id", severity=WARN),
    References("id", "orders.id", severity=WARN),
    Expression(
        "shipped_at >= ordered_at",
        severity=WARN,
        written="`shipped_at` >= `ordered_at`",
    ),
    NullShare("shipped_at", 0.5, severity=WARN),
    AcceptedRange("amount", Aggregate.SUM, at_most=100, severity=WARN),
    AcceptedRange("amount", Aggregate.AVG, at_most=40, severity=WARN),
    AcceptedRange("amount", Aggregate.MAX, at_most=50, severity=WARN),
    AcceptedRange("amount", Aggregate.MIN, at_least=1, severity=WARN),
    AcceptedRange("weight", Aggregate.AVG, at_most=2, severity=WARN),
    AcceptedRange("customer", Aggregate.COUNT_DISTINCT, at_least=2, severity=WARN),
    Freshness("ordered_at", 1),
    RowCount(at_most=9, name="versions", layer=HISTORY, severity=WARN),
    RowCount(at_most=2, name="batch", layer=CHANGES, severity=WARN),
)


def test_each_kind_measures_the_rows_as_they_are_after_the_commit(spark, tmp_path):
    shop = Shop(spark, tmp_path, ALL)
    shop.customers.land(
        "changes/1.csv", f"op,id,email,seen\nI,7,a,{DAY}\nI,8,b,{DAY}\n"
    )
    shop.customers.done("incremental")
    shop.order(
        ("I", 1, 7, "10.50", 1.5, "2026-01-02 00:00:00"),
        ("I", 2, 8, "20.00", 2.5, ""),
    )
    good = found(shop.run())
    age = good.pop("freshness(ordered_at)")
    assert age[0] == "failed" and age[1] > 24
    assert good == {
        "batch": ("passed", 2),
        "unique(customer, amount)": ("passed", 0),
        "row_count": ("passed", 2),
        "references(customer -> customers.id)": ("passed", 0),
        "references(id -> orders.id)": ("passed", 0),
        "expression(shipped_at >= ordered_at)": ("passed", 0),
        "null_share(shipped_at)": ("passed", 0.5),
        "accepted_range(sum(amount))": ("passed", 30.5),
        "accepted_range(avg(amount))": ("passed", 15.25),
        "accepted_range(max(amount))": ("passed", 20),
        "accepted_range(min(amount))": ("passed", 10.5),
        "accepted_range(avg(weight))": ("passed", 2),
        "accepted_range(count_distinct(customer))": ("passed", 2),
    }
    shop.order(
        ("U", 2, 7, "10.50", 2.5, "2025-01-01 00:00:00"),  # repeats, and ends early
        ("I", 3, 9, "90.00", 9.0, "2026-01-02 00:00:00"),  # of nobody, and too dear
        ("D", 1, "", "", "", ""),
    )
    bad = found(shop.run())
    assert bad["batch"] == ("passed", 2)  # a delete has no values to check
    assert bad["row_count"] == ("passed", 2)
    assert bad["unique(customer, amount)"] == ("passed", 0)
    assert bad["references(customer -> customers.id)"] == ("failed", 1)
    assert bad["expression(shipped_at >= ordered_at)"] == ("failed", 1)
    assert bad["null_share(shipped_at)"] == ("passed", 0)
    assert bad["accepted_range(sum(amount))"] == ("failed", 100.5)
    assert bad["accepted_range(avg(amount))"] == ("failed", 50.25)
    assert bad["accepted_range(max(amount))"] == ("failed", 90)
    assert bad["accepted_range(min(amount))"] == ("passed", 10.5)
    assert bad["accepted_range(avg(weight))"] == ("failed", 5.75)
    shop.order(
        ("D", 3, "", "", "", ""),  # the largest goes: all rows are read again
        ("I", 4, 7, "10.50", 1.0, ""),
    )
    report = shop.run()
    last = found(report)
    assert last["unique(customer, amount)"] == ("failed", 1)
    assert last["accepted_range(max(amount))"] == ("passed", 10.5)
    assert last["accepted_range(sum(amount))"] == ("passed", 21)
    assert last["accepted_range(count_distinct(customer))"] == ("failed", 1)
    assert any(
        each.startswith("FailedCheck: current: 1 row(s) break unique(customer, amount)")
        for each in report.warnings
    )
    history = found(shop.run("scd2"))
    assert history["versions"] == ("passed", 5)
    assert report.error is None and len(shop.orders.living()) == 2


def test_rows_that_another_program_wrote_are_measured_too(spark, tmp_path):
    checks = (AcceptedRange("amount", Aggregate.SUM, at_most=100), RowCount(at_least=1))
    shop = Shop(spark, tmp_path, checks)
    shop.order(("I", 1, 7, "10.00", 1, ""), ("I", 2, 7, "20.00", 1, ""))
    assert found(shop.run())["accepted_range(sum(amount))"] == ("passed", 30)
    shop.orders.overwrite("amount", "CAST(0 AS decimal(10,2))")
    shop.order(("U", 1, 7, "11.00", 1, ""))
    assert found(shop.run())["accepted_range(sum(amount))"] == ("passed", 11)


@pytest.mark.nightly  # by day: test_a_check_of_the_change_log_stops_its_commit
def test_a_check_that_fails_leaves_the_table_as_it_was_until_rows_are_right(
    spark, tmp_path
):
    shop = Shop(spark, tmp_path, [RowCount(change=0.5), Unique(("customer",))])
    shop.order(("I", 1, 7, "1", 1, ""), ("I", 2, 8, "1", 1, ""))
    assert shop.run().error is None
    before = shop.orders.living("customer")
    shop.order(("I", 3, 7, "1", 1, ""), ("I", 4, 7, "1", 1, ""))
    report = shop.run()
    assert report.error == {
        "type": "FailedChecks",
        "message": "tests.orders: current was not written, because 2 check(s) failed: "
        "row_count is 4 (within 50% of 2); 2 row(s) break unique(customer). Correct the "
        "rows in the source, or the check in the table's spec.",
    }
    assert report.state == "failed" and "current" not in report.commits
    assert shop.orders.living("customer") == before
    assert shop.run().error is not None  # nothing new landed, and the rows still wait
    assert shop.results() == [
        ("row_count", "passed", 2, True),
        ("unique(customer)", "passed", 0, True),
        *[("row_count", "failed", 4, False), ("unique(customer)", "failed", 2, False)]
        * 2,
    ]
    shop.order(("U", 3, 9, "1", 1, ""), ("D", 4, "", "", "", ""))
    report = shop.run()
    assert report.error is None and found(report)["row_count"] == ("passed", 3)
    assert shop.orders.living("customer") == [(1, 7), (2, 8), (3, 9)]


def test_a_check_of_the_change_log_stops_its_commit(spark, tmp_path):
    shop = Shop(spark, tmp_path, [NullShare("customer", 0.2, layer=CHANGES)])
    shop.order(("I", 1, "", "1", 1, ""), ("I", 2, 8, "1", 1, ""))
    report = shop.run()
    assert report.error["type"] == "FailedChecks"
    assert "changes was not written" in report.error["message"]
    assert not shop.orders.tables.log.has_data()
    shop.checked_by(NullShare("customer", 0.5, layer=CHANGES))
    assert shop.run().error is None and len(shop.orders.living()) == 2


def test_results_of_a_run_that_was_killed_after_its_commit_are_added(spark, tmp_path):
    shop = Shop(spark, tmp_path, [RowCount(at_least=1)])
    shop.order(("I", 1, 7, "1", 1, ""))
    shop.run()
    kept = shop.results()
    (tmp_path / "runs" / "checks" / "tests" / "orders.json").unlink()
    report = shop.run()
    assert report.state == "nothing_new" and shop.results() == kept


def test_damaged_results_stop_no_load_and_are_set_aside(spark, tmp_path):
    shop = Shop(spark, tmp_path, [RowCount(at_least=1)])
    shop.order(("I", 1, 7, "1", 1, ""))
    shop.run()
    file, kept = tmp_path / "runs" / "checks" / "tests" / "orders.json", shop.results()
    file.write_bytes(file.read_bytes()[:50])
    damaged = file.read_bytes()
    shop.order(("I", 2, 7, "1", 1, ""))
    report = shop.run()
    assert report.error is None and found(report) == {"row_count": ("passed", 2)}
    (warning,) = report.warnings
    assert warning.startswith("UnreadableResults: 1 row(s) of results were set aside")
    assert file.with_name("_orders.json.unreadable").read_bytes() == damaged
    assert shop.results() == [*kept, ("row_count", "passed", 2, True)]
    assert shop.run().warnings == []


def test_freshness_is_checked_where_nothing_landed(spark, tmp_path):
    shop = Shop(spark, tmp_path, [Freshness("shipped_at", 48)])
    now = datetime.now(timezone.utc)
    shop.order(("I", 1, 7, "1", 1, f"{now - timedelta(hours=47):%Y-%m-%d %H:%M:%S}"))
    assert found(shop.run())["freshness(shipped_at)"][0] == "passed"
    shop.checked_by(Freshness("shipped_at", 46, severity=Severity.FAIL))
    report = shop.run()
    assert "current is as before, because 1 check(s) failed" in report.error["message"]
    assert [each[1] for each in shop.results()] == ["passed", "failed"]


@pytest.mark.nightly
def test_drift_is_compared_with_the_commits_of_earlier_runs(spark, tmp_path):
    shop = Shop(spark, tmp_path, [Drift(share=0.5, runs=2), RowCount(at_least=1)])
    results = []
    for number in range(1, 4):
        shop.order(("I", number, 7, "1", 1, ""))
        results.append(found(shop.run())["drift(row_count)"])
    shop.order(*[("I", number, 7, "1", 1, "") for number in range(4, 30)])
    results.append(found(shop.run())["drift(row_count)"])
    assert [each[0] for each in results] == ["skipped", "skipped", "failed", "failed"]
    assert shop.results()[-2][:3] == ("drift(row_count)", "failed", 29)


def test_a_reference_to_a_table_without_rows_is_skipped(spark, tmp_path):
    shop = Shop(spark, tmp_path, [References("customer", "customers.id")])
    shop.order(("I", 1, 7, "1", 1, ""))
    report = shop.run()
    assert report.error is None
    assert found(report) == {"references(customer -> customers.id)": ("skipped", None)}
    assert report.warnings[0].startswith("SkippedCheck: references(customer")


@pytest.mark.nightly
def test_a_snapshot_that_corrects_what_a_check_stopped_is_compared_with_the_log(
    spark, tmp_path
):
    spec = replace(table(THINGS), checks=(Unique(("note",)),))
    lake = Lake(spark, tmp_path, spec)
    lake.land("2026-01-01.csv", "id,note\n1,a\n2,a\n3,c\n")
    assert lake.run("full_load").error["type"] == "FailedChecks"
    assert not lake.tables.current.has_data()
    lake.land("2026-01-02.csv", "id,note\n1,a\n2,b\n")
    lake.done("incremental", "scd2")
    assert lake.living("note") == [(1, "a"), (2, "b")]
    lake.land("2026-01-03.csv", "id,note\n1,a\n2,a\n")
    assert lake.run("incremental").error["type"] == "FailedChecks"
    lake.land("2026-01-04.csv", "id,note\n1,x\n2,a\n")
    lake.done("incremental", "scd2")
    assert lake.living("note") == [(1, "x"), (2, "a")]
    assert [each[1:3] for each in lake.versions("note") if each[0] == 2] == [
        ("a", "2026-01-01 00:00:00"),
        ("b", "2026-01-02 00:00:00"),
        ("a", "2026-01-03 00:00:00"),
    ]
    assert lake.verify().error is None


@pytest.mark.nightly
def test_products_are_checked_before_they_are_written(spark, tmp_path):
    stall = Stall(spark, tmp_path, ["by_buyer"])
    limit = AcceptedRange("orders", Aggregate.SUM, at_most=2)
    product = stall.redefine("by_buyer", checks=(limit, Unique(("last_order",))))
    rows = "I,{0},7,2026-01-0{0} 00:00:00,1,2026-01-0{0} 00:00:00\n"
    stall.take(orders=rows.format(1) + rows.format(2))
    (report,) = product.done("product")
    assert found(report) == {
        "accepted_range(sum(orders))": ("passed", 2),
        "unique(last_order)": ("passed", 0),
    }
    stall.take(orders=rows.format(3))
    report = product.run("product")
    assert report.error["type"] == "FailedChecks"
    assert "accepted_range(sum(orders)) is 3 (at most 2)" in report.error["message"]
    assert stall.rows("by_buyer", "orders") == [("2",)]
    product = stall.redefine("by_buyer", checks=(replace(limit, at_most=3),))
    (report,) = product.done("product")
    assert found(report) == {"accepted_range(sum(orders))": ("passed", 3)}


def test_an_erase_is_not_stopped_by_checks(spark, tmp_path):
    shop = Shop(spark, tmp_path, [RowCount(at_least=1)])
    shop.order(("I", 1, 7, "1", 1, ""))
    shop.run()
    run = shop.orders._table_run(replace(shop.orders.tables.report, stage="erase"))
    assert pre_commit(run, "current") is None
    run.report.stage = "incremental"
    assert pre_commit(run, "current") is not None


@pytest.mark.nightly
def test_a_check_of_each_day_is_made_once_and_again_while_it_fails(spark, tmp_path):
    daily = (
        Unique(("customer",), every=Every.DAY),
        NullShare("customer", 0.5, every=Every.DAY),
    )
    shop = Shop(spark, tmp_path, (*daily, RowCount(at_least=1)))
    shop.order(("I", 1, 7, "1", 1, ""), ("I", 2, 7, "1", 1, ""))
    assert shop.run().error is not None
    shop.order(("I", 3, "", "1", 1, ""))
    assert shop.run().error is not None  # not passed over because it was made today
    shop.order(("U", 2, 8, "1", 1, ""))
    both = {"unique(customer)", "null_share(customer)"}
    assert set(found(shop.run())) == {*both, "row_count"}
    shop.order(("I", 4, 7, "1", 1, ""), ("U", 1, "", "1", 1, ""))
    assert set(found(shop.run())) == {"row_count"}
    shop.orders.spec = replace(shop.orders.spec, checks=(NullShare("customer", 0.5),))
    shop.order(("I", 5, "", "1", 1, ""))
    assert found(shop.run()) == {"null_share(customer)": ("failed", 0.6)}
