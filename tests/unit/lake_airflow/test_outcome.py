"""How a step ended, from what EMR's ListSteps says of it."""

from __future__ import annotations

import pytest

from lake_airflow.outcome import end_of_step

KILLED = {"Reason": "Killed by signal 9 (SIGKILL)"}
FAILED = {"Reason": "Unknown Error.", "Message": "FAILED sales.orders scd2: no disk"}


def reason(**status):
    step = {"Id": "s-1", "Status": {"State": "FAILED", **status}}
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
