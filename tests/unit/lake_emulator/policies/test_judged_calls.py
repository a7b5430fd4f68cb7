"""Calls through the emulator are judged by the role of who makes them, as AWS refuses them."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from contextlib import contextmanager

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from lake_emulator.__main__ import main
from lake_emulator.pages import ask
from lake_emulator.policies.enforcer import FILE
from lake_emulator.policies.evaluator import Policies

ACCOUNT, REGION = "123456789012", "eu-central-1"
KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/k"
STEPS = f"arn:aws:iam::{ACCOUNT}:role/steps"
BY_S3 = {"StringEquals": {"kms:ViaService": f"s3.{REGION}.amazonaws.com"}}


def allow(action, resource="*", **condition):
    more = {"Condition": condition} if condition else {}
    return {"Effect": "Allow", "Action": action, "Resource": resource, **more}


def made(**roles):
    """A file of policies; the key of every bucket is left to the account's roles."""
    root = {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}
    return {
        "account": ACCOUNT,
        "region": REGION,
        "airflow": "airflow-role",
        "roles": {
            name.replace("_", "-"): [{"Statement": statements}]
            for name, statements in roles.items()
        },
        "resources": {KEY: {"Statement": [{**allow("kms:*"), "Principal": root}]}},
        "endpoints": {},
        "encryption": {},
    }


@pytest.fixture
def judged(emulator):
    """Judge by statements of `airflow_role`, `steps` or `nodes` until the test's end."""

    def judge(encryption=None, **roles):
        emulator.enforcer.replace({**made(**roles), "encryption": encryption or {}})

    yield judge
    emulator.enforcer.replace(None)


@pytest.fixture
def as_(emulator):
    def client(caller, service, **config):
        return boto3.client(
            service,
            endpoint_url=emulator.url,
            region_name=REGION,
            aws_access_key_id=caller,
            aws_secret_access_key=emulator.secret,
            config=Config(
                retries={"total_max_attempts": 1},
                s3={"addressing_style": "path"},
                **config,
            ),
        )

    return client


@pytest.fixture
def step_id(launch, add, step):
    """Make a step with the role `steps`, or without one on nodes with a role."""

    def make(role=STEPS):
        cluster = launch(SecurityConfiguration="lake", JobFlowRole="nodes")
        more = {"ExecutionRoleArn": role} if role else {}
        (made,) = add(cluster, step("true"), **more)
        return made

    return make


@contextmanager
def denied(action, role="airflow-role", code="AccessDeniedException", status=400):
    with pytest.raises(ClientError) as refused:
        yield
    reply = refused.value.response
    message = reply["Error"]["Message"]
    assert reply["Error"]["Code"] == code
    assert reply["ResponseMetadata"]["HTTPStatusCode"] == status
    assert f"arn:aws:sts::{ACCOUNT}:assumed-role/{role}/" in message
    assert f"is not authorized to perform: {action} on resource: " in message
    assert f"allows the {action} action" in message


S3 = {"code": "AccessDenied", "status": 403}


def test_a_step_reads_and_writes_what_its_role_allows(judged, as_, s3, bucket, step_id):
    s3.put_object(Bucket=bucket, Key="a/x", Body=b"1")
    judged(
        steps=[
            allow(["s3:GetObject", "s3:PutObject"], f"arn:aws:s3:::{bucket}/a/*"),
            allow(
                "s3:ListBucket",
                f"arn:aws:s3:::{bucket}",
                StringLike={"s3:prefix": ["a/*"]},
            ),
        ]
    )
    step = as_(step_id(), "s3")
    copied = {"Bucket": bucket, "CopySource": {"Bucket": bucket, "Key": "b/x"}}
    assert step.get_object(Bucket=bucket, Key="a/x")["Body"].read() == b"1"
    step.put_object(Bucket=bucket, Key="a/y", Body=b"2")
    assert step.list_objects_v2(Bucket=bucket, Prefix="a/")["KeyCount"] == 2
    with denied("s3:PutObject", "steps", **S3):
        step.put_object(Bucket=bucket, Key="b/x", Body=b"3")
    with denied("s3:GetObject", "steps", **S3):
        step.copy_object(Key="a/z", **copied)
    with denied("s3:ListBucket", "steps", **S3):
        step.list_objects_v2(Bucket=bucket, Prefix="b/")
    with denied("s3:DeleteObject", "steps", **S3):
        step.delete_object(Bucket=bucket, Key="a/x")
    with denied("s3:PutBucketPolicy", "steps", **S3):
        step.put_bucket_policy(Bucket=bucket, Policy="{}")
    with pytest.raises(ClientError, match="403"):
        step.head_object(Bucket=bucket, Key="b/x")
    assert "b/x" not in str(s3.list_objects_v2(Bucket=bucket)["Contents"])


