"""A step writes only while the grant that it was started with is in force."""

from __future__ import annotations

import itertools
import json
from datetime import datetime, timedelta, timezone

import pytest

from lake_airflow.runs.lease import DomainLease, GRACE
from lake_spark.errors import LeaseLost
from lake_spark.storage.lease_check import CheckedStore, LeaseCheck
from tests.kinds import one_by_day
from tests.unit.lake_airflow.specs import ENVIRONMENT

RUNS, LEASE = "s3://lake/runs", "s3://lake/runs/leases/d.json"
OLD, NEW = "d_incremental/old", "d_incremental/new"


class Store:
    """A store of objects in memory."""

    def __init__(self, content=None):
        self.objects = {} if content is None else {LEASE: content}

    def read(self, uri, *, limit=None):
        return self.objects[uri]

    def write(self, uri, content):
        self.objects[uri] = content

    def delete(self, uri):
        del self.objects[uri]

    def delete_old_versions(self, prefix):
        return 0


def check(store, run=OLD, token=7):
    return LeaseCheck(store, RUNS, "d", run, token)


def lease(**said):
    return json.dumps(said).encode()


def test_a_step_of_the_grant_in_force_writes():
    check(Store(lease(holder=OLD, token=7, since="2026-01-01T00:00:00+00:00")))()


def test_a_field_that_a_newer_release_added_changes_nothing():
    check(Store(lease(format=1, holder=OLD, token=7, later_field={})))()


@pytest.mark.parametrize(
    "content, says",
    [
        (None, "does not exist"),
        (lease(holder=None, token=7), "says that it was given back"),
        (lease(holder=NEW, token=8), "names the run d_incremental/new"),
        (lease(holder=NEW, token=7), "names the run d_incremental/new"),
        (
            lease(holder=OLD, token=9),
            "has the token 9, and the step has 7",
        ),
        (
            lease(holder=OLD, token=6),
            "has the token 6, and the step has 7",
        ),
        (lease(holder=OLD), "has the token 0, and the step has 7"),
    ],
    ids=[
        "no lease",
        "given back",
        "another run",
        "another run, same token",
        "given back and taken again",
        "older token",
        "no token",
    ],
)
def test_any_other_step_is_refused_by_name(content, says):
    with pytest.raises(LeaseLost) as refused:
        check(Store(content))()
    assert str(refused.value) == (
        f"the run d_incremental/old no longer has the lease of d: {LEASE} {says}. It"
        " writes nothing more. Start the run again: it waits until the domain is free."
    )


def test_a_step_that_was_granted_nothing_is_refused():
    with pytest.raises(LeaseLost, match="token 0"):
        check(Store(lease(holder=OLD)), token=0)()


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"format": 2, "holder": null}'])
def test_what_is_no_lease_is_refused_by_its_address(text):
    with pytest.raises(LeaseLost, match=f"{LEASE}: .*Delete|delete the object"):
        check(Store(text))()


def test_what_stands_beside_the_tables_changes_only_while_the_grant_is_in_force():
    inner = Store(lease(holder=OLD, token=7))
    store = CheckedStore(inner, check(inner))
    store.write("s3://lake/warehouse/d/t/erased.json", b"{}")
    inner.objects[LEASE] = lease(holder=NEW, token=8)
    before = dict(inner.objects)
    for change in (
        lambda: store.write("s3://lake/warehouse/d/t/erased.json", b"other"),
        lambda: store.delete("s3://lake/warehouse/d/t/erased.json"),
        lambda: store.delete_old_versions("s3://lake/landing/d/t/"),
        lambda: store.write(f"{RUNS}/d_incremental/old2/x.json", b"of another run"),
    ):
        with pytest.raises(LeaseLost):
            change()
    assert inner.objects == before
    report = f"{RUNS}/{OLD}/incremental/t.json"
    store.write(report, b"failed")
    assert store.read(report) == b"failed"


class Clock(datetime):
    """A time that the test moves."""

    at = datetime(2026, 3, 1, tzinfo=timezone.utc)

    @classmethod
    def now(cls, tz=None):
        return cls.at


class LeaseObject:
    """The lease's object on a store of the test's, with writes on conditions."""

    def __init__(self, store):
        self.store, self.etag = store, 0

    def read(self):
        content = self.store.objects.get(LEASE)
        return content, None if content is None else self.etag

    def write(self, data, etag):
        there = self.etag if LEASE in self.store.objects else None
        if etag != there:
            return False
        self.etag += 1
        self.store.objects[LEASE] = json.dumps(data).encode()
        return True


class Account:
    """Two runs of a domain, their grants and one step of each grant."""

    def __init__(self, domain):
        Clock.at = datetime(2026, 3, 1, tzinfo=timezone.utc)
        self.store = Store()
        self.domain = domain
        self.domain._object = LeaseObject(self.store)
        self.in_force, self.steps = None, []

    def take(self, run):
        found = self.domain.take(run, lambda holder: False)
        if found.holder == run:
            self.in_force = (run, found.token)
            self.steps.append(self.in_force)

    def give(self, run):
        self.domain.release(run)
        if self.in_force and self.in_force[0] == run:
            self.in_force = None

    def expire(self, _):
        Clock.at += GRACE + timedelta(minutes=1)

    def break_it(self, _):
        Clock.at += timedelta(seconds=1)
        self.store.objects.pop(LEASE, None)
        self.in_force = None

    def may_write(self):
        """The grants whose steps pass the check at this moment."""
        found = set()
        for run, token in set(self.steps):
            try:
                LeaseCheck(self.store, RUNS, "d", run, token)()
                found.add((run, token))
            except LeaseLost:
                pass
        return found


EVENTS = [
    (name, run)
    for name in ("take", "give", "expire", "break_it")
    for run in ((OLD, NEW) if name in ("take", "give") else (OLD,))
]


@pytest.mark.parametrize("length", one_by_day([4, 5]))
def test_in_every_order_of_take_give_expire_and_break_only_the_last_grant_writes(
    monkeypatch, length
):
    monkeypatch.setattr("lake_airflow.runs.lease.datetime", Clock)
    domain = DomainLease(ENVIRONMENT, "d", aws_conn_id=None)
    refused = allowed = 0
    for order in itertools.product(EVENTS, repeat=length):
        account = Account(domain)
        tokens = []
        for name, run in order:
            getattr(account, name)(run)
            expected = {account.in_force} if account.in_force else set()
            assert account.may_write() == expected, order
            if account.in_force and account.in_force[1] not in tokens:
                tokens.append(account.in_force[1])
            refused += len(set(account.steps)) - len(expected)
            allowed += len(expected)
        assert tokens == sorted(tokens), order  # it only grows
    assert refused > 1000 and allowed > 1000
