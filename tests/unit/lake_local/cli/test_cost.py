"""`cost` reads the ledger on S3 and changes nothing."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone

import pytest

from lake_spec.diagnostics.errors import SpecErrors

from lake_local.cli.parser import parse
from lake_local.errors import BadRequest

TODAY = datetime.now(timezone.utc).date()


@pytest.fixture
def ledger(s3):
    """A ledger with a cluster of today and one of 40 days ago, then without types."""
    for days, run in ((0, "sales_incremental/1"), (40, "sales_full_load/2")):
        key = f"runs/costs/{TODAY - timedelta(days=days)}/j-{days}.json"
        body = {**entry(run), "cluster": f"j-{days}", "created": made(days)}
        if not days:
            body["instance_minutes_by_type"] = {"m7g.xlarge": {"on_demand": 5.0}}
        s3.put_object(Bucket="lake", Key=key, Body=json.dumps(body).encode())
    return s3


def made(days):
    noon = datetime.now(timezone.utc).replace(hour=12) - timedelta(days=days)
    return noon.isoformat()


@pytest.fixture
def prices(tmp_path):
    """An instance minute costs 0.10."""
    file = tmp_path / "prices.yml"
    file.write_text("currency: EUR\ninstance_hours: {m7g.xlarge: {ec2: 4, emr: 2}}\n")
    return str(file)


def entry(run):
    return {
        "run": run,
        "domain": "sales",
        "minutes": {"start": 0.1, "busy": 2.0, "idle": 0.4, "total": 2.5},
        "instances": 2,
        "instance_minutes": 5.0,
        "normalized_instance_hours": None,
        "tables": {"orders": {"incremental": 1.5}, "items": {"incremental": 0.5}},
    }


def told(capsys, *argv):
    args = parse(["cost", *argv])
    assert args.run(args) == 0
    return capsys.readouterr().out.splitlines()


def test_the_last_30_days_by_run(ledger, capsys):
    head, _, row, total = told(capsys)
    assert head.split("  ")[0] == "run"
    assert row.split() == ["sales_incremental/1", *"1 0.1 2.0 0.4 2.5 5.0 0.0".split()]
    assert total.split()[0] == "all"


def test_longer_ago_by_table_as_if_clusters_took_minutes_to_start(ledger, capsys):
    since = f"{TODAY - timedelta(days=40)}"
    options = ("--since", since, "--by", "table", "--start-minutes", "9", "--csv")
    _, *rows = told(capsys, *options)
    assert rows == [
        "sales.orders,2,13.5,3.0,0.6,17.1,34.2,0.0",
        "sales.items,2,4.5,1.0,0.2,5.7,11.4,0.0",
        "all,2,18.0,4.0,0.8,22.8,45.6,0.0",
    ]


def test_prices_add_what_it_cost_in_their_currency(ledger, prices, capsys):
    options = ("--by", "table", "--start-minutes", "9", "--prices", prices)
    head, _, *rows = told(capsys, *options)
    assert head.endswith("  cost EUR")
    assert [(row.split()[0], row.split()[-1]) for row in rows] == [
        ("sales.orders", "1.710"),
        ("sales.items", "0.570"),
        ("all", "2.280"),
    ]


def test_a_cluster_of_an_earlier_release_has_no_cost_and_is_told(
    ledger, prices, capsys
):
    since = f"{TODAY - timedelta(days=40)}"
    *rows, line = told(capsys, "--since", since, "--prices", prices)
    ends = [(row.split()[0], row.split()[-1]) for row in rows[2:]]
    assert ends == [
        ("sales_incremental/1", "0.500"),
        ("sales_full_load/2", "-"),
        ("all", "-"),
    ]
    assert line.startswith("1 of 2 clusters have no cost: ")
    assert "the other clusters cost 0.500 EUR." in line
    assert f"`--since {TODAY - timedelta(days=39)}`" in line


def test_the_csv_is_rows_alone_and_the_line_is_told_beside_it(ledger, prices, capsys):
    since = f"{TODAY - timedelta(days=40)}"
    args = parse(["cost", "--since", since, "--prices", prices, "--csv"])
    assert args.run(args) == 0
    printed = capsys.readouterr()
    head, *rows = printed.out.splitlines()
    assert head.endswith(",normalized_hours,cost_EUR")
    assert [row.split(",")[-1] for row in rows] == ["0.5", "-", "-"]
    assert printed.err.startswith("1 of 2 clusters have no cost: ")


@pytest.fixture
def copied(tmp_path):
    """A copy of a ledger with a cluster of each of three days."""
    for number, day in enumerate(("2026-01-30", "2026-01-31", "2026-02-01"), 1):
        file = tmp_path / "costs" / day / f"j-{number}.json"
        file.parent.mkdir(parents=True)
        run = f"sales_incremental/{number}"
        times = {"cluster": f"j-{number}", "created": f"{day}T23:30:00+00:00"}
        file.write_text(json.dumps({**entry(run), **times}))
    return str(tmp_path / "costs")


def test_a_copied_ledger_is_read_without_anything_that_runs(copied, capsys):
    head, *lines = told(capsys, "--ledger", copied, "--csv")
    assert head.startswith("run,clusters,start,busy,idle,minutes,")
    assert [line.split(",")[:2] for line in lines] == [
        *([f"sales_incremental/{number}", "1"] for number in (1, 2, 3)),
        ["all", "3"],
    ]


def test_of_a_copied_ledger_the_days_that_are_asked_for(copied, capsys, prices):
    options = ("--since", "2026-01-31", "--prices", prices, "--csv")
    head, *lines = told(capsys, "--ledger", copied, *options)
    assert head.endswith(",cost_EUR")
    assert [line.split(",")[0] for line in lines][:-1] == [
        "sales_incremental/2",
        "sales_incremental/3",
    ]


def test_a_ledger_that_is_not_there_is_refused(tmp_path):
    args = parse(["cost", "--ledger", str(tmp_path / "none")])
    with pytest.raises(BadRequest, match="no such folder. Copy <runs>/costs there"):
        args.run(args)


def test_prices_that_are_wrong_are_told_before_anything_starts(tmp_path, capsys):
    args = parse(["cost", "--prices", str(tmp_path / "prices.yml")])
    with pytest.raises(SpecErrors) as caught:
        args.run(args)
    assert "no such file. Write it as docs/cost.md shows" in str(caught.value)


@pytest.mark.parametrize(
    "options", [["--since", "May"], ["--by", "month"], ["--start-minutes", "nine"]]
)
def test_what_cannot_be_meant_is_a_usage_error(options):
    with pytest.raises(SystemExit) as ended:
        parse(["cost", *options])
    assert ended.value.code == 2
