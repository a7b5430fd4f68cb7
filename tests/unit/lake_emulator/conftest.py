"""An emulator in this process, with clients; its steps are plain commands."""

from __future__ import annotations

import time
from typing import Any, Callable, Iterator

import boto3
import pytest
from botocore.config import Config

from lake_emulator import client
from lake_emulator.emr.step_rules import StepRules, other_command
from lake_emulator.server import Emulator

RELEASE = "emr-7.13.0"
PLAIN = (["bash"], ["python3"], ["true"], ["false"])
RULES = StepRules(
    refused=lambda args: None if args[:1] in PLAIN else other_command(args),
    failure_prefix="FAILED ",
)
"""Plain commands stand for those of Spark."""


@pytest.fixture(scope="package")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    home = tmp_path_factory.mktemp("aws")
    served = Emulator(home, grace=2, idle_scale=0.005, rules=RULES)
    served.home = home
    served.start()
    yield served
    served.stop()


@pytest.fixture(scope="package")
def emr(emulator: Emulator) -> Any:
    return client("emr", emulator.url, secret=emulator.secret)


@pytest.fixture(scope="package")
def s3(emulator: Emulator) -> Any:
    return client("s3", emulator.url, secret=emulator.secret)


@pytest.fixture(scope="package")
def once(emulator: Emulator) -> Callable[[str], Any]:
    """Make a client that tries each call once."""

    def make(service: str) -> Any:
        return boto3.client(
            service,
            endpoint_url=emulator.url,
            region_name="eu-central-1",
            aws_access_key_id="local",
            aws_secret_access_key=emulator.secret,
            config=Config(retries={"total_max_attempts": 1}),
        )

    return make


@pytest.fixture
def bucket(s3: Any, request: pytest.FixtureRequest) -> str:
    """An empty bucket of this test's own."""
    name = f"b{abs(hash(request.node.nodeid)):x}"
    region = {"LocationConstraint": "eu-central-1"}
    s3.create_bucket(Bucket=name, CreateBucketConfiguration=region)
    return name


@pytest.fixture(autouse=True)
def no_faults_left(emulator: Emulator) -> Iterator[None]:
    yield
    emulator.faults.clear()


@pytest.fixture
def step() -> Callable[..., dict[str, Any]]:
    """A step that starts this command."""

    def make(*args: str, action: str = "CONTINUE", name: str = "a step") -> Any:
        jar = {"Jar": "command-runner.jar", "Args": list(args)}
        return {"Name": name, "ActionOnFailure": action, "HadoopJarStep": jar}

    return make


@pytest.fixture
def launch(emr: Any) -> Iterator[Callable[..., str]]:
    """Start a cluster that stays; it is ended after the test."""
    started: list[str] = []

    def start(*, keep_alive: bool = True, **request: Any) -> str:
        instances = {
            "MasterInstanceType": "m7g.xlarge",
            "InstanceCount": 2,
            "KeepJobFlowAliveWhenNoSteps": keep_alive,
        }
        asked = {"Name": "a test", "ReleaseLabel": RELEASE, "Instances": instances}
        cluster = emr.run_job_flow(**{**asked, **request})["JobFlowId"]
        started.append(cluster)
        return cluster

    yield start
    for cluster in started:
        protect = {"JobFlowIds": [cluster], "TerminationProtected": False}
        if not state_of(emr, cluster).startswith("TERMINAT"):
            emr.set_termination_protection(**protect)
            emr.terminate_job_flows(JobFlowIds=[cluster])


@pytest.fixture
def cluster(launch: Callable[..., str]) -> str:
    return launch()


@pytest.fixture
def add(emr: Any) -> Callable[..., list[str]]:
    def add_steps(cluster: str, *steps: Any, **request: Any) -> list[str]:
        reply = emr.add_job_flow_steps(JobFlowId=cluster, Steps=list(steps), **request)
        return reply["StepIds"]

    return add_steps


@pytest.fixture
def until(emr: Any) -> Callable[..., dict[str, Any]]:
    """Wait until a step, or else the cluster, is in a state; its status."""

    def wait(cluster: str, *states: str, step: str = "", seconds: float = 15) -> Any:
        deadline = time.monotonic() + seconds
        while True:
            status = status_of(emr, cluster, step)
            if status["State"] in states:
                return status
            assert time.monotonic() < deadline, f"still {status}, wanted {states}"
            time.sleep(0.02)

    return wait


def status_of(emr: Any, cluster: str, step: str = "") -> dict[str, Any]:
    if step:
        return emr.describe_step(ClusterId=cluster, StepId=step)["Step"]["Status"]
    return emr.describe_cluster(ClusterId=cluster)["Cluster"]["Status"]


def state_of(emr: Any, cluster: str) -> str:
    return status_of(emr, cluster)["State"]
