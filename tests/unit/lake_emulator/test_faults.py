"""Faults that were asked for, and the ledger and health of the emulator."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from urllib.error import HTTPError

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError

from lake_emulator import faults as faults_module
from lake_emulator.faults import KINDS
from lake_emulator.pages import ask as ask_page

RELEASE = "emr-7.13.0"


@pytest.fixture
def impatient(once):
    """An EMR client that tries once."""
    return once("emr")


def test_a_lost_reply_hides_a_cluster_that_was_made(emulator, impatient, emr, launch):
    ask(emulator, kind="lost_reply", call="RunJobFlow")
    with pytest.raises(ConnectionClosedError):
        run_job_flow(impatient, "lost one")
    made = named(emr, "lost one")
    assert len(made) == 1
    emr.terminate_job_flows(JobFlowIds=made)


def test_a_client_that_retries_a_lost_reply_makes_two_clusters(emulator, emr):
    ask(emulator, kind="lost_reply", call="RunJobFlow")
    run_job_flow(emr, "made twice")
    made = named(emr, "made twice")
    assert len(made) == 2
    emr.terminate_job_flows(JobFlowIds=made)


def test_an_error_reply_comes_after_the_call_was_done(
    emulator, impatient, emr, cluster, step
):
    ask(emulator, kind="error_reply", call="AddJobFlowSteps")
    with pytest.raises(ClientError, match="InternalServerException"):
        impatient.add_job_flow_steps(JobFlowId=cluster, Steps=[step("true")])
    assert len(emr.list_steps(ClusterId=cluster)["Steps"]) == 1


def test_a_late_reply_comes_after_others_see_what_was_done(
    emulator, emr, once, monkeypatch
):
    sleeps, time_is_over = Event(), Event()

    def sleep(seconds):
        sleeps.set()
        time_is_over.wait(seconds)

    monkeypatch.setattr(faults_module, "time", SimpleNamespace(sleep=sleep))
    ask(emulator, kind="late_reply", call="RunJobFlow", seconds=60)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(run_job_flow, once("emr"), "late one")
        assert sleeps.wait(30)
        made = named(emr, "late one")
        assert len(made) == 1 and not asked.done()
        time_is_over.set()
        asked.result()
    emr.terminate_job_flows(JobFlowIds=made)


def test_throttling_ends_after_the_given_number_of_calls(emulator, impatient, cluster):
    ask(emulator, kind="throttle", call="DescribeCluster", times=2)
    for _ in range(2):
        with pytest.raises(ClientError, match="ThrottlingException.*Rate exceeded"):
            impatient.describe_cluster(ClusterId=cluster)
    assert impatient.describe_cluster(ClusterId=cluster)


def test_a_throttled_put_on_s3_is_told_to_slow_down(emulator, once, bucket):
    ask(emulator, kind="throttle", call="PutObject")
    with pytest.raises(ClientError, match="SlowDown"):
        once("s3").put_object(Bucket=bucket, Key="k", Body=b"x")


def test_a_failing_terminate_leaves_the_cluster_alive(
    emulator, impatient, cluster, until
):
    ask(emulator, kind="fail", call="TerminateJobFlows")
    with pytest.raises(ClientError, match="InternalServerException"):
        impatient.terminate_job_flows(JobFlowIds=[cluster])
    until(cluster, "WAITING")
    impatient.terminate_job_flows(JobFlowIds=[cluster])
    until(cluster, "TERMINATED")


def test_a_slow_start_keeps_a_cluster_in_starting(emulator, launch, step, until):
    ask(emulator, kind="slow_start", seconds=1)
    cluster = launch(Steps=[step("true")])
    until(cluster, "STARTING")
    until(cluster, "WAITING")


def test_a_cluster_that_dies_interrupts_its_step(emulator, cluster, add, step, until):
    running, pending = add(cluster, step("bash", "-c", "sleep 60"), step("true"))
    until(cluster, "RUNNING", step=running)
    ask(emulator, kind="cluster_dies", cluster=cluster)
    status = until(cluster, "TERMINATED_WITH_ERRORS")
    assert status["StateChangeReason"]["Code"] == "INSTANCE_FAILURE"
    until(cluster, "INTERRUPTED", step=running)
    until(cluster, "CANCELLED", step=pending)


@pytest.mark.parametrize(
    "rule, told",
    [
        ({"kind": "earthquake"}, "kind: got 'earthquake'. Choose one of: throttle,"),
        (
            {"kind": "fail", "cal": "x"},
            "unknown key cal. Keys of a fault: kind, call, times,",
        ),
        ({"kind": "cluster_dies", "cluster": "j-0"}, "job flow ID does not exist"),
    ],
)
def test_a_rule_that_means_nothing_is_refused(emulator, rule, told):
    reply = post(emulator, rule)
    assert reply.status == 400
    assert told in json.loads(reply.data)["error"]


def test_waiting_faults_can_be_seen_and_cleared(emulator):
    ask(emulator, kind="throttle", call="ListSteps", times=3)
    [waiting] = page(emulator, "GET", "faults")
    assert (waiting["call"], waiting["times"]) == ("ListSteps", 3)
    page(emulator, "DELETE", "faults")
    assert page(emulator, "GET", "faults") == []


def test_the_ledger_counts_the_start_that_is_not_waited_for(
    emulator, emr, cluster, until
):
    emr.terminate_job_flows(JobFlowIds=[cluster])
    until(cluster, "TERMINATED")
    entries = page(emulator, "GET", "ledger")["clusters"]
    [entry] = [entry for entry in entries if entry["id"] == cluster]
    assert entry["minutes"] == pytest.approx(9 + entry["run_seconds"] / 60, abs=0.01)
    assert entry["instances"] == 2
    [other] = [
        entry
        for entry in page(emulator, "GET", "ledger?start_minutes=5")["clusters"]
        if entry["id"] == cluster
    ]
    assert other["minutes"] == pytest.approx(entry["minutes"] - 4, abs=0.01)


def test_health_names_the_clusters_that_are_alive(emulator, cluster):
    health = page(emulator, "GET", "health")
    assert health["status"] == "ok"
    assert cluster in health["clusters_alive"]


def named(emr, name):
    """The ids of the clusters of this name."""
    listed = emr.list_clusters()["Clusters"]
    return [each["Id"] for each in listed if each["Name"] == name]


def run_job_flow(emr, name):
    instances = {"MasterInstanceType": "m7g.large", "InstanceCount": 1}
    instances["KeepJobFlowAliveWhenNoSteps"] = True
    emr.run_job_flow(Name=name, ReleaseLabel=RELEASE, Instances=instances)


def ask(emulator, **rule):
    reply = post(emulator, rule)
    assert reply.status == 200, reply.data


def post(emulator, rule):
    body = json.dumps(rule).encode()
    return asked(emulator, "POST", "faults", body)


def page(emulator, method, name):
    return json.loads(asked(emulator, method, name).data)


def asked(emulator, method, name, body=b""):
    """A page's status and data, also of one that refuses."""
    more = {"secret": emulator.secret, "method": method, "body": body}
    try:
        with ask_page(emulator.url, name, **more) as reply:
            return SimpleNamespace(status=reply.status, data=reply.read())
    except HTTPError as refused:
        return SimpleNamespace(status=refused.code, data=refused.read())


def test_the_page_on_the_emulator_names_every_kind_of_fault():
    docs = Path(__file__).resolve().parents[3] / "docs" / "emulator.md"
    named = re.findall(r'"kind": "(\w+)"', docs.read_text())
    assert sorted(named) == sorted(KINDS)
