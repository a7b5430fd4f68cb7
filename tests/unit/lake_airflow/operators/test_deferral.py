"""A task defers only where a trigger would ask the same region as the task.

The provider's EMR triggers up to 9.34 take their region from the connection.
"""

import pytest
from airflow.providers.amazon.aws.operators.emr import EmrTerminateJobFlowOperator

from lake_airflow.emr import clusters
from lake_airflow.operators import deferral
from lake_airflow.operators.terminate_cluster import TerminateCluster
from tests.unit.lake_airflow.specs import ENVIRONMENT, dag_plan


def task():
    return TerminateCluster(
        task_id="terminate_cluster",
        plan=dag_plan("maintenance"),
        environment=ENVIRONMENT,
        poll_seconds=1,
    )


@pytest.mark.parametrize(
    "connection, defers",
    [
        ("aws://", True),
        ("aws://?region_name=eu-central-1", True),
        ("aws://?region_name=us-east-1", False),
    ],
    ids=["region-of-the-process", "same-region", "other-region"],
)
def test_a_task_defers_where_the_connection_has_its_region(
    monkeypatch, connection, defers
):
    monkeypatch.setenv("AIRFLOW_CONN_AWS_DEFAULT", connection)
    assert task().can_defer() is defers


def test_a_task_stays_in_the_worker_where_only_its_environment_names_a_region(
    monkeypatch,
):
    monkeypatch.setenv("AIRFLOW_CONN_AWS_DEFAULT", "aws://")
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    assert task().can_defer() is False


def test_a_task_whose_trigger_is_lost_looks_before_its_cluster_counts_as_idle():
    # Its next step takes some minutes more: a try, and EMR.
    assert deferral.LONGEST_SLEEP + deferral.LATE < clusters.IDLE


@pytest.mark.parametrize(
    "base, missing",
    [
        (deferral.OutlivesTriggers, "without_trigger"),
        (deferral.WaitsForEmr, "follow"),
        (deferral.WaitsForEmr, "has_begun"),
    ],
)
def test_an_operator_gives_what_its_base_asks_of_it(base, missing):
    class Incomplete(base, EmrTerminateJobFlowOperator):
        """Gives nothing."""

    with pytest.raises(TypeError, match=f"abstract.*{missing}"):
        Incomplete(task_id="incomplete", job_flow_id="j-1")
