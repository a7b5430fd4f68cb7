"""Clusters of other teams, other Airflows and a second deployment, in the account of ours."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any, Dict, Iterator

from airflow.providers.amazon.aws.hooks.base_aws import AwsGenericHook
from airflow.providers.amazon.aws.hooks.s3 import S3Hook
from lake_airflow.compat import AirflowSkipException
from lake_airflow.emr import clusters
from lake_airflow.emr.job_flow import AIRFLOW_TAG, run_job_flow_request
from lake_airflow.operators import submit_stage, terminate_cluster
from lake_airflow.operators.reaper import TerminateOrphans
from lake_airflow.operators.terminate_cluster import TerminateCluster
from lake_airflow.runs.run import check_run
from lake_spec.platform.deployment import DEPLOYMENT_TAG
from moto import mock_aws

from tests.neighbour.scene import Beside, Seen
from tests.unit.lake_airflow.conftest import REGION, Runner, client, resource
from tests.unit.lake_airflow.fake_emr import Emr
from tests.unit.lake_airflow.first_task import create_cluster
from tests.unit.lake_airflow.operators.test_deployments import NoRun
from tests.unit.lake_airflow.specs import CLUSTER, ENVIRONMENT, RELEASE, dag_plan

PLAN = dag_plan("full_load")
ELSEWHERE = replace(ENVIRONMENT, runs="s3://neighbour/runs", logs="s3://neighbour/logs")
HOUR, DAYS = timedelta(hours=1), timedelta(days=5)


@contextmanager
def _account(beside: Beside) -> Iterator[Emr]:
    """An account in memory, whose steps move on each time that somebody sleeps."""
    beside.patch.setenv("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")
    beside.patch.setenv("AIRFLOW_CONN_AWS_DEFAULT", f"aws://?region_name={REGION}")
    beside.patch.setattr(
        AwsGenericHook, "get_client_type", lambda hook, **_: client(hook.client_type)
    )
    beside.patch.setattr(S3Hook, "resource", resource("s3"))
    with mock_aws():
        place = {"LocationConstraint": REGION}
        client("s3").create_bucket(Bucket="lake", CreateBucketConfiguration=place)
        cloud = Emr(REGION)
        for module in (terminate_cluster, clusters, submit_stage):
            beside.patch.setattr(module.time, "sleep", lambda _: cloud.move_on())
        yield cloud


def _made(
    age: timedelta,
    environment: Any = ENVIRONMENT,
    run_id: str = "manual-1",
    **tags: str,
) -> str:
    """A cluster of a run of that environment; its id."""
    run = check_run(PLAN, run_id=run_id, params={}, release=RELEASE)
    request = run_job_flow_request(
        PLAN, run=run, cluster=CLUSTER, environment=environment
    )
    return _started(request, age, tags)


def _started(request: Dict[str, Any], age: timedelta, tags: Dict[str, str]) -> str:
    made = client("emr").run_job_flow(**request)["JobFlowId"]
    cluster = Emr(REGION).backend.clusters[made]
    cluster.add_tags(tags)
    cluster.creation_datetime = datetime.now(timezone.utc) - age
    return made


def _of_team(name: str, **tags: str) -> str:
    instances = {"InstanceCount": 1, "MasterInstanceType": "m7g.xlarge"}
    request = {"Name": name, "Instances": instances, "JobFlowRole": "r"}
    return _started(request, DAYS, tags)


def of_others(beside: Beside) -> Iterator:
    """Clusters by the names, tags and run ids of ours, which are not of this deployment."""
    with _account(beside) as cloud:
        name = "lake sales_full_load manual-1"
        ids = {
            "a second deployment's, of our run": _made(HOUR, ELSEWHERE),
            "a second deployment's, too old": _made(DAYS, ELSEWHERE),
            "a second deployment's, of the release before": _made(DAYS, ELSEWHERE),
            "another environment's": _made(DAYS, replace(ENVIRONMENT, name="prod")),
            "another team's": _of_team("nightly-etl"),
            "another team's, of our name": _of_team(name),
            "another team's, with an environment": _of_team(
                "etl", **{"lake:environment": ENVIRONMENT.name, "lake:max-hours": "1"}
            ),
        }
        before = ids["a second deployment's, of the release before"]
        cloud.backend.clusters[before].remove_tags([DEPLOYMENT_TAG])

        def seen() -> Seen:
            found = {words: cloud.backend.clusters[id] for words, id in ids.items()}
            return {
                words: (each.state, dict(each.tags), [s.name for s in each.steps])
                for words, each in found.items()
            }

        yield seen
        reap = TerminateOrphans(task_id="end_leftovers", environment=ENVIRONMENT)
        beside.does("the reaper", reap.execute, {"ti": NoRun()})
        beside.refuses("an end", AirflowSkipException, Runner().execute, _end())
        runner = Runner()
        beside.does("a run", runner.execute, create_cluster(PLAN))
        beside.does("its end", runner.execute, _end())
        yield None


def of_another_airflow(beside: Beside) -> Iterator:
    """A cluster of this deployment, whose run another Airflow knows alone."""
    with _account(beside) as cloud:
        made = _made(HOUR, **{AIRFLOW_TAG: "other"})
        yield lambda: {"a cluster at work": cloud.backend.clusters[made].state}
        reap = TerminateOrphans(task_id="end_leftovers", environment=ENVIRONMENT)
        beside.does("the reaper", reap.execute, {"ti": NoRun()})
        yield None


def of_the_release_before(beside: Beside) -> Iterator:
    """Our clusters without the tag of the deployment, beside those of others."""
    with _account(beside) as cloud:
        theirs = {
            "another team's, of our name": _of_team("lake sales_full_load manual-1"),
            "a second deployment's, of our run": _made(HOUR, ELSEWHERE),
        }
        ours = {"of our run": _made(HOUR), "too old": _made(DAYS, run_id="manual-0")}
        known = cloud.backend.clusters
        for id in ours.values():
            known[id].remove_tags([DEPLOYMENT_TAG])
        yield lambda: {words: known[id].state for words, id in theirs.items()}
        count, runner = len(known), Runner()
        beside.does("a run", runner.execute, create_cluster(PLAN))
        beside.expects("a second cluster was made of a run", len(known) == count)
        beside.does("its end", runner.execute, _end())
        reap = TerminateOrphans(task_id="end_leftovers", environment=ENVIRONMENT)
        beside.does("the reaper", reap.execute, {"ti": NoRun()})
        for words, id in ours.items():
            beside.expects(f"{words}: was not ended", known[id].state == "TERMINATED")
        yield None


def _end() -> TerminateCluster:
    return TerminateCluster(
        task_id="terminate_cluster",
        plan=PLAN,
        environment=ENVIRONMENT,
        poll_seconds=300,
    )


SCENES = (of_others, of_another_airflow, of_the_release_before)