def test_versions_are_read_and_deleted_by_rights_of_their_own(judged, as_, s3, bucket):
    s3.put_bucket_versioning(
        Bucket=bucket, VersioningConfiguration={"Status": "Enabled"}
    )
    first, second = (
        s3.put_object(Bucket=bucket, Key="k", Body=body)["VersionId"]
        for body in (b"1", b"2")
    )
    past = {"Bucket": bucket, "Key": "k", "VersionId": first}
    copied = {"Bucket": bucket, "Key": "copy", "CopySource": past}
    may = ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"]
    judged(airflow_role=[allow(may)])
    airflow = as_("airflow", "s3")
    assert airflow.get_object(Bucket=bucket, Key="k")["Body"].read() == b"2"
    with denied("s3:GetObjectVersion", **S3):
        airflow.get_object(**past)
    with denied("s3:GetObjectVersion", **S3):
        airflow.copy_object(**copied)
    with denied("s3:DeleteObjectVersion", **S3):
        airflow.delete_object(**past)
    with denied("s3:ListBucketVersions", **S3):
        airflow.list_object_versions(Bucket=bucket)
    asked = [{"Key": "k", "VersionId": first}, {"Key": "k"}]
    reply = airflow.delete_objects(Bucket=bucket, Delete={"Objects": asked})
    (done,), (error,) = reply["Deleted"], reply["Errors"]
    assert "VersionId" not in done and done["DeleteMarker"]
    assert (error["VersionId"], error["Code"]) == (first, "AccessDenied")
    judged(airflow_role=[allow([*may, "s3:GetObjectVersion"])])
    assert airflow.get_object(**past)["Body"].read() == b"1"
    airflow.copy_object(**copied)


def test_of_many_keys_the_refused_ones_stay(judged, as_, s3, bucket):
    for key in ("a/x", "b/x"):
        s3.put_object(Bucket=bucket, Key=key, Body=b"1")
    judged(airflow_role=[allow("s3:DeleteObject", f"arn:aws:s3:::{bucket}/a/*")])
    keys = {"Objects": [{"Key": "a/x"}, {"Key": "b/x"}]}
    reply = as_("airflow", "s3").delete_objects(Bucket=bucket, Delete=keys)
    assert [each["Key"] for each in reply["Deleted"]] == ["a/x"]
    ((key, code),) = [(each["Key"], each["Code"]) for each in reply["Errors"]]
    assert (key, code) == ("b/x", "AccessDenied")
    assert [x["Key"] for x in s3.list_objects_v2(Bucket=bucket)["Contents"]] == ["b/x"]


@pytest.mark.parametrize(
    "prefix, code", [("a/*", "NoSuchKey"), ("b/*", "AccessDenied")]
)
def test_a_missing_object_is_denied_to_who_may_not_list_it(
    judged, as_, bucket, prefix, code
):
    arn = f"arn:aws:s3:::{bucket}"
    listing = allow("s3:ListBucket", arn, StringLike={"s3:prefix": prefix})
    judged(airflow_role=[allow("s3:GetObject", f"{arn}/*"), listing])
    with pytest.raises(ClientError) as refused:
        as_("airflow", "s3").get_object(Bucket=bucket, Key="a/none")
    assert refused.value.response["Error"]["Code"] == code


