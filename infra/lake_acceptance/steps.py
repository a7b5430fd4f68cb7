"""Checks of a cluster and of real steps on it, as the DAGs create and submit them."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, Dict, List, Sequence


from lake_acceptance import storage
from lake_acceptance.check import Check, CheckFailed
from lake_acceptance.preparation import land
from lake_acceptance.subject import DOMAIN, FULL_LOAD, INCREMENTAL, Subject
from lake_airflow.emr.clusters import ClusterFinder, ClusterSteps
from lake_airflow.emr.hook import NonRetryingEmrHook
from lake_airflow.emr.job_flow import (
    ALIVE,
    ENDED,
    cluster_name,
    log_folder,
    request_problems,
    run_job_flow_request,
)
from lake_airflow.emr.step_log import last_exception
from lake_airflow.emr.step_status import end_of_cluster, end_of_step, is_alive
from lake_airflow.emr.steps import Step, spark_step, streamer_steps
from lake_airflow.planning.plan import Stage, StageKind
from lake_airflow.runs.files import RunFiles
from lake_airflow.runs.lease import DomainLease
from lake_airflow.runs.run import Run
from lake_spec.platform.jars import AVRO

PROBE = "probe"
"""The stage of lake_spark.step.probe, which no DAG has."""

OTHER = "lake_acceptance_other/second-holder"
"""The run that asks for a lease which is taken."""

_POLL_SECONDS = 15
_LOG_MINUTES = 12
"""EMR copies the logs of a step every five minutes, and once more at the end."""

_KNOWN_CAUSES = (
    (
        "is not that of the release",
        "a file of the release was replaced after it was put.",
        "Find out who may write to the bucket of artifacts; then deploy the release again.",
    ),
    (
        "No module named 'boto3'",
        "boto3 is missing on the nodes.",
        "Build the release again: boto3.zip has it.",
    ),
    (
        "NoRegionError",
        "the step has no AWS region.",
        "Deploy a release whose steps are given the region.",
    ),
    (
        "AccessDenied",
        "the role of the step lacks a right.",
        "Deploy the layer domains again; compare its policy with the action named.",
    ),
    (
        "ClassNotFoundException",
        "a jar of the EMR release is not where it was looked for.",
        "Choose an EMR release that docs/reference lists.",
    ),
)
"""What the end of a step's log says, what that means and what helps."""


def lease(subject: Subject) -> str:
    """Take the lease of the domain; it must be refused to another run."""
    found = _lease(subject)
    name = subject.run(FULL_LOAD).name
    granted = found.take(name, lambda holder: True)
    if granted.holder != name:
        raise CheckFailed(
            f"{found.address}: {granted.holder} holds the lease.",
            "Another acceptance run is under way: wait for its end.",
        )
    subject.tokens[name] = granted.token
    other = found.take(OTHER, lambda holder: True)
    if other.holder != name:
        raise CheckFailed(
            f"{found.address}: a second run got the lease of {name}.",
            "Conditional writes do not hold: ask AWS support which S3 this is.",
        )
    return f"token {granted.token}; refused to a second run"


def _lease(subject: Subject) -> DomainLease:
    return DomainLease(subject.environment, DOMAIN, aws_conn_id=None)


def cluster(subject: Subject) -> str:
    """Create the cluster of the run, and wait until it takes steps."""
    subject.cluster_id = create_cluster(subject)
    states = ("RUNNING", "WAITING", *ENDED)
    found = _wait_for_cluster(subject, subject.cluster_id, states)
    if why := end_of_cluster(found):
        raise CheckFailed(
            f"{why}.", "Read the log of its provisioning below its log folder on S3."
        )
    return f"{subject.cluster_id}, {found.get('ReleaseLabel')}"


def create_cluster(subject: Subject) -> str:
    """Send the request that a run's first task sends; return the cluster's id."""
    request = run_job_flow_request(
        subject.plan(FULL_LOAD),
        run=subject.run(FULL_LOAD),
        cluster=subject.cluster,
        environment=subject.environment,
    )
    emr = subject.client("emr")
    if problems := request_problems(request, emr.meta.service_model):
        raise CheckFailed(problems, "Correct the cluster's file.")
    created: dict[str, str] = _writer(subject).create_job_flow(request)
    return created["JobFlowId"]


def _writer(subject: Subject) -> NonRetryingEmrHook:
    """Return what the DAGs send their writes to EMR with."""
    region = subject.environment.region
    return NonRetryingEmrHook(aws_conn_id=None, emr_conn_id=None, region_name=region)


