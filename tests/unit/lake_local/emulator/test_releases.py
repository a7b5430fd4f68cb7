"""The commands of docs/releases.md on the emulator: what a desk can try of them."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import shutil
from base64 import b64encode

import pytest
from lake_release.__main__ import main
from lake_release.built import PROJECT

BUCKETS = ("airflow", "lake")


@pytest.fixture
def release(emulator, s3, tmp_path, monkeypatch, capsys):
    """Run a command on a copy of this tree; its exit code and what it printed."""
    project = tmp_path / "project"
    ignored = shutil.ignore_patterns("__pycache__")
    for folder in ("dags", "requirements", "plugins"):
        shutil.copytree(PROJECT / folder, project / folder, ignore=ignored)
    there = {each["Name"] for each in s3.list_buckets()["Buckets"]}
    for bucket in {*BUCKETS} - there:
        place = {"LocationConstraint": s3.meta.region_name}
        s3.create_bucket(Bucket=bucket, CreateBucketConfiguration=place)
    monkeypatch.setenv("AWS_ENDPOINT_URL", emulator.url)
    # Airflow, if a test imported it, writes what boto3 logs to what is read here.
    logging.disable(logging.CRITICAL)
    # A session that another test made keeps its key.
    monkeypatch.setattr("boto3.DEFAULT_SESSION", None)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", emulator.secret)

    def run(command, *options):
        where = ["--project", str(project)]
        if command in ("build", "plan", "deploy"):
            where += ["--output", str(tmp_path / "releases")]
        if command != "build":
            where += ["--dags-bucket", "airflow", "--only-s3"]
        code = main([command, "local", *where, *options])
        said = capsys.readouterr()
        return code, (said.out + said.err).splitlines()

    run.project = project
    yield run
    logging.disable(logging.NOTSET)


def current(s3):
    body = s3.get_object(Bucket="airflow", Key="dags/current.json")["Body"]
    return json.loads(body.read())["deploys"][0]["release"]


def test_a_release_a_second_one_with_a_changed_table_and_a_rollback(release, s3):
    code, lines = release("build")
    first = re.fullmatch(r"release ([0-9a-f]{16}) in .*", lines[0])[1]
    assert code == 0
    assert release("status") == (0, ["local: no release yet"])
    assert release("deploy")[0] == 0
    assert current(s3) == first
    with (release.project / "dags" / "tables" / "moma" / "artists.yml").open("a") as f:
        f.write("quarantine: {min_rows: 7}\n")
    code, lines = release("plan")
    assert lines[1:] == ["table moma.artists: quarantine.min_rows"]
    assert current(s3) == first
    assert release("deploy")[0] == 0
    assert current(s3) != first
    second = current(s3)
    assert release("rollback")[0] == 0
    assert current(s3) == first
    what_was_replaced_is_not_rolled_back_to(release, s3, second)
    assert current(s3) == first


def what_was_replaced_is_not_rolled_back_to(release, s3, second):
    """By the checksum that S3 keeps; nothing is as long as before, but as it was."""
    key = f"dags/releases/{second}/moma.py"
    head = s3.head_object(Bucket="airflow", Key=key, ChecksumMode="ENABLED")
    body = s3.get_object(Bucket="airflow", Key=key)["Body"].read()
    kept = b64encode(hashlib.sha256(body).digest()).decode()
    assert head["ChecksumSHA256"] == kept
    s3.put_object(Bucket="airflow", Key=key, Body=body[::-1])
    code, (line,) = release("rollback", "--to", second)
    assert code == 1
    assert f"replaced or added: s3://airflow/{key}. Find out" in line


def test_what_cannot_be_done_is_told_in_a_line(release):
    code, lines = release("rollback", "--to", "x")
    assert (code, lines[0].split(":")[0]) == (1, "release x")
    code, (line,) = release("build", "--wheels", str(release.project / "plugins"))
    assert code == 1 and line.startswith("--wheels ") and "no *.whl found" in line
    artists = release.project / "dags" / "tables" / "moma" / "artists.yml"
    artists.write_text("a: 1\n")
    code, lines = release("plan")
    assert code == 1 and all(line.startswith(f"{artists}:") for line in lines)