def test_a_bucket_that_is_missing_is_not_found(judged, as_):
    judged(airflow_role=[allow("s3:GetObject")])
    with pytest.raises(ClientError, match="NoSuchBucket"):
        as_("airflow", "s3").get_object(Bucket="nobodys-bucket", Key="k")


@pytest.mark.parametrize(
    "given, read, write",
    [
        ([allow(["kms:Decrypt", "kms:GenerateDataKey"], KEY, **BY_S3)], "", ""),
        ([allow("kms:Decrypt", KEY, **BY_S3)], "", "kms:GenerateDataKey"),
        ([allow("kms:GenerateDataKey", KEY, **BY_S3)], "kms:Decrypt", ""),
        (
            [
                allow(
                    "kms:*",
                    KEY,
                    StringEquals={"kms:ViaService": f"sns.{REGION}.amazonaws.com"},
                )
            ],
            "kms:Decrypt",
            "kms:GenerateDataKey",
        ),
    ],
    ids=["both", "decrypt", "generate", "by-sns"],
)
def test_the_key_of_a_bucket_is_used_in_the_callers_name(
    judged, as_, s3, bucket, given, read, write
):
    s3.put_object(Bucket=bucket, Key="k", Body=b"1")
    judged(
        {f"arn:aws:s3:::{bucket}": KEY},
        airflow_role=[allow("s3:*", "*"), *given],
    )
    airflow = as_("airflow", "s3")
    calls = {
        read: lambda: airflow.get_object(Bucket=bucket, Key="k"),
        write: lambda: airflow.put_object(Bucket=bucket, Key="k", Body=b"2"),
    }
    for action, call in calls.items():
        if action:
            with denied(action, **S3):
                call()
        else:
            call()


def test_airflow_adds_steps_of_the_roles_that_it_may_give(judged, as_, launch, step):
    tags = [{"Key": "lake:environment", "Value": "local"}]
    cluster = launch(SecurityConfiguration="lake", Tags=tags)
    other = launch(SecurityConfiguration="lake")
    judged(
        airflow_role=[
            allow(
                "elasticmapreduce:AddJobFlowSteps",
                StringEquals={
                    "elasticmapreduce:ExecutionRoleArn": STEPS,
                    "elasticmapreduce:ResourceTag/lake:environment": "local",
                },
            )
        ]
    )
    emr, steps = as_("airflow", "emr"), [step("true")]
    add = "elasticmapreduce:AddJobFlowSteps"
    assert emr.add_job_flow_steps(
        JobFlowId=cluster, Steps=steps, ExecutionRoleArn=STEPS
    )["StepIds"]
    with denied(add):
        emr.add_job_flow_steps(JobFlowId=cluster, Steps=steps)
    with denied(add):
        emr.add_job_flow_steps(
            JobFlowId=cluster, Steps=steps, ExecutionRoleArn=f"{STEPS}-of-others"
        )
    with denied(add):
        emr.add_job_flow_steps(JobFlowId=other, Steps=steps, ExecutionRoleArn=STEPS)
    with denied("elasticmapreduce:TerminateJobFlows"):
        emr.terminate_job_flows(JobFlowIds=[cluster])


RUN = "elasticmapreduce:RunJobFlow"
TAGGED = {"StringEquals": {"elasticmapreduce:RequestTag/lake:environment": "local"}}
TAGS = [{"Key": "lake:environment", "Value": "local"}]


@pytest.mark.parametrize(
    "given, tags, action",
    [
        ([allow(RUN, **TAGGED)], [], RUN),
        ([allow(RUN, **TAGGED)], TAGS, "elasticmapreduce:AddTags"),
        (
            [allow([RUN, "elasticmapreduce:AddTags"], **TAGGED)],
            TAGS,
            "elasticmapreduce:PutAutoTerminationPolicy",
        ),
        ([allow("elasticmapreduce:*")], TAGS, "iam:PassRole"),
    ],
    ids=["no-tag", "tags", "policies", "roles"],
)
def test_a_new_cluster_asks_for_all_that_it_consists_of(
    judged, as_, emr, given, tags, action
):
    judged(airflow_role=given)
    before = len(emr.list_clusters()["Clusters"])
    with denied(action):
        as_("airflow", "emr").run_job_flow(
            Name="x",
            ReleaseLabel="emr-7.13.0",
            Instances={"InstanceCount": 1, "MasterInstanceType": "m7g.xlarge"},
            ServiceRole="emr",
            JobFlowRole="nodes",
            Tags=tags,
            AutoTerminationPolicy={"IdleTimeout": 600},
        )
    assert len(emr.list_clusters()["Clusters"]) == before