def probe(subject: Subject) -> str:
    """Run a step that writes what it finds where it runs."""
    plan, run = subject.plan(FULL_LOAD), subject.run(FULL_LOAD)
    asked, stage = replace(plan, jars=(AVRO,)), Stage(PROBE, plan.tables)
    step = spark_step(asked, stage, run=run, environment=subject.environment)
    _submit(subject, [step])
    subject.facts = _files(subject, run).read(f"{PROBE}/facts.json")
    versions = subject.facts["versions"].get("value", {})
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def full_load(subject: Subject) -> str:
    """Run the stages of a full load."""
    return run_stages(subject, FULL_LOAD)


def incremental(subject: Subject) -> str:
    """Hand the lease to a second run, land its files and run its stages."""
    hand_lease_to(subject, INCREMENTAL)
    land(subject, "second")
    return run_stages(subject, INCREMENTAL)


def hand_lease_to(subject: Subject, dag_id: str) -> None:
    """Take the lease of the domain for the run of a DAG, from the one before it."""
    found, name = _lease(subject), subject.run(dag_id).name
    for earlier in subject.tokens:
        found.release(earlier)
    subject.tokens[name] = found.take(name, lambda holder: True).token


def run_stages(subject: Subject, dag_id: str, **options: Any) -> str:
    """Run the stages of a DAG with these options; return how many there were."""
    plan, run = subject.plan(dag_id), replace(subject.run(dag_id), **options)
    files = _files(subject, run)
    for stage in plan.stages:
        if stage.kind is StageKind.STREAMER:
            manifest = files.read(f"{stage.prepared_by}/streamer.json")
            steps = streamer_steps(stage, manifest, run=run)
        else:
            environment = subject.environment
            steps = [spark_step(plan, stage, run=run, environment=environment)]
        try:
            _submit(subject, steps)
        except CheckFailed as of_step:
            raise _of_tables(_reports(files), of_step) from None
    found = _reports(files)
    subject.reports += found
    rows = sum(each["rows_in"] for each in found)
    return f"{len(plan.stages)} stages, {len(found)} reports, {rows} rows read"


def _of_tables(reports: Sequence[Dict[str, Any]], of_step: CheckFailed) -> CheckFailed:
    """Return why tables failed, as their reports say; without one why the step did."""
    causes = [
        f"{each['table']} {each['stage']}: {each['error']['message']}"
        for each in reports
        if each["state"] == "failed"
    ]
    return CheckFailed("; ".join(causes), of_step.fix) if causes else of_step


def _files(subject: Subject, run: Run) -> RunFiles:
    return RunFiles(subject.environment, run.name, aws_conn_id=None)


def _reports(files: RunFiles) -> List[Dict[str, Any]]:
    return [
        files.read(name)
        for name in sorted(files.names())
        if name.count("/") == 1
        and name.endswith(".json")
        and not name.startswith(("prepare_", f"{PROBE}/"))
    ]


def _submit(subject: Subject, steps: Sequence[Step]) -> None:
    """Submit steps and wait for their end. Raises CheckFailed if one failed."""
    if not steps:
        return
    role = subject.environment.runtime_role_of(DOMAIN)
    ids = _writer(subject).add_job_flow_steps(
        subject.cluster_id, list(steps), execution_role_arn=role
    )
    submitted = ClusterSteps(subject.client("emr"), subject.cluster_id)
    while True:
        listed = submitted.listed()
        ours = [each for each in listed if each["Id"] in ids]
        if len(ours) == len(ids) and not any(map(is_alive, ours)):
            break
        _pause(subject)
    for step in ours:
        if step["Status"]["State"] != "COMPLETED":
            raise failure_of(subject, step)


def failure_of(subject: Subject, step: Dict[str, Any]) -> CheckFailed:
    """Return why a step failed, by EMR's words and the end of its log."""
    folder = log_folder(subject.environment, subject.run(FULL_LOAD).name)
    end = end_of_step(step["Name"], step, log_folder=f"{folder}{subject.cluster_id}/")
    region = subject.environment.region
    logged = last_exception(end["log"], region=region, aws_conn_id=None)
    words = logged or end["reason"] or "no reason given"
    for text, cause, fix in _KNOWN_CAUSES:
        if text in f"{end['reason']} {logged}":
            return CheckFailed(f"{cause} {step['Name']}: {words}", fix)
    return CheckFailed(
        f"step {step['Name']} {end['state']}: {words}.", f"Read its log: {end['log']}"
    )


