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
from dataclasses import replace

import pytest
from lake_release.built import build
from lake_release.deployment import Deployment
from lake_release.target import Target
from lake_spec.model.aws import SharedAirflow
from moto import mock_aws

from tests.unit.lake_release.buckets import BUCKET, REGION, copy, made_buckets

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
import tables
print(json.dumps({
    "theirs": tables.NAME,
    "errors": list(bag.import_errors.values()),
    "files": {name: dag.fileloc for name, dag in bag.dags.items()},
    "releases": {name: task.release for name, task in created.items()},
    "environments": sorted({task.environment.name for task in created.values()}),
}))
"""


OTHERS = ("other_team.py", "team/releases/a.py", "releases/theirs/a.py")
"""DAG files of others in the same folder, which Airflow is to show as before."""
THEIR_MODULE = "tables.py"
"""A module of theirs that is named like a folder of each release."""


def others(name: str) -> bytes:
    """A file with one DAG."""
    id = name[: -len(".py")].replace("/", ".")
    return f"from airflow.sdk import DAG\ndag = DAG({id!r}, schedule=None)\n".encode()


SHARED = SharedAirflow("team-airflow", BUCKET)


@pytest.fixture(scope="module", params=[None, SHARED], ids=["own", "shared"])
def layout(request):
    """An Airflow of its own, and one of others, whose folder `lake` is ours."""
    return request.param


@pytest.fixture(scope="module")
def home(layout):
    """Our folder in the folder of DAGs."""
    return layout.folder if layout else ""


@pytest.fixture(scope="module")
def release(layout, tmp_path_factory):
    """The release of this tree, and the folder that MWAA would copy of it."""
    folder = tmp_path_factory.mktemp("mwaa")
    built = build("prod", folder / "releases")
    patch = pytest.MonkeyPatch()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        patch.setenv(name, "testing")
    with mock_aws():
        s3 = made_buckets()
        target = Target.of(replace(built.environment, airflow=layout), None)
        module = b"NAME = 'their tables'\n"
        where = {"Bucket": target.dags_bucket, "Key": f"dags/{THEIR_MODULE}"}
        s3.put_object(**where, Body=module)
        for name in OTHERS:
            key = f"dags/{name}"
            s3.put_object(Bucket=target.dags_bucket, Key=key, Body=others(name))
        Deployment(target, s3, by="a test", say=lambda line: None).deploy(built)
        copy(s3, folder / "dags")
    patch.undo()
    return built.id, folder / "dags"


@pytest.fixture(scope="module")
def parsed(layout, release, tmp_path_factory):
    """What Airflow finds in that folder; in that of others no variable of ours is set."""
    _, dags = release
    variables = (
        {} if layout else {"LAKE_ENVIRONMENT": "prod"}
    )  # what startup.sh exports
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
            "AIRFLOW_ENV_NAME": "lake-prod",
            **variables,
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


def test_a_dag_keeps_its_file_from_release_to_release(home, release, parsed):
    _, dags = release
    assert parsed["files"]["moma_full_load"] == str(dags / home / "moma.py")


def test_what_others_import_is_theirs(parsed):
    """They have modules of the names that the folders of a release have too."""
    assert parsed["theirs"] == "their tables"
