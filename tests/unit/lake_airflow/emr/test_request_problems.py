"""Every request that our files can ask for is one that AWS's own model of EMR takes."""

import copy
from pathlib import Path
from random import Random

import botocore.session
import pytest

from lake_airflow.emr.job_flow import request_problems, run_job_flow_request
from lake_check.parsing.loader import load_cluster, load_environment
from lake_check.rules.all_rules import rule_sets_of
from lake_spec.model import instances
from tests.unit.lake_airflow import random_clusters
from tests.unit.lake_airflow.specs import dag_plan, run

DAGS = Path(__file__).resolve().parents[4] / "dags"
PLAN = dag_plan("full_load")
MODEL = botocore.session.Session().get_service_model("emr")
CLUSTERS = sorted(path.stem for path in (DAGS / "clusters").glob("*.yml"))
ENVIRONMENTS = sorted(path.stem for path in (DAGS / "environments").glob("*.yml"))


def request(cluster, environment):
    return run_job_flow_request(
        PLAN, run=run(PLAN), cluster=cluster, environment=environment
    )


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_emr_takes_each_cluster_file_in_each_environment(cluster, environment):
    found = request(
        load_cluster(cluster, DAGS / "clusters"),
        load_environment(environment, DAGS / "environments"),
    )
    assert request_problems(found, MODEL) == ""


def test_emr_takes_whatever_keeps_the_rules():
    for seed in range(300):
        cluster = random_clusters.cluster(Random(seed))
        environment = random_clusters.environment(Random(seed))
        for spec in (cluster, environment):
            told = [each for book in rule_sets_of(spec) for each in book.problems(spec)]
            assert told == [], (seed, spec)
        found = request(cluster, environment)
        assert request_problems(found, MODEL) == "", seed
        assert len(found["Tags"]) <= 50, seed


@pytest.mark.parametrize(
    "choices, shape",
    [
        (instances.Market, "MarketType"),
        (instances.TimeoutAction, "SpotProvisioningTimeoutAction"),
        (instances.SpotAllocationStrategy, "SpotProvisioningAllocationStrategy"),
    ],
    ids=lambda each: getattr(each, "__name__", each),
)
def test_our_choices_are_emrs(choices, shape):
    assert {each.value for each in choices} <= set(MODEL.shape_for(shape).enum)


LARGE = request(
    load_cluster("large", DAGS / "clusters"),
    load_environment("prod", DAGS / "environments"),
)


def spoilt(path, value):
    found = copy.deepcopy(LARGE)
    *way, last = path
    inner = found
    for step in way:
        inner = inner[step]
    inner[last] = value
    return found


@pytest.mark.parametrize(
    "path, value, problem",
    [
        (
            ("Instances", "InstanceFleets", 0, "InstanceFleetType"),
            "PRIMARY",
            "RunJobFlow.Instances.InstanceFleets[0].InstanceFleetType: got 'PRIMARY'."
            " Choose one of: MASTER, CORE, TASK.",
        ),
        (
            ("Name",),
            "x" * 257,
            ("RunJobFlow.Name: got 257 characters. Choose at most 256."),
        ),
        (
            ("ManagedScalingPolicy", "UtilizationPerformanceIndex"),
            101,
            "RunJobFlow.ManagedScalingPolicy.UtilizationPerformanceIndex: got 101. Choose at",
        ),
        (
            ("AutoTerminationPolicy", "IdleTimeout"),
            "1h",
            "Invalid type for parameter AutoTerminationPolicy.IdleTimeout, value: 1h",
        ),
        (("Instances", "Subnet"), "s", 'Unknown parameter in Instances: "Subnet"'),
    ],
    ids=["a choice", "too long", "too large", "a type", "a name"],
)
def test_what_the_model_does_not_have_is_told(path, value, problem):
    assert request_problems(spoilt(path, value), MODEL).startswith(problem)
