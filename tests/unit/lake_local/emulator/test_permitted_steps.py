"""The emulator of this project starts the project's own steps alone, on releases it knows."""

from __future__ import annotations

import re

import pytest

from lake_emulator import runtimes
from lake_local.emulator.permitted_steps import OWN_STEPS, unlike_ours
from lake_spec.hudi.streamer_options import streamer_argv
from lake_spec.platform.aws_releases import EMR_RELEASES
from lake_spec.state.report import FAILED_TABLE

ROOT = "s3://lake/artifacts/releases/3f9c2a71"
OURS = [
    [
        *("spark-submit", "--deploy-mode", "client", "--py-files"),
        f"{ROOT}/lake.zip,{ROOT}/boto3.zip",
    ],
    [f"{ROOT}/main.py", "--release", ROOT],
]


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["bash", "-c", "touch mark"],
        ["python3", "x.py"],
        ["/usr/bin/spark-submit", *OURS[0][1:], *OURS[1]],
        ["spark-submit"],
        ["spark-submit", "/tmp/x.py"],
        ["spark-submit", "s3://lake/landing/x.py"],
        ["spark-submit", f"{ROOT}/main.py"],
        [*OURS[0][:-1], "s3://lake/landing/lake.zip", *OURS[1]],
        [*OURS[0][:-1], f"{ROOT}/lake.zip", *OURS[1]],
        [*OURS[0][:-1], f"{ROOT}/lake.zip,s3://lake/landing/boto3.zip", *OURS[1]],
        ["spark-submit", "--class", "x.Y", *OURS[0][1:], *OURS[1]],
        ["spark-submit", "--files", "/etc/passwd", *OURS[0][1:], *OURS[1]],
        ["spark-submit", "--jars", "http://page.example/x.jar", *OURS[0][1:], *OURS[1]],
        ["spark-submit", "--conf", "spark.jars=http://x/x.jar", *OURS[0][1:], *OURS[1]],
        [
            *("spark-submit", "--conf"),
            "spark.driver.extraJavaOptions=-javaagent:/tmp/x.jar",
            *(*OURS[0][1:], *OURS[1]),
        ],
    ],
)
def test_steps_of_other_commands_and_applications_are_refused(args):
    assert unlike_ours(args)


def test_our_own_steps_are_none_of_them():
    places = {"sql_file": "s3://lake/w/x.sql", "base_path": "s3://lake/w/d/t/changes"}
    argv = streamer_argv(checkpoint="a1", table_name="t", **places)
    assert unlike_ours(["spark-submit", *argv]) is None
    jars = ["s3://lake/own.jar", "/usr/lib/spark/connector/lib/spark-avro.jar"]
    for more in ([], jars):
        with_jars = ["--jars", ",".join(more)] if more else []
        ours = [OURS[0][0], *OURS[0][1:3], *with_jars, *OURS[0][3:], *OURS[1]]
        assert unlike_ours(ours) is None


def test_the_emulator_is_started_with_these_rules():
    assert OWN_STEPS.refused is unlike_ours
    assert OWN_STEPS.failure_prefix == FAILED_TABLE


def test_the_emulator_knows_the_releases_of_specs_and_their_jars():
    assert list(runtimes.RELEASES) == list(EMR_RELEASES)
    jars = {
        jar
        for each in EMR_RELEASES.values()
        for jar in (f"{each.hudi_jars}/x.jar", each.avro_jar, each.iceberg_jar)
    }
    assert [jar for jar in jars if not re.match(runtimes.EMR_JAR, jar)] == []
