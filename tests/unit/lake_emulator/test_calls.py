"""Calls are kept: whose they were, what they were called, what they were about."""

from __future__ import annotations

import json
import threading

import boto3
import pytest

from lake_emulator.call import Call
from lake_emulator.calls import Calls, FILE, MOST


@pytest.fixture
def made(emulator):
    """The calls since the test began, as the file has them."""
    before = len((emulator.home / FILE).read_text().splitlines())

    def since():
        lines = (emulator.home / FILE).read_text().splitlines()[before:]
        return [json.loads(line) for line in lines]

    return since


def caller(emulator, service, name):
    return boto3.client(
        service,
        endpoint_url=emulator.url,
        region_name="eu-central-1",
        aws_access_key_id=name,
        aws_secret_access_key=emulator.secret,
    )


def test_objects_are_named_with_what_a_policy_asks_for(s3, bucket, made):
    s3.put_object(Bucket=bucket, Key="a/b c.txt", Body=b"x")
    s3.copy_object(
        Bucket=bucket, Key="d", CopySource={"Bucket": bucket, "Key": "a/b c.txt"}
    )
    s3.list_objects_v2(Bucket=bucket, Prefix="a/", Delimiter="/")
    s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": "d"}, {"Key": "e"}]})
    told = [
        {k: v for k, v in each.items() if k not in ("caller", "service")}
        for each in made()
    ]
    assert told[-5:] == [
        {"operation": "PutObject", "thing": f"{bucket}/a/b c.txt"},
        {
            "operation": "CopyObject",
            "thing": f"{bucket}/d",
            "source": f"{bucket}/a/b c.txt",
        },
        {
            "operation": "ListObjectsV2",
            "thing": bucket,
            "prefix": "a/",
            "delimiter": "/",
        },
        {"operation": "DeleteObjects", "thing": f"{bucket}/d"},
        {"operation": "DeleteObjects", "thing": f"{bucket}/e"},
    ]
    assert not s3.list_objects_v2(Bucket=bucket, Prefix="d").get("Contents")


def test_things_of_other_services_are_named_and_their_values_are_not(emulator, made):
    caller(emulator, "ssm", "airflow").put_parameter(
        Name="/a/secret", Value="hidden", Type="SecureString"
    )
    manager = caller(emulator, "secretsmanager", "s-1")
    manager.create_secret(Name="b", SecretString="hidden")
    manager.get_secret_value(SecretId="b")
    glue = caller(emulator, "glue", "s-1")
    glue.create_database(DatabaseInput={"Name": "c"})
    glue.get_database(Name="c")
    glue.create_table(DatabaseName="c", TableInput={"Name": "t"})
    glue.get_table(DatabaseName="c", Name="t")
    glue.get_partitions(DatabaseName="c", TableName="t")
    topic = caller(emulator, "sns", "airflow").create_topic(Name="d")["TopicArn"]
    caller(emulator, "sns", "airflow").publish(TopicArn=topic, Message="hidden")
    assert [tuple(each.values()) for each in made()] == [
        ("airflow", "ssm", "PutParameter", "/a/secret"),
        ("s-1", "secretsmanager", "CreateSecret", ""),
        ("s-1", "secretsmanager", "GetSecretValue", "b"),
        ("s-1", "glue", "CreateDatabase", "c"),
        ("s-1", "glue", "GetDatabase", "c"),
        ("s-1", "glue", "CreateTable", "c/t"),
        ("s-1", "glue", "GetTable", "c/t"),
        ("s-1", "glue", "GetPartitions", "c/t"),
        ("airflow", "sns", "CreateTopic", ""),
        ("airflow", "sns", "Publish", topic),
    ]
    assert "hidden" not in (emulator.home / FILE).read_text()


def test_a_step_calls_under_its_own_id(emulator, emr, made):
    print_key = ["bash", "-c", "test $AWS_ACCESS_KEY_ID = $LAKE_STEP_ID"]
    cluster = emr.run_job_flow(
        Name="calls",
        ReleaseLabel="emr-7.13.0",
        Instances={
            "InstanceCount": 1,
            "MasterInstanceType": "m7g.xlarge",
            "KeepJobFlowAliveWhenNoSteps": False,
        },
        JobFlowRole="EMR_EC2_DefaultRole",
        ServiceRole="EMR_DefaultRole_V2",
        Steps=[
            {
                "Name": "print",
                "ActionOnFailure": "CONTINUE",
                "HadoopJarStep": {"Jar": "command-runner.jar", "Args": print_key},
            }
        ],
    )["JobFlowId"]
    emr.get_waiter("cluster_terminated").wait(
        ClusterId=cluster, WaiterConfig={"Delay": 1, "MaxAttempts": 60}
    )
    (step,) = emr.list_steps(ClusterId=cluster)["Steps"]
    assert step["Status"]["State"] == "COMPLETED"
    assert {"local", cluster} <= {made()[-1]["caller"], made()[-1]["thing"]}


LISTED = Call({}, "local", "", "iam", "ListRoles", things=[{"thing": "x"}])


def test_a_call_is_kept_once_also_by_the_next_emulator(tmp_path):
    for _ in range(2):
        calls = Calls(tmp_path)
        for _ in range(2):
            calls.note(LISTED)
    assert len((tmp_path / FILE).read_text().splitlines()) == 1


def test_there_is_an_end_to_what_is_kept(tmp_path):
    (tmp_path / FILE).write_text("".join(f"{n}\n" for n in range(MOST)))
    Calls(tmp_path).note(LISTED)
    assert len((tmp_path / FILE).read_text().splitlines()) == MOST


def test_calls_at_once_are_lines_of_their_own(emulator, bucket, made):
    clients = [caller(emulator, "s3", f"c{n}") for n in range(8)]
    threads = [
        threading.Thread(target=each.put_object, kwargs={"Bucket": bucket, "Key": "k"})
        for each in clients
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert {each["caller"] for each in made()} >= {f"c{n}" for n in range(8)}