def test_partitions_of_other_tables_are_refused(judged, as_, emulator):
    owner = as_("local", "glue")
    owner.create_database(DatabaseInput={"Name": "parted"})
    for name in ("ours", "theirs"):
        keys = [{"Name": "day", "Type": "string"}]
        table = {"Name": name, "PartitionKeys": keys, "StorageDescriptor": {}}
        owner.create_table(DatabaseName="parted", TableInput=table)
    start = f"arn:aws:glue:{REGION}:{ACCOUNT}"
    things = ["catalog", "database/parted", "table/parted/ours"]
    judged(
        airflow_role=[
            allow(
                ["glue:*Partition*", "glue:GetTables"],
                [f"{start}:{each}" for each in things],
            )
        ]
    )
    glue = as_("airflow", "glue")
    ours, theirs = (
        {"DatabaseName": "parted", "TableName": name} for name in ("ours", "theirs")
    )
    first = [{"Values": ["1"], "StorageDescriptor": {}}]
    glue.batch_create_partition(**ours, PartitionInputList=first)
    (found,) = glue.get_partitions(**ours)["Partitions"]
    assert found["Values"] == ["1"]
    glue.batch_delete_partition(**ours, PartitionsToDelete=[{"Values": ["1"]}])
    with denied("glue:BatchCreatePartition"):
        glue.batch_create_partition(**theirs, PartitionInputList=first)
    with denied("glue:BatchDeletePartition"):
        glue.batch_delete_partition(**theirs, PartitionsToDelete=[{"Values": ["1"]}])
    with denied("glue:GetPartitions"):
        glue.get_partitions(**theirs)
    with denied("glue:GetTables"):
        glue.get_tables(DatabaseName="parted")


def test_optimizers_are_judged_for_their_table_and_the_role_that_they_get(judged, as_):
    glue, of = as_("airflow", "glue"), f"arn:aws:glue:{REGION}:{ACCOUNT}"
    table = [f"{of}:catalog", f"{of}:database/shop", f"{of}:table/shop/orders"]
    may = allow(["glue:CreateTableOptimizer", "glue:BatchGetTableOptimizer"], table)
    optimizer = f"arn:aws:iam::{ACCOUNT}:role/optimizer"
    asked = {
        "CatalogId": ACCOUNT,
        "DatabaseName": "shop",
        "TableName": "orders",
        "Type": "compaction",
        "TableOptimizerConfiguration": {"enabled": False, "roleArn": optimizer},
    }
    judged(airflow_role=[may])
    with denied("iam:PassRole"):
        glue.create_table_optimizer(**asked)
    with denied("glue:CreateTableOptimizer"):
        glue.create_table_optimizer(**{**asked, "TableName": "customers"})
    with denied("glue:DeleteTableOptimizer"):
        where = {n: asked[n] for n in asked if n != "TableOptimizerConfiguration"}
        glue.delete_table_optimizer(**where)
    with denied("glue:BatchGetTableOptimizer"):
        entry = {"databaseName": "shop", "tableName": "customers", "type": "compaction"}
        glue.batch_get_table_optimizer(
            Entries=[{**entry, "tableName": "orders"}, entry]
        )
    by = {"StringEquals": {"iam:PassedToService": "glue.amazonaws.com"}}
    judged(airflow_role=[may, allow("iam:PassRole", optimizer, **by)])
    with pytest.raises(ClientError, match="Database shop not found"):
        glue.create_table_optimizer(**asked)


