"""A round of the reaper asks EMR for what is new since the last one, however much there was.

Each domain has a run an hour: its cluster is there for half an hour, and its own task leaves
the entry, but of one in a hundred, whose task was killed.
"""

from __future__ import annotations

import io
from collections import Counter
from datetime import datetime, timedelta, timezone

import pytest
from airflow.providers.amazon.aws.hooks.base_aws import AwsGenericHook
from botocore.exceptions import ClientError

from lake_airflow.reporting import cost_ledger
from lake_airflow.reporting.cost_ledger import LOOKS_BACK, MOST_NOTED, Ledger
from lake_spec.platform.deployment import DEPLOYMENT_TAG, deployment
from tests.unit.lake_airflow.specs import ENVIRONMENT

NOW = datetime(2026, 3, 10, 12, tzinfo=timezone.utc)
LIFE, ROUND, HOUR = timedelta(minutes=30), timedelta(minutes=15), timedelta(hours=1)
SEEN = "runs/ledger_seen.json"
PAGE = {"emr": 50, "s3": 1000}


class Account:
    """EMR and S3 by pages, with a clock, and a count of the calls."""

    def __init__(self) -> None:
        self.now, self.calls = NOW, Counter()
        self.clusters, self.objects = {}, {}
        self.poison, self.unlisted = set(), set()

    def add(self, made, life=LIFE, *, noted=True, environment="test", domain="sales"):
        id = f"j-{len(self.clusters):06}"
        self.clusters[id] = (made, made + life, environment, domain)
        if noted:
            self.objects[f"runs/costs/{made.date()}/{domain}.{id}.json"] = b"{}"
        return id

    def add_runs(self, domains, since, until):
        """A run of each domain in each hour."""
        apart, at, n = HOUR / domains, since, 0
        while at < until:
            killed = n % 100 == 99 and at + LIFE < until
            self.add(at, noted=not killed, domain=f"d{n % domains:02}")
            at, n = at + apart, n + 1

    def entries(self):
        return {key.rsplit(".", 2)[-2] for key in self.objects if "/costs/" in key}

    # What boto3 has.

    def get_paginator(self, name):
        account, of = self, getattr(self, f"_{name}")

        class Pages:
            def paginate(self, **asked):
                key, found, size = of(**asked)
                for start in range(0, max(len(found), 1), size):
                    account.calls[name] += 1
                    yield {key: found[start : start + size]}

        return Pages()

    def _list_clusters(self, ClusterStates=None, CreatedAfter=None):
        found = [self._told(id) for id in self.clusters if id not in self.unlisted]
        found = [
            each
            for each in found
            if not CreatedAfter
            or each["Status"]["Timeline"]["CreationDateTime"] >= CreatedAfter
            if not ClusterStates or each["Status"]["State"] in ClusterStates
        ]
        return "Clusters", found[::-1], PAGE["emr"]

    def _list_steps(self, ClusterId):
        return "Steps", [], PAGE["emr"]

    def _list_instances(self, ClusterId):
        return "Instances", [], PAGE["emr"]

    def _list_objects_v2(self, Bucket, Prefix, **_):
        keys = [{"Key": key} for key in self.objects if key.startswith(Prefix)]
        return "Contents", keys, PAGE["s3"]

    def describe_cluster(self, ClusterId):
        self.calls["describe_cluster"] += 1
        if ClusterId in self.poison:
            raise ClientError({"Error": {"Code": "Poison"}}, "DescribeCluster")
        return {"Cluster": self._told(ClusterId)}

    def _told(self, id):
        made, ends, environment, domain = self.clusters[id]
        times, is_over = {"CreationDateTime": made}, ends <= self.now
        if is_over:
            times["EndDateTime"] = ends
        tags = {
            "lake:environment": environment,
            "lake:domain": domain,
            "lake:dag": f"{domain}_incremental",
            "lake:run": id,
            DEPLOYMENT_TAG: deployment(ENVIRONMENT),
        }
        return {
            "Id": id,
            "Name": f"lake {domain}_incremental {id}",
            "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
            "Status": {
                "State": "TERMINATED" if is_over else "RUNNING",
                "Timeline": times,
            },
        }

    def get_object(self, Bucket, Key):
        self.calls["get_object"] += 1
        if Key not in self.objects:
            raise ClientError({"Error": {"Code": "NoSuchKey"}}, "GetObject")
        return {"Body": io.BytesIO(self.objects[Key]), "ETag": "e"}

    def put_object(self, Bucket, Key, Body, **_):
        self.calls["put_object"] += 1
        self.objects[Key] = Body
        return {"ETag": "e"}


@pytest.fixture
def account(monkeypatch):
    account = Account()

    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return account.now

    monkeypatch.setattr(cost_ledger, "datetime", Clock)
    monkeypatch.setattr(AwsGenericHook, "get_client_type", lambda hook, **_: account)
    monkeypatch.setattr(cost_ledger.RunFiles, "names", lambda files: set())
    return account


