"""What was put survives kill -9 of the server; what ran with it does not."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest

from lake_emulator import client
from lake_emulator.keys import secret_of
from lake_emulator.moto_services import MotoServices
from lake_emulator.pages import is_healthy
from lake_emulator.server import Emulator, StateDirectoryInUse

ROOT = Path(__file__).resolve().parents[3]
CODE = ROOT / "emulator"

SERVE = """
import sys
from lake_emulator import __main__ as command
from lake_emulator.emr.step_rules import StepRules
sys.exit(command.main(sys.argv[1:], StepRules(refused=lambda args: None)))
"""
"""The emulator, whose steps may be plain commands here."""


class Served:
    """An emulator in a process of its own."""

    def __init__(self, home: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.secret = secret_of(home)
        self.url = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVE, "--state-dir", home, "--port", str(port)],
            env={**os.environ, "PYTHONPATH": str(CODE)},
            stderr=subprocess.PIPE,
        )
        try:
            self._wait_until_ready()
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + 60
        while not self._ready():
            assert self.process.poll() is None, self.process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def _ready(self) -> bool:
        return is_healthy(self.url, self.secret)

    def client(self, service: str):
        return client(service, self.url, secret=self.secret)

    def end(self, number: int) -> int:
        self.process.send_signal(number)
        code = self.process.wait(20)
        self.process.stderr.close()
        return code


@dataclass(frozen=True)
class Killed:
    """What an emulator held when it was killed, and the one that came after it."""

    modified: datetime
    cluster: str
    pid: int
    after: Served


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    home = tmp_path_factory.mktemp("killed")
    before = Served(home)
    try:
        modified = fill(before)
        cluster, pid = running_step(before, home)
    finally:
        before.end(signal.SIGKILL)
    after = Served(home)
    yield Killed(modified, cluster, pid, after)
    after.end(signal.SIGKILL)


def test_everything_that_was_acknowledged_survives_kill_9(killed):
    s3 = killed.after.client("s3")
    found = s3.get_object(Bucket="lake", Key="landing/a.csv")
    assert found["Body"].read() == b"a,b\n1,2\n"
    assert found["Metadata"] == {"by": "us"}
    assert found["LastModified"] == killed.modified
    assert s3.head_object(Bucket="lake", Key="big")["ETag"].endswith('-2"')
    glue = killed.after.client("glue")
    table = glue.get_table(DatabaseName="moma", Name="artists")["Table"]
    assert table["StorageDescriptor"]["Location"] == "s3://lake/warehouse"
    secrets = killed.after.client("secretsmanager")
    assert secrets.get_secret_value(SecretId="s")["SecretString"] == "hidden"


def fill(served: Served) -> datetime:
    """Put objects, a table and a secret; when the first object was put."""
    s3, glue = served.client("s3"), served.client("glue")
    region = {"LocationConstraint": "eu-central-1"}
    s3.create_bucket(Bucket="lake", CreateBucketConfiguration=region)
    body = {"Body": b"a,b\n1,2\n", "Metadata": {"by": "us"}}
    s3.put_object(Bucket="lake", Key="landing/a.csv", **body)
    upload = s3.create_multipart_upload(Bucket="lake", Key="big")["UploadId"]
    where = {"Bucket": "lake", "Key": "big", "UploadId": upload}
    parts = []
    for number, body in ((1, b"x" * 5 * 1024 * 1024), (2, b"y")):
        etag = s3.upload_part(**where, PartNumber=number, Body=body)["ETag"]
        parts.append({"PartNumber": number, "ETag": etag})
    s3.complete_multipart_upload(**where, MultipartUpload={"Parts": parts})
    glue.create_database(DatabaseInput={"Name": "moma"})
    storage = {"Location": "s3://lake/warehouse"}
    table = {"Name": "artists", "StorageDescriptor": storage}
    glue.create_table(DatabaseName="moma", TableInput=table)
    secrets = served.client("secretsmanager")
    secrets.create_secret(Name="s", SecretString="hidden")
    return s3.head_object(Bucket="lake", Key="landing/a.csv")["LastModified"]


def test_a_step_dies_with_a_killed_server_and_its_cluster_has_ended(killed):
    assert gone(killed.pid)
    emr = killed.after.client("emr")
    status = emr.describe_cluster(ClusterId=killed.cluster)["Cluster"]["Status"]
    assert status["State"] == "TERMINATED_WITH_ERRORS"
    assert status["StateChangeReason"] == {
        "Code": "INTERNAL_ERROR",
        "Message": "The emulator stopped while the cluster was alive",
    }
    [step] = emr.list_steps(ClusterId=killed.cluster)["Steps"]
    assert step["Status"]["State"] == "INTERRUPTED"


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.nightly)]
)
def test_a_clean_stop_ends_the_steps_and_exits_with_0(tmp_path, number):
    served = Served(tmp_path)
    try:
        cluster, pid = running_step(served, tmp_path)
    finally:
        code = served.end(number)
    assert code == 0
    assert gone(pid, seconds=0)
    record = json.loads((tmp_path / "emr" / cluster / "cluster.json").read_text())
    assert record["state"] == "TERMINATED_WITH_ERRORS"
    assert record["reason"]["Message"] == "The emulator was stopped"


def test_a_second_server_on_the_same_home_is_refused(emulator):
    with pytest.raises(
        StateDirectoryInUse, match=rf"emulator \(process {os.getpid()}\)"
    ):
        Emulator(emulator.home)


def test_state_that_cannot_be_read_is_put_aside(tmp_path, caplog):
    (tmp_path / "glue.pickle").write_bytes(b"not a pickle")
    MotoServices(tmp_path)
    assert (tmp_path / "glue.unreadable").read_bytes() == b"not a pickle"
    assert "glue.unreadable" in caplog.text


def running_step(served: Served, home: Path) -> tuple[str, int]:
    """A cluster with a step that sleeps, and the step's process id."""
    emr = served.client("emr")
    jar = {"Jar": "command-runner.jar"}
    jar["Args"] = ["bash", "-c", "echo $$; exec sleep 60"]
    instances = {"MasterInstanceType": "m7g.large", "InstanceCount": 1}
    cluster = emr.run_job_flow(
        Name="c",
        ReleaseLabel="emr-7.13.0",
        Instances={**instances, "KeepJobFlowAliveWhenNoSteps": True},
        Steps=[{"Name": "s", "HadoopJarStep": jar, "ActionOnFailure": "CONTINUE"}],
    )["JobFlowId"]
    [step] = emr.list_steps(ClusterId=cluster)["Steps"]
    output = home / "emr" / cluster / step["Id"] / "stdout"
    deadline = time.monotonic() + 60
    while not (output.exists() and output.read_text().strip()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return cluster, int(output.read_text())


def gone(pid: int, seconds: float = 15) -> bool:
    """Whether a process ends within this time."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.05)
