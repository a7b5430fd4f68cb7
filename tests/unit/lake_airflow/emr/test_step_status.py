"""How steps and clusters stand and ended, from what EMR says of them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from lake_airflow.emr.step_status import (
    end_of_cluster,
    end_of_step,
    over_limit,
    overdue,
    words_of,
)

NOW = datetime(2026, 11, 21, 12, tzinfo=timezone.utc)

KILLED = {"Reason": "Killed by signal 9 (SIGKILL)"}
FAILED = {"Reason": "Unknown Error.", "Message": "FAILED sales.orders scd2: no disk"}


def reason(**status):
    times = {"CreationDateTime": NOW}
    step = {"Id": "s-1", "Status": {"State": "FAILED", "Timeline": times, **status}}
    return end_of_step("scd2 manual-1", step, log_folder="s3://lake/logs/")["reason"]


@pytest.mark.parametrize(
    "details, told",
    [
        (KILLED, "Killed by signal 9 (SIGKILL)"),
        (FAILED, "Unknown Error: FAILED sales.orders scd2: no disk"),
        ({"Message": "no disk"}, "no disk"),
    ],
    ids=["only the reason", "reason and message", "only the message"],
)
def test_the_message_does_not_hide_the_reason(details, told):
    assert reason(FailureDetails=details) == told


def test_without_details_the_change_of_state_gives_the_reason():
    assert reason(StateChangeReason={"Message": "cluster ended"}) == "cluster ended"
    assert reason() is None


@pytest.mark.parametrize(
    "end, told",
    [
        (
            {"name": "scd2 r", "id": "s-1", "state": "CANCELLED", "log": "s3://x/y.gz"},
            "step s-1 'scd2 r' CANCELLED: no reason given. Log: s3://x/y.gz",
        ),
        (
            {"name": "scd2 r", "state": "MISSING", "reason": "EMR does not list it."},
            "step 'scd2 r' MISSING: EMR does not list it.",
        ),
    ],
    ids=["listed", "not listed"],
)
def test_an_end_in_words_has_what_is_known(end, told):
    assert words_of(end) == told


BOOTSTRAP = (
    "On the master instance (i-0a1b), bootstrap action 1 returned a non-zero code"
)
CAPACITY = "EC2 has insufficient capacity for m7g.xlarge in eu-central-1b"


@pytest.mark.parametrize(
    "status, told",
    [
        (
            {
                "StateChangeReason": {
                    "Code": "BOOTSTRAP_FAILURE",
                    "Message": BOOTSTRAP,
                },
                "ErrorDetails": [],
            },
            f"BOOTSTRAP_FAILURE: {BOOTSTRAP}",
        ),
        (
            {
                "StateChangeReason": {"Code": "INTERNAL_ERROR", "Message": ""},
                "ErrorDetails": [
                    {
                        "ErrorCode": "INTERNAL_ERROR_EC2_INSUFFICIENT_CAPACITY_AZ",
                        "ErrorData": [{"availability-zone": "eu-central-1b"}],
                        "ErrorMessage": CAPACITY,
                    }
                ],
            },
            f"INTERNAL_ERROR; INTERNAL_ERROR_EC2_INSUFFICIENT_CAPACITY_AZ: {CAPACITY}",
        ),
        (
            {
                "StateChangeReason": {
                    "Code": "INSTANCE_FAILURE",
                    "Message": "The master node was terminated",
                }
            },
            "INSTANCE_FAILURE: The master node was terminated",
        ),
        ({"StateChangeReason": {}}, "no reason given"),
    ],
    ids=["bootstrap action", "capacity", "lost instance", "nothing"],
)
def test_the_end_of_a_cluster_has_emrs_code_words_and_details(status, told):
    cluster = {"Id": "j-1", "Status": {"State": "TERMINATED_WITH_ERRORS", **status}}
    assert end_of_cluster(cluster) == f"cluster j-1 TERMINATED_WITH_ERRORS: {told}"


def since(minutes, state="STARTING", **reason):
    """Why a cluster that was made so long ago is overdue, the limit being 40."""
    times = {"CreationDateTime": NOW - timedelta(minutes=minutes)}
    status = {"State": state, "Timeline": times, "StateChangeReason": reason}
    cluster = {"Id": "j-1", "Status": status}
    limit = timedelta(minutes=40)
    return overdue(cluster, now=NOW, limit=limit, file="clusters/standard.yml")


def test_a_cluster_is_overdue_only_while_it_starts_and_after_the_limit():
    assert [since(40), since(500, "RUNNING"), since(500, "WAITING")] == [None] * 3
    assert since(41, "BOOTSTRAPPING", Message="Running bootstrap actions") == (
        "cluster j-1 has been BOOTSTRAPPING for 41 min, limit 40 "
        "(clusters/standard.yml: start_minutes); EMR says: Running bootstrap actions"
    )
    assert since(41).endswith("EMR says: nothing")


def test_a_step_that_waits_for_its_turn_is_not_over_any_limit():
    now, limit = datetime.now(timezone.utc), timedelta(hours=8)
    timeline = {"CreationDateTime": now - timedelta(days=2)}
    pending = {"Status": {"State": "PENDING", "Timeline": timeline}}
    assert over_limit([pending], now=now, limit=limit) == timedelta(0)
    began = {**timeline, "StartDateTime": now - timedelta(days=1)}
    runs = {"Status": {"State": "RUNNING", "Timeline": began}}
    assert over_limit([pending, runs], now=now, limit=limit) == timedelta(hours=16)
