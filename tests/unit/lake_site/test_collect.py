"""What is read for the pages: the newest runs, whatever else lies there."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Optional

import boto3
import pytest
from moto import mock_aws

from lake_check.costs.ledger import entry_file
from lake_site import collect
from lake_site.collect import facts_of, ledger_entries, whole_site, write, write_run
from lake_site.facts import DAYS
from lake_site.store import FolderStore, S3Store
from lake_spec.state.table_profile import TableProfile, profile_text
from tests.unit.lake_site.lakes import ENVIRONMENT, NOW, domain, entry, summary


@lru_cache(maxsize=None)
def s3():
    """One client for all tests: making one takes longer than most of them."""
    return boto3.client(
        "s3", "eu-central-1", aws_access_key_id="a", aws_secret_access_key="b"
    )


@pytest.fixture(params=["folder", "s3"])
def store(request, tmp_path):
    if request.param == "folder":
        yield FolderStore(tmp_path)
        return
    with mock_aws():
        client = s3()
        client.create_bucket(
            Bucket="lake",
            CreateBucketConfiguration={"LocationConstraint": "eu-central-1"},
        )
        yield S3Store(client, "s3://lake/runs")


def put(store, run, body=None):
    text = json.dumps(run) if body is None else body
    store.write(f"{run['run']}/summary.json", text.encode())


def names(store):
    return [run.name for run in facts_of(domain(), ENVIRONMENT, store, now=NOW).runs]


def test_the_newest_runs_are_read(store, monkeypatch):
    monkeypatch.setattr(collect, "RUNS", 2)
    runs = [summary(NOW - timedelta(days=ago), "customer") for ago in range(4)]
    for run in runs:
        put(store, run)
    assert names(store) == [run["run"] for run in runs[:2]]


def test_a_backfilled_run_has_its_page_however_many_are_newer(store, monkeypatch):
    monkeypatch.setattr(collect, "RUNS", 2)
    runs = [summary(NOW - timedelta(days=ago), "customer") for ago in range(4)]
    for run in runs:
        put(store, run)
    oldest = runs[-1]["run"]
    facts = facts_of(domain(), ENVIRONMENT, store, now=NOW, run=oldest)
    assert [run.name for run in facts.runs] == [
        *(run["run"] for run in runs[:2]),
        oldest,
    ]
    write_run(facts, ENVIRONMENT, store, run=oldest)
    assert store.read(f"domains/shop/runs/{oldest}.html")


def test_reading_ends_after_enough_bytes(store, monkeypatch):
    monkeypatch.setattr(collect, "MOST_BYTES", 1)
    monkeypatch.setattr(collect, "AT_ONCE", 3)
    runs = [summary(NOW - timedelta(days=ago), "customer") for ago in range(5)]
    for run in runs:
        put(store, run)
    assert names(store) == [run["run"] for run in runs[:3]]


@pytest.mark.parametrize(
    "body",
    [
        "{half",
        "[]",
        '{"run": "../../x/y", "tables": {}}',
        '{"run": "shop_incremental/../../x", "tables": {}}',
        '{"format": 99, "run": "shop_incremental/a", "tables": {}}',
        '{"run": "shop_incremental/a", "tables": {"t": {"s": 5}}}',
        '{"run": "shop_incremental/a", "tables": {"t": {"s": {"started": "never"}}}}',
    ],
)
def test_a_damaged_or_newer_summary_is_left_out(store, body):
    sound = summary(NOW, "customer")
    put(store, sound)
    store.write("shop_incremental/manual__2026-11-26T13-00/summary.json", body.encode())
    assert names(store) == [sound["run"]]


def test_profiles_of_the_tables_are_read_and_damaged_ones_left_out(store):
    profile = TableProfile("shop", "customer", "shop_maintenance/a", "2026", "1", 7)
    store.write("profiles/shop/customer.json", profile_text(profile).encode())
    store.write("profiles/shop/address.json", b'{"format": 99}')
    store.write("profiles/shop/gone.json", profile_text(profile).encode())
    found = facts_of(domain(), ENVIRONMENT, store, now=NOW).profiles
    assert found == {"customer": profile}


def test_costs_are_those_of_the_last_days_and_of_the_domain(store):
    mine, other = entry("shop_incremental/a", "customer"), entry(
        "crm_incremental/a", "x"
    )
    other["domain"] = "crm"
    for day, cluster, each in (
        ("2026-11-20", "j-1", mine),
        ("2026-11-20", "j-2", other),
        ("2026-01-20", "j-3", mine),
    ):
        store.write(f"costs/{day}/{cluster}.json", json.dumps(each).encode())
    assert len(ledger_entries(store, NOW)) == 2
    found = facts_of(domain(), ENVIRONMENT, store, now=NOW)
    assert found.costs["shop.customer"]["minutes"] == 14.0


class Counted(FolderStore):
    """A folder that counts what is asked of it."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.calls: Counter[str] = Counter()

    def files(self, path: str) -> Iterator[str]:
        self.calls["list"] += 1
        return super().files(path)

    def read(self, path: str) -> Optional[bytes]:
        self.calls["read"] += 1
        return super().read(path)


@pytest.mark.parametrize("domains", [1, 10])
def test_a_run_reads_the_ledger_of_its_own_domain_whatever_others_do(tmp_path, domains):
    store = Counted(tmp_path)
    for number in range(domains):
        name = "shop" if not number else f"domain_{number}"
        each = {**entry(f"{name}_incremental/a", "customer"), "domain": name}
        for day in range(DAYS + 20):
            folder = f"costs/{NOW.date() - timedelta(days=day)}"
            file = f"{folder}/{entry_file(name, f'j-{number}A{day}')}"
            store.write(file, json.dumps(each).encode())
    older = {**entry("shop_incremental/b", "customer"), "domain": "shop"}
    store.write(f"costs/{NOW.date()}/j-OLD.json", json.dumps(older).encode())
    found = ledger_entries(store, NOW, "shop")
    assert [each["domain"] for each in found] == ["shop"] * (DAYS + 2)
    assert store.calls == {"list": 2 * (DAYS + 1), "read": DAYS + 2}
    assert len(ledger_entries(store, NOW)) == domains * (DAYS + 1) + 1


def test_a_lake_without_runs_has_pages(store):
    files = whole_site([domain()], ENVIRONMENT, store, now=NOW)
    write(store, files)
    assert b"No data yet" in store.read("domains/shop/tables/customer.html")
    assert store.read("none.html") is None
