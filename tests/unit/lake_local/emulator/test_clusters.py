"""The emulator takes what cluster files and environments can ask for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

from lake_airflow.emr.job_flow import run_job_flow_request
from lake_check.parsing.loader import load_cluster, load_environment
from lake_emulator import client
from lake_emulator.emr.requests import new_cluster
from tests.unit.lake_airflow import random_clusters
from tests.unit.lake_airflow.specs import dag_plan, run

PLAN = dag_plan("full_load")
DAGS = Path(__file__).resolve().parents[4] / "dags"


def request(seed: int, **changes):
    random = Random(seed)
    cluster = replace(random_clusters.cluster(random), **changes)
    environment = random_clusters.environment(random)
    return run_job_flow_request(
        PLAN, run=run(PLAN), cluster=cluster, environment=environment
    )


def test_nothing_but_bootstrap_actions_is_refused():
    for seed in range(100):
        asked = request(seed, bootstrap_actions=())
        taken = new_cluster(asked)
        assert taken.described["Instances"] == asked["Instances"], seed
        assert taken.scaling == asked.get("ManagedScalingPolicy"), seed


def test_fleets_scaling_and_keys_are_shown_as_asked_for(emulator):
    """The request of clusters/large.yml in environments/prod.yml."""
    asked = run_job_flow_request(
        PLAN,
        run=run(PLAN),
        cluster=load_cluster("large", DAGS / "clusters"),
        environment=load_environment("prod", DAGS / "environments"),
    )
    emr = client("emr", emulator.url, secret=emulator.secret)
    cluster = emr.run_job_flow(**asked)["JobFlowId"]
    told = emr.describe_cluster(ClusterId=cluster)["Cluster"]
    assert told["InstanceCollectionType"] == "INSTANCE_FLEET"
    assert told["LogEncryptionKmsKeyId"] == asked["LogEncryptionKmsKeyId"]
    assert told["SecurityConfiguration"] == asked["SecurityConfiguration"]
    attributes = told["Ec2InstanceAttributes"]
    assert attributes["Ec2SubnetId"] == "subnet-0123456789abcdef0"
    assert attributes["EmrManagedMasterSecurityGroup"] == "sg-0123456789abcdef0"
    fleets = emr.list_instance_fleets(ClusterId=cluster)["InstanceFleets"]
    assert [(f["TargetOnDemandCapacity"], f["TargetSpotCapacity"]) for f in fleets] == [
        (1, 0),
        (2, 0),
        (0, 4),
    ]
    instances = emr.list_instances(ClusterId=cluster)["Instances"]
    assert [(each["InstanceType"], each["Market"]) for each in instances] == [
        ("m7g.2xlarge", "ON_DEMAND"),
        *[("r7g.2xlarge", "ON_DEMAND")] * 2,
        *[("r7g.2xlarge", "SPOT")] * 4,
    ]
    assert {each["InstanceFleetId"] for each in instances} == {f["Id"] for f in fleets}
    policy = emr.get_managed_scaling_policy(ClusterId=cluster)["ManagedScalingPolicy"]
    assert policy == asked["ManagedScalingPolicy"]
