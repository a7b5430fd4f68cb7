"""The RunJobFlow request, also judged by AWS's own model of it."""

from dataclasses import replace

import botocore.session
import pytest
from botocore.validate import ParamValidator

from lake_airflow.cluster import run_job_flow_request
from tests.unit.lake_airflow.specs import CLUSTER, ENVIRONMENT, dag_plan, run

PLAN = dag_plan("full_load")


SMALL_CLUSTER = {
    "Name": "lake sales_full_load manual-1",
    "LogUri": "s3://lake/logs/sales_full_load/manual-1/",
    "ReleaseLabel": "emr-7.13.0",
    "Applications": [{"Name": "Hadoop"}, {"Name": "Spark"}],
    "Configurations": [
        {
            "Classification": "spark-defaults",
            "Properties": {
                "spark.jars": "/usr/lib/hudi/hudi-spark-bundle.jar",
                "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
                "spark.kryo.registrator": ("org.apache.spark.HoodieSparkKryoRegistrar"),
                "spark.sql.extensions": (
                    "org.apache.spark.sql.hudi.HoodieSparkSessionExtension"
                ),
                "spark.sql.catalog.spark_catalog": (
                    "org.apache.spark.sql.hudi.catalog.HoodieCatalog"
                ),
                "spark.driver.memory": "4g",
            },
        }
    ],
    "Instances": {
        "InstanceGroups": [
            {
                "Name": "Primary",
                "InstanceRole": "MASTER",
                "InstanceType": "m7g.xlarge",
                "InstanceCount": 1,
                "Market": "ON_DEMAND",
            },
            {
                "Name": "Core",
                "InstanceRole": "CORE",
                "InstanceType": "m7g.xlarge",
                "InstanceCount": 1,
                "Market": "ON_DEMAND",
            },
        ],
        "KeepJobFlowAliveWhenNoSteps": True,
        "TerminationProtected": False,
    },
    "StepConcurrencyLevel": 1,
    "AutoTerminationPolicy": {"IdleTimeout": 3600},
    "ServiceRole": "EMR_DefaultRole_V2",
    "JobFlowRole": "EMR_EC2_DefaultRole",
    "VisibleToAllUsers": True,
    "Tags": [
        {"Key": "for-use-with-amazon-emr-managed-policies", "Value": "true"},
        {"Key": "lake:domain", "Value": "sales"},
        {"Key": "lake:dag", "Value": "sales_full_load"},
        {"Key": "lake:run", "Value": "manual-1"},
        {"Key": "lake:release", "Value": "3f9c2a71"},
        {"Key": "lake:environment", "Value": "test"},
        {"Key": "lake:max-hours", "Value": "24"},
    ],
}


def request(cluster=CLUSTER, environment=ENVIRONMENT):
    return run_job_flow_request(
        PLAN, run=run(PLAN), cluster=cluster, environment=environment
    )


def test_the_whole_request_of_a_small_cluster():
    assert request() == SMALL_CLUSTER


def test_subnet_and_security_configuration_come_from_the_environment():
    private = replace(ENVIRONMENT, subnet="subnet-1", security_configuration="locked")
    found = request(environment=private)
    assert found["Instances"]["Ec2SubnetId"] == "subnet-1"
    assert found["SecurityConfiguration"] == "locked"


def test_a_cluster_file_cannot_take_our_tags_away():
    tags = (("team", "sales"), ("lake:environment", "prod"))
    found = {
        tag["Key"]: tag["Value"] for tag in request(replace(CLUSTER, tags=tags))["Tags"]
    }
    assert found["team"] == "sales"
    assert found["lake:environment"] == "test"


@pytest.mark.parametrize(
    "environment",
    [ENVIRONMENT, replace(ENVIRONMENT, subnet="s", security_configuration="c")],
    ids=["plain", "private"],
)
def test_botocore_takes_the_request(environment):
    assert not faults_by_botocore(request(environment=environment))


def test_botocore_would_refuse_a_wrong_request():
    assert "AutoTermination" in faults_by_botocore(
        {**request(), "AutoTerminationPolicy": {"IdleTimeout": "1h"}}
    )


def faults_by_botocore(found) -> str:
    service = botocore.session.Session().get_service_model("emr")
    shape = service.operation_model("RunJobFlow").input_shape
    return ParamValidator().validate(found, shape).generate_report()


@pytest.mark.parametrize(
    "run_id, tag",
    [
        ("scheduled__2026-01-01T00:00:00+00:00", True),
        ("manual|7", False),
        ("a" * 257, False),
        ("", False),
    ],
    ids=["scheduled", "no character of tags", "too long", "none"],
)
def test_a_run_s_own_id_is_a_tag_where_aws_takes_it(run_id, tag):
    named = run(PLAN, run_id=run_id)
    found = run_job_flow_request(
        PLAN, run=named, cluster=CLUSTER, environment=ENVIRONMENT
    )
    values = {each["Key"]: each["Value"] for each in found["Tags"]}
    assert values.get("lake:run-id") == (run_id if tag else None)
