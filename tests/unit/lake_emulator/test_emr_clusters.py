"""Clusters from STARTING to TERMINATED, and what AWS says on the way."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from botocore.exceptions import ClientError

from lake_emulator import client

SHUT = "A job flow that is shutting down, terminated, or finished may not be modified."


def test_a_cluster_without_steps_waits_if_it_is_to_stay(emr, cluster, until):
    until(cluster, "WAITING")
    described = emr.describe_cluster(ClusterId=cluster)["Cluster"]
    assert described["AutoTerminate"] is False
    assert described["ReleaseLabel"] == "emr-7.13.0"
    assert described["StepConcurrencyLevel"] == 1


def test_a_cluster_that_is_not_to_stay_ends_after_its_steps(launch, step, until):
    cluster = launch(keep_alive=False, Steps=[step("true")])
    status = until(cluster, "TERMINATED")
    assert status["StateChangeReason"] == {
        "Code": "ALL_STEPS_COMPLETED",
        "Message": "Steps completed",
    }


def test_a_cluster_that_ends_after_a_failed_step_says_so(launch, step, until):
    cluster = launch(keep_alive=False, Steps=[step("false"), step("true")])
    reason = until(cluster, "TERMINATED")["StateChangeReason"]
    assert reason["Message"] == "Steps completed with errors"


def test_terminating_cancels_pending_steps_and_ends_running_ones(
    emr, cluster, add, step, until
):
    running, pending = add(cluster, step("bash", "-c", "sleep 60"), step("true"))
    until(cluster, "RUNNING", step=running)
    emr.terminate_job_flows(JobFlowIds=[cluster])
    status = until(cluster, "TERMINATED")
    assert status["StateChangeReason"]["Code"] == "USER_REQUEST"
    assert status["Timeline"].keys() == {
        "CreationDateTime",
        "ReadyDateTime",
        "EndDateTime",
    }
    assert until(cluster, "CANCELLED", step=running)
    assert until(cluster, "CANCELLED", step=pending)


def test_a_process_that_ignores_term_is_killed(emr, cluster, add, step, until):
    [one] = add(cluster, step("bash", "-c", "trap '' TERM; while :; do sleep 1; done"))
    until(cluster, "RUNNING", step=one)
    emr.terminate_job_flows(JobFlowIds=[cluster])
    until(cluster, "TERMINATED", seconds=20)


def test_a_terminated_cluster_takes_no_steps(emr, cluster, add, step, until):
    emr.terminate_job_flows(JobFlowIds=[cluster])
    until(cluster, "TERMINATED")
    error = refused(lambda: add(cluster, step("true")))
    assert error == ("ValidationException", SHUT)


def test_terminating_twice_is_no_error(emr, cluster, until):
    emr.terminate_job_flows(JobFlowIds=[cluster])
    until(cluster, "TERMINATED")
    emr.terminate_job_flows(JobFlowIds=[cluster])


def test_a_protected_cluster_is_not_terminated(emr, launch, until):
    protected, other = launch(), launch()
    emr.set_termination_protection(JobFlowIds=[protected], TerminationProtected=True)
    error = refused(lambda: emr.terminate_job_flows(JobFlowIds=[protected, other]))
    assert error == (
        "ValidationException",
        "Could not shut down one or more job flows since they are termination"
        " protected.",
    )
    until(other, "TERMINATED")
    until(protected, "WAITING")


def test_an_idle_cluster_ends_by_its_auto_termination_policy(emr, launch, until):
    cluster = launch(AutoTerminationPolicy={"IdleTimeout": 60})
    reply = emr.get_auto_termination_policy(ClusterId=cluster)
    assert reply["AutoTerminationPolicy"] == {"IdleTimeout": 60}
    reason = until(cluster, "TERMINATED")["StateChangeReason"]
    assert reason["Message"] == "Auto-terminated: idle for 60 seconds"


def test_a_running_step_keeps_a_cluster_from_idling(emr, launch, step, until):
    sleep = step("bash", "-c", "sleep 1")
    cluster = launch(AutoTerminationPolicy={"IdleTimeout": 60}, Steps=[sleep])
    until(cluster, "TERMINATED")
    [found] = emr.list_steps(ClusterId=cluster)["Steps"]
    assert found["Status"]["State"] == "COMPLETED"


def test_a_removed_policy_no_longer_ends_the_cluster(emr, launch, until):
    cluster = launch(AutoTerminationPolicy={"IdleTimeout": 604_800})
    emr.remove_auto_termination_policy(ClusterId=cluster)
    assert "AutoTerminationPolicy" not in emr.get_auto_termination_policy(
        ClusterId=cluster
    )


def test_raised_concurrency_starts_a_waiting_step_at_once(
    emr, cluster, add, step, until
):
    sleep = step("bash", "-c", "sleep 60")
    first, second = add(cluster, sleep, sleep)
    until(cluster, "RUNNING", step=first)
    emr.modify_cluster(ClusterId=cluster, StepConcurrencyLevel=2)
    until(cluster, "RUNNING", step=second)


def test_tags_can_be_added_and_removed(emr, launch):
    cluster = launch(Tags=[{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}])
    emr.add_tags(ResourceId=cluster, Tags=[{"Key": "c", "Value": "3"}])
    emr.remove_tags(ResourceId=cluster, TagKeys=["a"])
    tags = emr.describe_cluster(ClusterId=cluster)["Cluster"]["Tags"]
    assert tags == [{"Key": "b", "Value": "2"}, {"Key": "c", "Value": "3"}]


def test_clusters_are_listed_newest_first_and_by_state(emr, launch, until):
    older, newer = launch(Name="older"), launch(Name="newer")
    emr.terminate_job_flows(JobFlowIds=[older])
    until(older, "TERMINATED")
    until(newer, "WAITING")
    ids = [c["Id"] for c in emr.list_clusters()["Clusters"]]
    assert ids[:2] == [newer, older]
    waiting = emr.list_clusters(ClusterStates=["WAITING"])["Clusters"]
    assert newer in [c["Id"] for c in waiting]
    assert older not in [c["Id"] for c in waiting]


def test_clusters_can_be_listed_by_time_of_creation(emr, cluster):
    now = datetime.now(timezone.utc)
    hour = timedelta(hours=1)
    found = emr.list_clusters(CreatedAfter=now - hour, CreatedBefore=now + hour)
    assert cluster in [c["Id"] for c in found["Clusters"]]
    assert emr.list_clusters(CreatedAfter=now + hour)["Clusters"] == []
    assert emr.list_clusters(CreatedBefore=now - hour)["Clusters"] == []


def test_steps_are_listed_by_pages_newest_first(emr, cluster, add, step, until):
    blocker = step("bash", "-c", "sleep 60")
    ids = add(cluster, blocker, *(step("true") for _ in range(60)))
    pages = list(emr.get_paginator("list_steps").paginate(ClusterId=cluster))
    assert [len(page["Steps"]) for page in pages] == [50, 11]
    listed = [one["Id"] for page in pages for one in page["Steps"]]
    assert listed == ids[::-1]


def test_steps_are_listed_by_id_and_by_state(emr, cluster, add, step, until):
    done, running = add(cluster, step("true"), step("bash", "-c", "sleep 60"))
    until(cluster, "RUNNING", step=running)
    by_id = emr.list_steps(ClusterId=cluster, StepIds=[done])["Steps"]
    by_state = emr.list_steps(ClusterId=cluster, StepStates=["RUNNING"])["Steps"]
    assert [one["Id"] for one in by_id + by_state] == [done, running]


def test_instances_are_shown_as_they_were_asked_for(emr, cluster):
    groups = emr.list_instance_groups(ClusterId=cluster)["InstanceGroups"]
    shown = [(g["InstanceGroupType"], g["RequestedInstanceCount"]) for g in groups]
    assert shown == [("MASTER", 1), ("CORE", 1)]
    instances = emr.list_instances(ClusterId=cluster)["Instances"]
    assert [each["InstanceGroupId"] for each in instances] == [g["Id"] for g in groups]
    assert [(each["InstanceType"], each["Market"]) for each in instances] == [
        (group["InstanceType"], group["Market"]) for group in groups
    ]


def test_the_waiters_of_boto3_work(emr, cluster, add, step):
    [one] = add(cluster, step("true"))
    fast = {"Delay": 1, "MaxAttempts": 10}
    emr.get_waiter("step_complete").wait(
        ClusterId=cluster, StepId=one, WaiterConfig=fast
    )
    emr.get_waiter("cluster_running").wait(ClusterId=cluster, WaiterConfig=fast)
    emr.terminate_job_flows(JobFlowIds=[cluster])
    emr.get_waiter("cluster_terminated").wait(ClusterId=cluster, WaiterConfig=fast)


@pytest.mark.parametrize(
    "call, request_",
    [
        ("describe_cluster", {"ClusterId": "j-0"}),
        ("list_steps", {"ClusterId": "j-0"}),
        ("describe_step", {"ClusterId": "j-0", "StepId": "s-0"}),
    ],
)
def test_looking_at_an_unknown_cluster_is_an_invalid_request(emr, call, request_):
    error = refused(lambda: getattr(emr, call)(**request_))
    assert error == ("InvalidRequestException", "Cluster id 'j-0' is not valid.")


def test_changing_an_unknown_cluster_is_a_validation_error(emr):
    error = refused(lambda: emr.terminate_job_flows(JobFlowIds=["j-0"]))
    assert error == ("ValidationException", "Specified job flow ID does not exist.")


def test_an_unknown_step_is_an_invalid_request(emr, cluster):
    error = refused(lambda: emr.describe_step(ClusterId=cluster, StepId="s-0"))
    assert error == ("InvalidRequestException", "Step id 's-0' is not valid.")


def test_a_client_of_another_region_reaches_the_same_clusters(emulator, cluster):
    other = client("emr", emulator.url, secret=emulator.secret, region="us-east-1")
    assert other.describe_cluster(ClusterId=cluster)["Cluster"]["Id"] == cluster


def refused(call) -> tuple[str, str]:
    with pytest.raises(ClientError) as raised:
        call()
    error = raised.value.response["Error"]
    return error["Code"], error["Message"]
