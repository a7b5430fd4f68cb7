"""A conditional write whose reply is lost was done, and whoever sent it knows it.

botocore sends a write again whose reply it does not get; S3 refuses the second one, for
the first one changed the object.
"""

from __future__ import annotations

import json

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from lake_airflow.runs.lease import DomainLease
from lake_airflow.runs.s3_object import S3Object
from lake_spec.state import conditional_write
from tests.unit.lake_airflow.notifications import Dag, subjects
from tests.unit.lake_airflow.specs import ENVIRONMENT

KEY = "runs/some.json"
OURS, THEIRS = {"by": "us"}, {"by": "them"}
RUN, OTHER = "sales_incremental/manual-1", "sales_reprocess/manual-2"


def refused(code, status):
    told = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(told, "PutObject")


@pytest.fixture
def some(aws, monkeypatch):
    monkeypatch.setattr(conditional_write.time, "sleep", lambda seconds: None)
    return S3Object(f"s3://lake/{KEY}", region="eu-central-1", aws_conn_id=None)


@pytest.fixture
def lose_replies(aws, monkeypatch):
    """Let the first `count` conditional writes be done, and their replies be lost."""

    def lose(ends="sent again", count=1):
        put, left = aws.put_object, [ends] * count

        def lost(**asked):
            if not left or not {"IfMatch", "IfNoneMatch"} & set(asked):
                return put(**asked)
            how = left.pop()
            put(**asked)
            if how == "sent again":
                return put(**asked)
            raise how

        monkeypatch.setattr(aws, "put_object", lost)

    return lose


def stored(aws, key=KEY):
    return json.loads(aws.get_object(Bucket="lake", Key=key)["Body"].read())


LOST = [
    "sent again",
    ReadTimeoutError(endpoint_url="s3"),
    refused("InternalError", 500),
    refused("ConditionalRequestConflict", 409),
]


@pytest.mark.parametrize("ends", LOST, ids=["again", "timeout", "500", "409"])
@pytest.mark.parametrize("there", [None, THEIRS], ids=["new", "changed"])
def test_a_write_that_was_done_counts_as_written(aws, some, lose_replies, ends, there):
    if there:
        some.replace(there)
    etag = some.read()[1]
    lose_replies(ends)
    assert some.write(OURS, etag)
    assert stored(aws) == OURS


@pytest.mark.parametrize("read", [None, '"0"'], ids=["none", "another"])
def test_what_somebody_else_wrote_stays(aws, some, read):
    some.replace(THEIRS)
    assert not some.write(OURS, read)
    assert stored(aws) == THEIRS


def test_a_write_that_met_another_one_is_sent_again(aws, some, monkeypatch):
    answers, put = [refused("ConditionalRequestConflict", 409)] * 2, aws.put_object

    def busy(**asked):
        if answers:
            raise answers.pop()
        return put(**asked)

    monkeypatch.setattr(aws, "put_object", busy)
    assert some.write(OURS, None)
    assert stored(aws) == OURS


@pytest.mark.parametrize(
    "error",
    [refused("AccessDenied", 403), LOST[1], LOST[2], LOST[3]],
    ids=["denied", "timeout", "500", "409"],
)
def test_a_write_that_was_not_done_is_an_error(aws, some, monkeypatch, error):
    def broken(**asked):
        raise error

    monkeypatch.setattr(aws, "put_object", broken)
    with pytest.raises(type(error)):
        some.write(OURS, None)


@pytest.mark.parametrize("ends", LOST, ids=["again", "timeout", "500", "409"])
def test_a_run_whose_lease_was_granted_without_a_reply_has_it(aws, lose_replies, ends):
    lease = DomainLease(ENVIRONMENT, "sales", aws_conn_id=None)
    lose_replies(ends)
    granted = lease.take(RUN, lambda holder: False)
    assert granted.to_data() == stored(aws, "runs/leases/sales.json")
    lose_replies(ends)
    lease.release(RUN)
    assert lease.take(OTHER, lambda holder: True).holder == OTHER


@pytest.mark.parametrize("ends", LOST, ids=["again", "timeout", "500", "409"])
def test_a_message_is_sent_once_although_the_reply_of_its_note_is_lost(
    topic, lose_replies, ends
):
    dag = Dag(topic)
    lose_replies(ends)
    dag.is_red("r1")
    assert subjects(topic) == ["sales_incremental: failed"]
    dag.callback("r1")
    assert subjects(topic) == ["sales_incremental: failed"]


@pytest.mark.parametrize("ends", LOST, ids=["again", "timeout", "500", "409"])
def test_a_failure_is_remembered_although_the_reply_of_that_is_lost(
    topic, lose_replies, ends
):
    dag = Dag(topic)
    lose_replies(ends, count=2)
    dag.is_red("r1")
    dag.is_green("r2")
    assert subjects(topic) == [
        f"sales_incremental: {w}" for w in ("failed", "recovered")
    ]


def test_of_two_that_note_the_same_message_one_sends_it(topic, aws, monkeypatch):
    """They know the same of the run, so all but their own mark is the same."""
    dag, put, sent_by_other = Dag(topic), aws.put_object, []

    def overtaken(**asked):
        if "notifications/failure" in asked["Key"] and not sent_by_other:
            sent_by_other.append(asked["Key"])
            dag.callback("r1")
        return put(**asked)

    monkeypatch.setattr(aws, "put_object", overtaken)
    dag.is_red("r1")
    assert sent_by_other
    assert subjects(topic) == ["sales_incremental: failed"]
