"""The emulator takes what cluster files and environments can ask for."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from lake_airflow.emr.job_flow import run_job_flow_request
from lake_emulator.emr.requests import new_cluster
from tests.unit.lake_airflow import random_clusters
from tests.unit.lake_airflow.specs import dag_plan, run

PLAN = dag_plan("full_load")


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
