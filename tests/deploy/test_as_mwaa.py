"""Airflow's folder as MWAA lays it out: a release deployed, copied, and parsed by Airflow.

Only what the bucket holds is there, in a folder of its own; nothing of the checkout is on
Python's path. No pyspark, no network, and a warning is an error. Runs with the Airflow of
each version of MWAA.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from lake_release.built import build
from lake_release.deployment import Deployment
from lake_release.target import Target
from moto import mock_aws

from tests.unit.lake_release.buckets import REGION, copy, made_buckets

# Airflow's own reading of .airflowignore is not ours to fix.
WARNINGS = ("-W", "error", "-W", "ignore:GitWildMatchPattern:DeprecationWarning")
PARSE = """
import json, socket, sys

def refuse(*_):
    raise OSError("a socket was opened")

sys.modules["pyspark"] = None
socket.socket.connect = socket.getaddrinfo = refuse

from airflow.models import DagBag

bag = DagBag(sys.argv[1])
created = {
    name: dag.get_task("create_cluster")
    for name, dag in bag.dags.items()
    if dag.has_task("create_cluster")
}
print(json.dumps({
    "errors": list(bag.import_errors.values()),
    "files": {name: dag.fileloc for name, dag in bag.dags.items()},
    "releases": {name: task.release for name, task in created.items()},
    "environments": sorted({task.environment.name for task in created.values()}),
}))
"""


OTHERS = ("other_team.py", "team/releases/a.py", "releases/theirs/a.py")
"""DAG files of others in the same folder, which Airflow is to show as before."""


def others(name: str) -> bytes:
    """A file with one DAG."""
    id = name[: -len(".py")].replace("/", ".")
    return f"from airflow.sdk import DAG\ndag = DAG({id!r}, schedule=None)\n".encode()


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """The release of this tree, and the folder that MWAA would copy of it."""
    folder = tmp_path_factory.mktemp("mwaa")
    built = build("prod", folder / "releases")
    patch = pytest.MonkeyPatch()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        patch.setenv(name, "testing")
    with mock_aws():
        s3 = made_buckets()
        target = Target.of(built.environment, None)
        for name in OTHERS:
            key = f"dags/{name}"
            s3.put_object(Bucket=target.dags_bucket, Key=key, Body=others(name))
        Deployment(target, s3, by="a test", say=lambda line: None).deploy(built)
        copy(s3, folder / "dags")
    patch.undo()
    return built.id, folder / "dags"


@pytest.fixture(scope="module")
def parsed(release, tmp_path_factory):
    """What Airflow finds in that folder."""
    _, dags = release
    home = tmp_path_factory.mktemp("home")
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = subprocess.run(
        [sys.executable, *WARNINGS, "-c", PARSE, str(dags)],
        env={
            **kept,
            "PYTHONPATH": str(dags),  # as MWAA sets it
            "AIRFLOW_HOME": str(home),
            "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "false",
            "AIRFLOW__LOGGING__LOGGING_LEVEL": "CRITICAL",
            "AIRFLOW_CONN_AWS_DEFAULT": "aws://",
            "AWS_DEFAULT_REGION": REGION,
            "LAKE_ENVIRONMENT": "prod",  # what startup.sh exports
        },
        cwd=home,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_every_dag_is_there_without_an_error(parsed):
    assert parsed["errors"] == []
    assert sorted(parsed["files"]) == [
        "lake_proof",
        "lake_reaper",
        "moma_erase",
        "moma_full_load",
        "moma_incremental",
        "moma_maintenance",
        "moma_rebuild",
        "moma_reprocess",
        "other_team",
        "releases.theirs.a",
        "team.releases.a",
    ]


def test_every_dag_is_of_the_one_release_and_of_its_environment(release, parsed):
    assert len(parsed["releases"]) == 6
    assert set(parsed["releases"].values()) == {release[0]}
    assert parsed["environments"] == ["prod"]


def test_a_dag_keeps_its_file_from_release_to_release(release, parsed):
    _, dags = release
    assert parsed["files"]["moma_full_load"] == str(dags / "moma.py")
