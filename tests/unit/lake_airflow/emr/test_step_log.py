"""Of a log, the line is told that says best why it ends; without a log, none."""

from __future__ import annotations

import gzip

import pytest
from botocore.exceptions import ClientError

from lake_airflow.emr import step_log
from lake_airflow.emr.step_log import exception_in, last_exception
from tests.unit.lake_airflow.conftest import logged

ADDRESS = "s3://lake/logs/run/j-1/steps/s-1/stderr.gz"
CHATTER = "26/11/21 02:00:01 INFO SparkContext: Running Spark version 3.5.6\n"

PYTHON = """Traceback (most recent call last):
  File "/mnt/tmp/main.py", line 12, in <module>
    raise LeaseLost(words)
lake_spark.errors.LeaseLost: sales is taken by another run
26/11/21 02:00:09 INFO ShutdownHookManager: Shutdown hook called
"""
JVM = """Exception in thread "main" org.apache.spark.SparkException: Job aborted.
\tat org.apache.spark.sql.Dataset.count(Dataset.scala:3614)
Caused by: java.nio.file.AccessDeniedException: s3://lake/warehouse: Access Denied
\tat org.apache.hadoop.fs.s3a.S3AUtils.translateException(S3AUtils.java:255)
\t... 12 more
"""
MEMORY = """26/11/21 02:00:05 ERROR Executor: Exception in task 0.0 in stage 1.0
java.lang.OutOfMemoryError: Java heap space
\tat java.util.Arrays.copyOf(Arrays.java:3332)
py4j.protocol.Py4JNetworkError: Answer from Java side is empty
"""
EXIT = "sales has no table orderz; it has orders\n26/11/21 02:00:09 INFO X: bye\n\n"
KILLED = "26/11/21 02:00:09 ERROR X: lost\n/usr/bin/spark-submit: line 4: 71 Killed\n"


@pytest.mark.parametrize(
    "text, told",
    [
        (PYTHON, "lake_spark.errors.LeaseLost: sales is taken by another run"),
        (
            JVM,
            "java.nio.file.AccessDeniedException: s3://lake/warehouse: Access Denied",
        ),
        (MEMORY, "java.lang.OutOfMemoryError: Java heap space"),
        ("ValueError: too small\n", "ValueError: too small"),
        (EXIT, "sales has no table orderz; it has orders"),
        (KILLED, "/usr/bin/spark-submit: line 4: 71 Killed"),
        (CHATTER * 3, None),
        ("", None),
    ],
    ids="python jvm memory builtin exit killed chatter empty".split(),
)
def test_the_line_that_says_why(text, told):
    assert exception_in(CHATTER + text) == told


IVY = ":: resolution report :: resolve 12ms :: artifacts dl 3ms\n"
PROGRESS = "LAKE sales full_load: up to 4 tables at once, in this order: orders.\n"


@pytest.mark.parametrize(
    "stderr, stdout, told",
    [
        (CHATTER, PYTHON, "lake_spark.errors.LeaseLost: sales is taken by another run"),
        (IVY, PROGRESS + EXIT, "sales has no table orderz; it has orders"),
        (
            IVY,
            PROGRESS + PYTHON + MEMORY,
            "java.lang.OutOfMemoryError: Java heap space",
        ),
        (KILLED, PROGRESS, "/usr/bin/spark-submit: line 4: 71 Killed"),
        (CHATTER, PROGRESS, None),
    ],
    ids="python exit memory killed chatter".split(),
)
def test_what_python_says_of_an_error_stands_in_the_other_log(stderr, stdout, told):
    assert exception_in(stderr, stdout) == told


def test_both_logs_of_a_step_are_read(aws):
    put(aws, gzip.compress(CHATTER.encode()))
    assert told() is None
    put(aws, gzip.compress(PYTHON.encode()), "stdout.gz")
    assert told().startswith("lake_spark.errors.LeaseLost")


def put(aws, packed, name="stderr.gz"):
    key = ADDRESS.split("/", 3)[3].replace("stderr.gz", name)
    aws.put_object(Bucket="lake", Key=key, Body=packed)


def told():
    return last_exception(ADDRESS, region="eu-central-1", aws_conn_id=None)


def test_of_a_long_log_only_the_end_counts(aws):
    put(aws, gzip.compress(PYTHON.encode() + CHATTER.encode() * 100_000 + JVM.encode()))
    assert told().startswith("java.nio.file.AccessDeniedException")


def test_a_log_that_is_cut_off_is_read_as_far_as_it_goes(aws):
    packed = gzip.compress(PYTHON.encode(), compresslevel=0)
    put(aws, packed[:-8])
    assert told().startswith("lake_spark.errors.LeaseLost")


def test_what_looks_like_a_secret_is_masked_and_a_long_line_is_cut(aws):
    line = "x.BadUrl: jdbc:postgresql://db/x?user=a&password=hunter2 " + "y" * 9999
    put(aws, gzip.compress(line.encode()))
    assert told().startswith("x.BadUrl: jdbc:postgresql://db/x?user=a&password=*** y")
    assert len(told()) == step_log.LONGEST


@pytest.mark.parametrize("packed", [None, b"", b"no gzip"], ids=str)
def test_without_a_log_nothing_is_told(aws, packed):
    if packed is not None:
        put(aws, packed)
    assert told() is None


@pytest.mark.parametrize("code", ["NoSuchKey", "AccessDenied"])
def test_a_log_that_is_not_there_yet_is_no_refusal(
    aws, monkeypatch, caplog, capsys, code
):
    def refuse(**_):
        raise ClientError({"Error": {"Code": code, "Message": "no"}}, "GetObject")

    monkeypatch.setattr(aws, "get_object", refuse)
    caplog.set_level("INFO")
    assert told() is None
    said = logged(caplog, capsys)
    assert f"{ADDRESS} is not there yet" in said and code not in said


def test_a_log_that_is_too_large_is_left_alone(aws, monkeypatch):
    put(aws, gzip.compress(PYTHON.encode()))
    monkeypatch.setattr(step_log, "LARGEST", 10)
    assert told() is None


def test_a_log_elsewhere_is_left_alone():
    at = {"region": "eu-central-1", "aws_conn_id": None}
    assert last_exception("/mnt/var/log/hadoop/steps/s-1/stderr.gz", **at) is None
