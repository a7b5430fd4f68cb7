"""The RunJobFlow request of a cluster file in an environment."""

from dataclasses import replace
from pathlib import Path

import botocore.session
import pytest

from lake_airflow.emr.job_flow import request_problems, run_job_flow_request
from lake_check.parsing.loader import load_cluster, load_environment
from lake_spec.model.aws import BootstrapAction
from lake_spec.model.instances import (
    CoreGroup,
    EbsVolume,
    InstanceGroups,
    ManagedScaling,
    Market,
    TaskGroup,
)
from tests.unit.lake_airflow.specs import CLUSTER, ENVIRONMENT, dag_plan, run

PLAN = dag_plan("full_load")
DAGS = Path(__file__).resolve().parents[4] / "dags"

SMALL_CLUSTER = {
    "Name": "lake sales_full_load manual-1",
    "LogUri": "s3://lake/logs/sales_full_load/manual-1/",
    "ReleaseLabel": "emr-7.13.0",
    "Applications": [{"Name": "Hadoop"}, {"Name": "Spark"}],
    "Configurations": [
        {
            "Classification": "spark-defaults",
            "Properties": {
                "spark.driver.extraJavaOptions": "-XX:ReservedCodeCacheSize=512m",
                "spark.executor.extraJavaOptions": "-XX:ReservedCodeCacheSize=512m",
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
                "spark.lake.tablesAtOnce": "4",
                "spark.lake.clusterCores": "4",
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
        {"Key": "lake:deployment", "Value": "838da9417255941c"},
        {"Key": "lake:max-hours", "Value": "24"},
    ],
}


def request(cluster=CLUSTER, environment=ENVIRONMENT):
    return run_job_flow_request(
        PLAN, run=run(PLAN), cluster=cluster, environment=environment
    )


def test_the_whole_request_of_a_small_cluster():
    assert request() == SMALL_CLUSTER


def test_a_cluster_file_cannot_take_our_tags_away():
    tags = (("team", "sales"), ("lake:environment", "prod"))
    found = {
        tag["Key"]: tag["Value"] for tag in request(replace(CLUSTER, tags=tags))["Tags"]
    }
    assert found["team"] == "sales"
    assert found["lake:environment"] == "test"


def properties(found):
    return {each["Classification"]: each["Properties"] for each in found}


LABELS = {
    "yarn.node-labels.enabled": "true",
    "yarn.node-labels.am.default-node-label-expression": "CORE",
}


@pytest.mark.parametrize(
    "task, level, wanted",
    [
        (None, 4, {}),
        (TaskGroup(market=Market.ON_DEMAND), 4, {}),
        (TaskGroup(), 1, {"yarn-site": LABELS}),
        (
            TaskGroup(),
            2,
            {
                "yarn-site": LABELS,
                "capacity-scheduler": {
                    "yarn.scheduler.capacity.maximum-am-resource-percent": "1"
                },
            },
        ),
    ],
    ids=["no task nodes", "on demand", "on Spot", "on Spot, two steps at once"],
)
def test_beside_spot_nodes_application_masters_stay_on_core_nodes(task, level, wanted):
    cluster = replace(
        CLUSTER, instances=InstanceGroups(task=task), step_concurrency_level=level
    )
    found = properties(request(cluster)["Configurations"])
    assert found.pop("spark-defaults") and found == wanted


def test_settings_of_a_cluster_file_never_win_over_what_tables_need():
    cluster = replace(
        CLUSTER,
        spark_defaults=(("spark.executor.memory", "9g"), ("spark.serializer", "x")),
    )
    found = properties(request(cluster)["Configurations"])["spark-defaults"]
    assert found["spark.executor.memory"] == "9g"
    assert found["spark.serializer"] == "org.apache.spark.serializer.KryoSerializer"


def test_bootstrap_scripts_are_below_the_artifacts_of_the_environment():
    actions = (
        BootstrapAction("ca", "bootstrap/ca.sh", ("--quiet",)),
        BootstrapAction("far", "s3://other/boot.sh"),
    )
    found = request(replace(CLUSTER, bootstrap_actions=actions))["BootstrapActions"]
    assert found == [
        {
            "Name": "ca",
            "ScriptBootstrapAction": {
                "Path": "s3://lake/artifacts/bootstrap/ca.sh",
                "Args": ["--quiet"],
            },
        },
        {
            "Name": "far",
            "ScriptBootstrapAction": {"Path": "s3://other/boot.sh", "Args": []},
        },
    ]


@pytest.fixture(scope="module")
def large():
    """The request of clusters/large.yml in environments/prod.yml."""
    return request(
        load_cluster("large", DAGS / "clusters"),
        load_environment("prod", DAGS / "environments"),
    )


def test_a_large_cluster_has_its_core_on_demand_and_its_task_nodes_on_spot(large):
    instances = large["Instances"]
    assert [fleet["InstanceFleetType"] for fleet in instances["InstanceFleets"]] == [
        "MASTER",
        "CORE",
        "TASK",
    ]
    primary, core, task = instances["InstanceFleets"]
    assert (primary["TargetOnDemandCapacity"], primary["TargetSpotCapacity"]) == (1, 0)
    assert (core["TargetOnDemandCapacity"], core["TargetSpotCapacity"]) == (2, 0)
    assert (task["TargetOnDemandCapacity"], task["TargetSpotCapacity"]) == (0, 4)
    assert "SpotSpecification" not in core["LaunchSpecifications"]
    assert task["InstanceTypeConfigs"][4:] == [
        {"InstanceType": "r7g.4xlarge", "WeightedCapacity": 2},
        {"InstanceType": "r6g.4xlarge", "WeightedCapacity": 2},
    ]
    assert task["LaunchSpecifications"] == {
        "OnDemandSpecification": {"AllocationStrategy": "lowest-price"},
        "SpotSpecification": {
            "TimeoutDurationMinutes": 15,
            "TimeoutAction": "SWITCH_TO_ON_DEMAND",
            "AllocationStrategy": "price-capacity-optimized",
        },
    }


def test_a_large_cluster_scales_where_production_has_its_networks_and_keys(large):
    assert large["ManagedScalingPolicy"]["ComputeLimits"] == {
        "UnitType": "InstanceFleetUnits",
        "MinimumCapacityUnits": 2,
        "MaximumCapacityUnits": 20,
        "MaximumOnDemandCapacityUnits": 2,
        "MaximumCoreCapacityUnits": 2,
    }
    subnets = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]
    assert large["Instances"]["Ec2SubnetIds"] == subnets
    assert large["Instances"]["EmrManagedSlaveSecurityGroup"] == "sg-0123456789abcdef1"
    assert large["Instances"]["ServiceAccessSecurityGroup"] == "sg-0123456789abcdef2"
    key = large["LogEncryptionKmsKeyId"]
    assert key.startswith("arn:aws:kms:eu-central-1:111122223333:key/")
    assert properties(large["Configurations"])["core-site"] == {
        "fs.s3a.encryption.algorithm": "SSE-KMS",
        "fs.s3a.encryption.key": key,
    }
    assert large["SecurityConfiguration"] == "lake-prod"
    assert large["Tags"][0] == {"Key": "cost-center", "Value": "lake"}


def test_groups_take_the_first_subnet_and_scale_by_instances():
    cluster = replace(
        load_cluster("standard", DAGS / "clusters"),
        managed_scaling=ManagedScaling(2, 10, maximum_on_demand_capacity_units=10),
        instances=InstanceGroups(core=CoreGroup(ebs_volumes=(EbsVolume(64),))),
    )
    found = request(cluster, replace(ENVIRONMENT, subnets=("subnet-1", "subnet-2")))
    assert found["Instances"]["Ec2SubnetId"] == "subnet-1"
    assert "Ec2SubnetIds" not in found["Instances"]
    assert found["ManagedScalingPolicy"]["ComputeLimits"] == {
        "UnitType": "Instances",
        "MinimumCapacityUnits": 2,
        "MaximumCapacityUnits": 10,
        "MaximumOnDemandCapacityUnits": 10,
    }
    volumes = [
        {
            "VolumeSpecification": {"VolumeType": "gp3", "SizeInGB": 64},
            "VolumesPerInstance": 1,
        }
    ]
    core = found["Instances"]["InstanceGroups"][1]
    assert core["EbsConfiguration"] == {"EbsBlockDeviceConfigs": volumes}


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


@pytest.mark.parametrize("ami", [None, "ami-0123456789abcdef0"])
def test_nodes_start_from_the_image_that_the_environment_names(ami):
    environment = replace(ENVIRONMENT, custom_ami=ami)
    found = run_job_flow_request(
        PLAN, run=run(PLAN), cluster=CLUSTER, environment=environment
    )
    assert found.get("CustomAmiId") == ami
    assert ("CustomAmiId" in found) == (ami is not None)
    model = botocore.session.get_session().get_service_model("emr")
    assert request_problems(found, model) == ""