def test_every_service_refuses_in_its_own_way(judged, as_):
    topic = as_("local", "sns").create_topic(Name="judged")["TopicArn"]
    judged({topic: KEY}, airflow_role=[])
    with denied("ssm:GetParameter"):
        as_("airflow", "ssm").get_parameter(Name="/a")
    with denied("secretsmanager:GetSecretValue"):
        as_("airflow", "secretsmanager").get_secret_value(SecretId="a")
    with denied("dynamodb:GetItem"):
        as_("airflow", "dynamodb").get_item(TableName="a", Key={"k": {"S": "v"}})
    with denied("glue:GetDatabase"):
        as_("airflow", "glue").get_database(Name="a")
    with denied("elasticmapreduce:ListClusters"):
        as_("airflow", "emr").list_clusters()
    with denied("sns:Publish", code="AuthorizationError", status=403):
        as_("airflow", "sns").publish(TopicArn=topic, Message="m")
    with denied("sts:AssumeRole", **S3):
        as_("airflow", "sts").assume_role(RoleArn=STEPS, RoleSessionName="x1")
    with denied("iam:ListRoles", **S3):
        as_("airflow", "iam").list_roles()
    assert as_("airflow", "sts").get_caller_identity()["Account"] == ACCOUNT
    judged({topic: KEY}, airflow_role=[allow("sns:Publish", topic)])
    with denied("kms:Decrypt", code="KMSAccessDenied", status=403):
        as_("airflow", "sns").publish(TopicArn=topic, Message="m")


def test_a_link_has_the_rights_of_who_signed_it(judged, as_, s3, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"1")
    asked = {"Bucket": bucket, "Key": "k"}
    judged(airflow_role=[])
    own = s3.generate_presigned_url("get_object", asked)
    link = as_("airflow", "s3", signature_version="s3v4").generate_presigned_url(
        "get_object", asked
    )
    with urllib.request.urlopen(own) as reply:
        assert reply.read() == b"1"
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(link)


def test_a_step_without_a_role_has_that_of_its_nodes(judged, as_, s3, bucket, step_id):
    s3.put_object(Bucket=bucket, Key="k", Body=b"1")
    judged(steps=[], nodes=[allow("s3:GetObject")])
    as_(step_id(role=None), "s3").get_object(Bucket=bucket, Key="k")
    with denied("s3:GetObject", "steps", **S3):
        as_(step_id(), "s3").get_object(Bucket=bucket, Key="k")


def test_who_reads_beside_the_steps_calls_by_the_name_of_a_role(
    as_, emulator, s3, bucket
):
    """An administrator may do all, so that the bucket's policy alone protects a table."""
    s3.put_object(Bucket=bucket, Key="tables/t", Body=b"1")
    raw = made(
        admin=[allow("*")], reader=[allow("s3:GetObject")], lake_steps=[allow("*")]
    )
    arn = f"arn:aws:iam::{ACCOUNT}:role/lake-*"
    raw["resources"][f"arn:aws:s3:::{bucket}"] = {
        "Statement": {
            "Effect": "Deny",
            "Principal": "*",
            "Action": ["s3:PutObject", "s3:DeleteObject"],
            "Resource": f"arn:aws:s3:::{bucket}/tables/*",
            "Condition": {"ArnNotLike": {"aws:PrincipalArn": arn}},
        }
    }
    emulator.enforcer.replace(raw)
    try:
        table = {"Bucket": bucket, "Key": "tables/t"}
        admin, reader = as_("role:admin", "s3"), as_("role:reader", "s3")
        for each in (admin, reader):
            assert each.get_object(**table)["Body"].read() == b"1"
        for call in (
            lambda: admin.delete_object(**table),
            lambda: admin.put_object(**table),
        ):
            with pytest.raises(ClientError, match="explicit deny in a resource-based"):
                call()
        reply = admin.delete_objects(
            Bucket=bucket, Delete={"Objects": [{"Key": "tables/t"}]}
        )
        assert reply["Errors"][0]["Code"] == "AccessDenied"
        admin.put_object(Bucket=bucket, Key="other", Body=b"2")
        with denied("s3:PutObject", "reader", **S3):
            reader.put_object(Bucket=bucket, Key="other", Body=b"3")
        with denied("glue:GetDatabases", "reader"):
            as_("role:reader", "glue").get_databases()
        as_("role:admin", "glue").get_databases()
        with pytest.raises(ClientError, match="InvalidAccessKeyId"):
            as_("role:nobody", "s3").get_object(**table)
        as_("role:lake-steps", "s3").delete_object(**table)
    finally:
        emulator.enforcer.replace(None)


