"""The Python of a step has no boto3 but the one that the release brought."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import bundle

from lake_emulator.runtimes import NODE

SPARK_JOBS = bundle.SPARK_JOBS

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])  # as spark-submit does with --py-files
from lake_spark.step.shipped_packages import unpack
unpack()
import boto3, botocore, urllib3
client = boto3.client("glue", region_name="eu-central-1")
print(boto3.__version__, urllib3.__version__, client.meta.region_name)
print(boto3.__file__)
"""


def run(program: str, *args: str) -> subprocess.CompletedProcess:
    path = f"{NODE}:{SPARK_JOBS}:{bundle.DAGS}"
    return subprocess.run(
        [sys.executable, "-c", program, *args],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


HIDDEN = """
import importlib
for name in ("boto3", "botocore", "s3transfer"):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        print(error.name)
"""


def test_what_is_installed_here_is_hidden():
    assert run(HIDDEN).stdout.split() == ["boto3", "botocore", "s3transfer"]


def test_what_a_release_brings_is_imported(tmp_path):
    bundle.zip_installed(tmp_path / "boto3.zip")
    done = run(PROGRAM, str(tmp_path / "boto3.zip"))
    assert done.returncode == 0, done.stderr
    versions, place = done.stdout.splitlines()
    assert versions == "1.42.97 1.26.20 eu-central-1"
    assert not Path(place).exists(), "what was unpacked goes with the process"
