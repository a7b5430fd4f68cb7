"""Of all runs of a domain one has its lease, until it gives it back or is dead."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from threading import Lock

import pytest

from lake_airflow.lease import GRACE, DomainLease, LeaseBusy
from tests.unit.lake_airflow.specs import ENVIRONMENT

KEY = "runs/leases/sales.json"
MINE, THEIRS = "sales_incremental/manual-1", "sales_maintenance/manual-7"


def nobody(holder):
    return False


def everybody(holder):
    return True


@pytest.fixture
def lease(aws):
    return DomainLease(ENVIRONMENT, "sales", aws_conn_id=None)


def put(aws, holder, age=timedelta(0)):
    since = (datetime.now(timezone.utc) - age).isoformat()
    body = json.dumps({"holder": holder, "since": since}).encode()
    aws.put_object(Bucket="lake", Key=KEY, Body=body)


def holder(aws):
    return json.loads(aws.get_object(Bucket="lake", Key=KEY)["Body"].read())["holder"]


def test_the_first_run_gets_it_and_says_so(aws, lease):
    assert lease.take(MINE, nobody) is None
    assert holder(aws) == MINE
    assert lease.address == f"s3://lake/{KEY}"


def test_another_run_is_told_who_has_it_and_since_when(aws, lease):
    lease.take(THEIRS, nobody)
    found = lease.take(MINE, everybody)
    assert found.holder == THEIRS
    assert datetime.now(timezone.utc) - found.since < timedelta(minutes=1)
    assert holder(aws) == THEIRS


def test_a_run_that_comes_again_has_it_still(aws, lease):
    lease.take(MINE, nobody)
    assert lease.take(MINE, nobody) is None
    assert holder(aws) == MINE


def test_what_was_given_back_is_free(aws, lease):
    lease.take(THEIRS, nobody)
    lease.release(THEIRS)
    assert lease.take(MINE, everybody) is None
    assert holder(aws) == MINE


def test_nobody_gives_back_what_another_run_has(aws, lease):
    lease.take(THEIRS, nobody)
    lease.release(MINE)
    assert holder(aws) == THEIRS


def test_giving_back_what_was_never_taken_is_nothing(aws, lease):
    lease.release(MINE)
    assert "Contents" not in aws.list_objects_v2(Bucket="lake")


@pytest.mark.parametrize(
    "age, lives, is_free",
    [
        (timedelta(0), nobody, False),
        (GRACE - timedelta(minutes=1), nobody, False),
        (GRACE + timedelta(minutes=1), nobody, True),
        (GRACE + timedelta(minutes=1), everybody, False),
        (timedelta(days=2), everybody, False),
    ],
    ids=["just taken", "cluster not listed yet", "dead", "alive", "alive for days"],
)
def test_a_lease_lives_for_its_grace_and_then_with_its_cluster(
    aws, lease, age, lives, is_free
):
    put(aws, THEIRS, age)
    assert (lease.take(MINE, lives) is None) == is_free
    assert holder(aws) == (MINE if is_free else THEIRS)


@pytest.fixture
def one_write_at_a_time(aws, monkeypatch):
    """S3 looks at a condition and writes in one go; moto's threads do not."""
    put, turn = aws.put_object, Lock()

    def in_one_go(**asked):
        with turn:
            return put(**asked)

    monkeypatch.setattr(aws, "put_object", in_one_go)


def test_of_many_runs_at_once_exactly_one_gets_it(lease, one_write_at_a_time):
    runs = [f"sales_incremental/manual-{n}" for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda run: lease.take(run, everybody), runs))
    assert found.count(None) == 1
    assert {each.holder for each in found if each} == {runs[found.index(None)]}


@pytest.mark.parametrize("before", [None, "free"], ids=["no object", "given back"])
def test_a_write_between_reading_and_writing_wins(aws, lease, monkeypatch, before):
    read = lease._read
    if before:
        put(aws, None)

    def read_then_lose():
        found = read()
        put(aws, THEIRS)
        monkeypatch.setattr(lease, "_read", read)
        return found

    monkeypatch.setattr(lease, "_read", read_then_lose)
    assert lease.take(MINE, everybody).holder == THEIRS
    assert holder(aws) == THEIRS


def test_a_run_that_loses_every_time_fails_by_name(aws, lease, monkeypatch):
    read = lease._read

    def read_then_lose():
        found = read()
        put(aws, None)
        return found

    monkeypatch.setattr(lease, "_read", read_then_lose)
    with pytest.raises(LeaseBusy, match=KEY):
        lease.take(MINE, nobody)


@pytest.mark.parametrize("text", [b"", b"{}", b"[1]"])
def test_what_is_no_lease_is_named_and_not_overwritten(aws, lease, text):
    aws.put_object(Bucket="lake", Key=KEY, Body=text)
    with pytest.raises(ValueError, match=f"s3://lake/{KEY}: got .* no lease"):
        lease.take(MINE, nobody)
    assert aws.get_object(Bucket="lake", Key=KEY)["Body"].read() == text
