"""`cost` reads the ledger on S3 and changes nothing."""

from __future__ import annotations

import json
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from types import SimpleNamespace

import boto3
import pytest
from moto import mock_aws

from lake_local.cli.commands import cost
from lake_local.cli.parser import parse

TODAY = datetime.now(timezone.utc).date()


@pytest.fixture
def ledger(monkeypatch):
    """A ledger with a cluster of today and one of 40 days ago."""
    with mock_aws():
        s3 = boto3.client("s3", region_name="us-east-1")
        s3.create_bucket(Bucket="lake")
        for days, run in ((0, "sales_incremental/1"), (40, "sales_full_load/2")):
            key = f"runs/costs/{TODAY - timedelta(days=days)}/j-{days}.json"
            s3.put_object(Bucket="lake", Key=key, Body=json.dumps(entry(run)).encode())

        @contextmanager
        def observed(home, specs, *, who):
            yield SimpleNamespace(aws=lambda service: s3)

        monkeypatch.setattr(cost.session, "observed", observed)
        yield s3


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


@pytest.mark.parametrize(
    "options", [["--since", "May"], ["--by", "month"], ["--start-minutes", "nine"]]
)
def test_what_cannot_be_meant_is_a_usage_error(options):
    with pytest.raises(SystemExit) as ended:
        parse(["cost", *options])
    assert ended.value.code == 2