def round_of(account, later=timedelta(0)):
    """What a round added; its calls are in account.calls."""
    account.now += later
    account.calls.clear()
    return Ledger(ENVIRONMENT, aws_conn_id=None).note_missing()


@pytest.mark.parametrize("domains", [1, 10, 50])
@pytest.mark.parametrize("runs", [1, 1000, 10_000])
def test_the_calls_of_a_round_do_not_grow_with_the_runs_before(account, runs, domains):
    account.add_runs(domains, NOW - HOUR * runs / domains, NOW)
    account.add(NOW - timedelta(hours=11), timedelta(days=2), noted=False)  # continuous
    account.add(NOW - HOUR, timedelta(minutes=70), noted=False, domain="killed")
    round_of(account)
    account.add_runs(domains, NOW, NOW + ROUND)
    (noted,) = round_of(account, ROUND)
    assert account.clusters[noted][-1] == "killed"
    a_day = 24 * domains  # clusters
    assert account.calls["list_clusters"] == 2
    assert account.calls["list_objects_v2"] <= -(-a_day // PAGE["s3"]) + 1
    assert account.calls["get_object"] == 1
    assert account.calls["put_object"] == 2  # the entry, and what was seen
    assert account.calls["describe_cluster"] == 1


def test_without_what_was_seen_the_last_days_are_listed(account):
    account.add_runs(50, NOW - timedelta(days=8), NOW)
    round_of(account)
    assert account.calls["list_clusters"] == 192
    account.objects.pop(SEEN)
    round_of(account)
    assert account.calls["list_clusters"] == 192
    account.objects[SEEN] = b'{"since": "yesterday"}'
    round_of(account)
    assert account.calls["list_clusters"] == 192


@pytest.mark.parametrize(
    "text",
    [b"", b"[]", b'{"format": 2}', b'{"since": "2026-03-10"}', b'{"open": []}'],
)
def test_what_was_seen_and_cannot_be_read_is_written_anew(account, text):
    account.objects[SEEN] = text
    killed = account.add(NOW - HOUR, noted=False)
    assert round_of(account) == [killed]
    assert round_of(account) == [] and account.calls["list_clusters"] == 1


def test_a_cluster_that_lives_for_days_has_its_entry_when_it_ends(account):
    long = account.add(NOW - HOUR, timedelta(days=6), noted=False)
    for _ in range(6):
        assert long not in account.entries()
        last = round_of(account, timedelta(days=1))
    assert last == [long]


def test_after_a_pause_of_the_reaper_clusters_of_all_that_time_have_entries(account):
    round_of(account)
    account.add_runs(2, NOW, NOW + timedelta(days=5))
    killed = len(account.clusters) - len(account.entries())
    assert killed > 1
    assert len(round_of(account, timedelta(days=5, hours=1))) == killed


def test_where_nothing_was_seen_only_a_day_is_made_up_for(account):
    account.add(NOW - LOOKS_BACK - HOUR, noted=False)
    late = account.add(NOW - LOOKS_BACK, noted=False)
    assert round_of(account) == [late]


def test_a_cluster_of_others_is_described_once(account):
    account.add(NOW - HOUR, LIFE, noted=False, environment="prod")
    assert round_of(account) == [] and account.calls["describe_cluster"] == 1
    assert round_of(account, ROUND) == [] and account.calls["describe_cluster"] == 0


def test_entries_beyond_what_one_round_writes_are_left_to_the_next(account):
    for n in range(MOST_NOTED + 20):
        account.add(NOW - HOUR, noted=False)
    assert len(round_of(account)) == MOST_NOTED
    assert len(round_of(account, ROUND)) == 20
    assert round_of(account, ROUND) == []


def test_those_that_cannot_be_noted_come_after_others_and_are_given_up(account):
    bad = [account.add(NOW - HOUR, noted=False) for _ in range(MOST_NOTED)]
    account.poison.update(bad)
    assert round_of(account) == []
    good = account.add(NOW, timedelta(minutes=5), noted=False)
    assert round_of(account, ROUND) == [good]
    account.poison.clear()
    assert sorted(round_of(account, timedelta(days=8))) == bad
    assert round_of(account) == []


def test_a_cluster_that_cannot_be_noted_for_nine_days_is_given_up(account):
    bad = account.add(NOW - HOUR, noted=False)
    account.poison.add(bad)
    round_of(account)
    round_of(account, timedelta(days=9))
    account.poison.clear()
    assert round_of(account) == []


def test_a_cluster_that_the_list_leaves_out_is_not_noted_before_its_end(account):
    cluster = account.add(NOW - 2 * HOUR, timedelta(hours=4), noted=False)
    round_of(account)
    account.unlisted.add(cluster)
    assert round_of(account, ROUND) == []
    assert cluster not in account.entries()
    account.unlisted.clear()
    assert round_of(account, 3 * HOUR) == [cluster]


def test_fields_of_a_newer_release_are_kept(account):
    account.objects[SEEN] = b'{"since": "2026-03-10T00:00:00Z", "later": [1]}'
    round_of(account)
    assert b'"later"' in account.objects[SEEN]
