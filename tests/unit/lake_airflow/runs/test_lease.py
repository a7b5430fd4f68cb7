"""Of all runs of a domain one has its lease, until it gives it back or is dead."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from threading import Lock

import pytest

from lake_airflow.runs.lease import DomainLease, GRACE, LeaseBusy
from lake_airflow.runs.s3_object import S3Object
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


def stored(aws):
    return json.loads(aws.get_object(Bucket="lake", Key=KEY)["Body"].read())


def holder(aws):
    return stored(aws)["holder"]


def clock_at(timestamp):
    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return timestamp

    return Clock


def test_the_first_run_gets_it_and_says_so(aws, lease):
    assert lease.take(MINE, nobody).holder == MINE
    assert holder(aws) == MINE
    assert lease.address == f"s3://lake/{KEY}"


def test_another_run_is_told_who_has_it_and_since_when(aws, lease):
    lease.take(THEIRS, nobody)
    found = lease.take(MINE, everybody)
    assert found.holder == THEIRS
    since = datetime.fromisoformat(found.since)
    assert datetime.now(timezone.utc) - since < timedelta(minutes=1)
    assert holder(aws) == THEIRS


def test_a_run_that_comes_again_has_it_still(aws, lease):
    lease.take(MINE, nobody)
    assert lease.take(MINE, nobody).holder == MINE
    assert holder(aws) == MINE


def test_what_was_given_back_is_free(aws, lease):
    lease.take(THEIRS, nobody)
    lease.release(THEIRS)
    assert lease.take(MINE, everybody).holder == MINE
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
    assert (lease.take(MINE, lives).holder == MINE) == is_free
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
    got = [run for run, each in zip(runs, found) if each.holder == run]
    assert (len(got), {each.holder for each in found}) == (1, set(got))


@pytest.mark.parametrize("before", [None, "free"], ids=["no object", "given back"])
def test_a_write_between_reading_and_writing_wins(aws, lease, monkeypatch, before):
    read = S3Object.read
    if before:
        put(aws, None)

    def read_then_lose(it):
        found = read(it)
        put(aws, THEIRS)
        monkeypatch.setattr(S3Object, "read", read)
        return found

    monkeypatch.setattr(S3Object, "read", read_then_lose)
    assert lease.take(MINE, everybody).holder == THEIRS
    assert holder(aws) == THEIRS


def test_a_run_that_loses_every_time_fails_by_name(aws, lease, monkeypatch):
    read = S3Object.read

    def read_then_lose(it):
        found = read(it)
        put(aws, None)
        return found

    monkeypatch.setattr(S3Object, "read", read_then_lose)
    with pytest.raises(LeaseBusy, match=KEY):
        lease.take(MINE, nobody)


def test_each_grant_has_a_greater_token_and_giving_back_keeps_it(aws, lease):
    first = lease.take(MINE, nobody).token
    assert lease.take(MINE, nobody).token == first  # it has it still
    lease.release(MINE)
    assert stored(aws)["token"] == first
    second = lease.take(MINE, nobody).token
    lease.release(MINE)
    third = lease.take(THEIRS, nobody).token
    assert first < second < third


@pytest.mark.parametrize("how", ["deleted manually", "written by an older release"])
def test_the_token_grows_where_the_object_lost_it(aws, lease, monkeypatch, how):
    before = lease.take(MINE, nobody).token
    if how == "deleted manually":
        aws.delete_object(Bucket="lake", Key=KEY)
    else:
        put(aws, THEIRS, timedelta(days=1))
    later = datetime.now(timezone.utc) + timedelta(seconds=1)
    monkeypatch.setattr("lake_airflow.runs.lease.datetime", clock_at(later))
    assert lease.take(MINE, nobody).token > before


def test_a_run_has_a_token_also_where_an_older_release_gave_it_the_lease(aws, lease):
    put(aws, MINE)
    assert lease.take(MINE, everybody).token > 0


def test_fields_that_a_newer_release_may_add_are_kept(aws, lease):
    body = b'{"holder": null, "token": 7, "later_field": [1]}'
    aws.put_object(Bucket="lake", Key=KEY, Body=body)
    lease.take(MINE, nobody)
    lease.release(MINE)
    assert stored(aws)["later_field"] == [1]


def test_a_lease_of_a_newer_format_is_refused_and_not_overwritten(aws, lease):
    body = b'{"format": 2, "holder": null}'
    aws.put_object(Bucket="lake", Key=KEY, Body=body)
    with pytest.raises(
        ValueError, match=f"{KEY}: the lease has format 2, .* reads format 1"
    ):
        lease.take(MINE, nobody)
    assert stored(aws) == {"format": 2, "holder": None}


@pytest.mark.parametrize("text", [b"", b"{}", b"[1]", b'{"holder": 1}'])
def test_what_is_no_lease_is_named_and_not_overwritten(aws, lease, text):
    aws.put_object(Bucket="lake", Key=KEY, Body=text)
    with pytest.raises(ValueError, match=f"s3://lake/{KEY}: got .* not a valid lease"):
        lease.take(MINE, nobody)
    assert aws.get_object(Bucket="lake", Key=KEY)["Body"].read() == text