def spot(subject: Subject) -> str:
    """Look for a node on Spot that runs."""
    if not subject.cluster.instances.has_spot:
        return "the cluster's file has fleets without Spot"
    pages = subject.client("emr").get_paginator("list_instances")
    found = [
        each
        for page in pages.paginate(
            ClusterId=subject.cluster_id, InstanceStates=["RUNNING", "BOOTSTRAPPING"]
        )
        for each in page["Instances"]
        if each.get("Market") == "SPOT"
    ]
    if not found:
        raise CheckFailed(
            "no task node on Spot runs.",
            "Create the role AWSServiceRoleForEC2Spot; the policy of a customer key for "
            "disks must let it use the key: see docs/deploy.md.",
        )
    return f"{found[0]['InstanceType']} {found[0]['Id']}"


def logs(subject: Subject) -> str:
    """Wait for a log of a step on S3."""
    folder = log_folder(subject.environment, subject.run(FULL_LOAD).name).rstrip("/")
    s3, limit = subject.client("s3"), time.monotonic() + _LOG_MINUTES * 60
    while True:
        found = [name for name in storage.keys(s3, folder) if "/steps/" in name]
        if found:
            return f"{len(found)} files, such as {folder}/{found[0]}"
        if time.monotonic() > limit:
            raise CheckFailed(
                f"no log of a step below {folder}/ after {_LOG_MINUTES} minutes.",
                "The role of the nodes must be allowed to write there, and EMR's log "
                "buckets must be in the policy of the S3 endpoint.",
            )
        _pause(subject)


def teardown(subject: Subject) -> str:
    """End the cluster, whatever became of it, and give the lease back."""
    found = _lease(subject)
    for name in subject.tokens:
        found.release(name)
    name = cluster_name(subject.run(FULL_LOAD).name)
    made = [subject.cluster_id] if subject.cluster_id else []
    return _end(subject, _finder(subject).find(name), made)


def _end(subject: Subject, living: Sequence[str], made: Sequence[str] = ()) -> str:
    if living:
        subject.client("emr").terminate_job_flows(JobFlowIds=list(living))
    ids = dict.fromkeys([*made, *living])
    ended = [(id, _wait_for_cluster(subject, id, ENDED)) for id in ids]
    words = [f"{id} {found['Status']['State']}" for id, found in ended]
    return ", ".join(words) or "no cluster to end"


def none_left(subject: Subject) -> str:
    """Look for clusters of the acceptance domain, as the reaper does."""
    left = _left(subject)
    if left:
        raise CheckFailed(
            f"still alive: {', '.join(left)}.",
            "Terminate them: they cost money until then.",
        )
    return f"no cluster of {DOMAIN} in {', '.join(ALIVE)}"


def _left(subject: Subject) -> List[str]:
    """List the ids of living clusters of the acceptance domain, of any run."""
    living = _finder(subject).living()
    return [each["Id"] for each in living if f" {DOMAIN}_" in each["Name"]]


def _finder(subject: Subject) -> ClusterFinder:
    return ClusterFinder(subject.client("emr"), subject.environment)


def _wait_for_cluster(
    subject: Subject, cluster_id: str, states: Sequence[str]
) -> Dict[str, Any]:
    """Describe a cluster once it has one of the states."""
    finder = _finder(subject)
    while True:
        found = finder.describe(cluster_id)
        if found["Status"]["State"] in states:
            return found
        _pause(subject)


def _pause(subject: Subject) -> None:
    time.sleep(0.2 if subject.emulated else _POLL_SECONDS)


CHECKS = (
    Check(
        "lease", "Does the lease keep a second run out?", lease, ("release", "landing")
    ),
    Check("cluster", "Does a cluster start?", cluster, ("lease",)),
    Check("step", "Does a step run?", probe, ("cluster",)),
)
LOADS = (
    Check("full-load", "Does a full load end well?", full_load, ("step",)),
    Check(
        "incremental", "Does an incremental run end well?", incremental, ("full-load",)
    ),
    Check(
        "spot",
        "Does a task node on Spot come?",
        spot,
        ("step",),
        only_in_account="the emulator's nodes are shown, not started",
    ),
    Check("logs", "Do logs of steps arrive on S3?", logs, ("step",)),
)
ENDS = (
    Check("teardown", "Does the cluster end?", teardown, always=True),
    Check("none-left", "Is no cluster left?", none_left, always=True),
)