def test_a_key_of_nobody_is_refused(judged, as_, bucket):
    judged(airflow_role=[allow("*")])
    for service, call, code in (
        ("s3", lambda c: c.delete_objects(**_all(bucket)), "InvalidAccessKeyId"),
        ("glue", lambda c: c.get_databases(), "UnrecognizedClientException"),
        ("sns", lambda c: c.list_topics(), "InvalidClientTokenId"),
    ):
        with pytest.raises(ClientError) as refused:
            call(as_("s-nobody", service))
        assert refused.value.response["Error"]["Code"] == code


def _all(bucket):
    return {"Bucket": bucket, "Delete": {"Objects": [{"Key": "k"}]}}


def test_people_are_not_judged_and_without_policies_nobody_is(
    judged, as_, emulator, bucket
):
    judged()
    as_("local", "s3").put_object(Bucket=bucket, Key="k", Body=b"1")
    with denied("s3:GetObject", **S3):
        as_("airflow", "s3").get_object(Bucket=bucket, Key="k")
    emulator.enforcer.replace(None)
    as_("airflow", "s3").get_object(Bucket=bucket, Key="k")
    assert not (emulator.home / FILE).exists()


def put(emulator, raw):
    body = json.dumps(raw).encode()
    return ask(
        emulator.url, "policies", secret=emulator.secret, method="PUT", body=body
    )


def test_policies_are_replaced_while_it_runs_and_wrong_ones_are_not(
    judged, as_, emulator, bucket
):
    judged(airflow_role=[])
    airflow = as_("airflow", "s3")
    with denied("s3:PutObject", **S3):
        airflow.put_object(Bucket=bucket, Key="k", Body=b"1")
    put(emulator, made(airflow_role=[allow("s3:PutObject")])).close()
    airflow.put_object(Bucket=bucket, Key="k", Body=b"1")
    odd = [allow("s3:*", DateLessThan={"aws:CurrentTime": "2026"})]
    with pytest.raises(urllib.error.HTTPError) as refused:
        put(emulator, made(airflow_role=odd))
    assert "condition key aws:CurrentTime" in refused.value.read().decode()
    airflow.put_object(Bucket=bucket, Key="k", Body=b"2")
    kept = json.loads((emulator.home / FILE).read_text())
    assert "DateLessThan" not in json.dumps(kept)


def test_the_same_call_of_a_role_is_decided_once(
    judged, as_, emulator, bucket, step_id, monkeypatch
):
    judged(airflow_role=[allow("s3:PutObject")], steps=[])
    decided, decide = [], Policies.decide

    def noted(self, role, asked, **caller):
        decided.append((role, asked.action))
        return decide(self, role, asked, **caller)

    monkeypatch.setattr(Policies, "decide", noted)
    step = as_(step_id(), "s3")
    for _ in range(3):
        as_("airflow", "s3").put_object(Bucket=bucket, Key="k", Body=b"1")
        with denied("s3:PutObject", "steps", **S3):
            step.put_object(Bucket=bucket, Key="k", Body=b"2")
    assert decided == [("airflow-role", "s3:PutObject"), ("steps", "s3:PutObject")]


def test_it_does_not_start_with_a_condition_that_it_does_not_know(tmp_path, capsys):
    odd = [allow("s3:*", NumericLessThan={"s3:prefix": "1"})]
    (tmp_path / FILE).write_text(json.dumps(made(steps=odd)))
    assert main(["--state-dir", str(tmp_path), "--port", "0"]) == 1
    told = capsys.readouterr().err
    assert "role steps, statement 1: condition operator NumericLessThan" in told
    assert FILE in told
