"""The links of tasks: where they lead, and that they fail no task."""

from types import SimpleNamespace

import pytest
from airflow.sdk import DAG
from airflow.serialization import serialized_objects

from lake_airflow.operators.links import RunPageLink, StepLogLink, console_link
from lake_airflow.operators.finish_run import SummariseRun
from tests.unit.lake_airflow.specs import ENVIRONMENT, dag_plan

SERIALIZED = getattr(
    serialized_objects, "DagSerialization", serialized_objects.SerializedDAG
)
TI = SimpleNamespace(
    dag_id="sales_incremental", run_id="manual__2026-01-01T00:00:00+00:00/../x"
)
LOG = "s3://lake/logs/sales_incremental/manual-1/j-1/steps/s-1/stderr.gz"


def operator(*ends):
    return SimpleNamespace(ends=list(ends), environment=ENVIRONMENT)


def test_a_task_leads_to_the_page_of_its_run():
    url = RunPageLink().get_link(operator(), ti_key=TI)
    assert url.endswith(
        "/lake/runs/sales_incremental/manual__2026-01-01T00%3A00%3A00%2B00%3A00%2F..%2Fx"
    )


@pytest.mark.parametrize(
    ("states", "step"),
    [(("COMPLETED", "COMPLETED"), 1), (("FAILED", "COMPLETED"), 0)],
)
def test_a_stage_leads_to_the_log_of_its_step(states, step):
    ends = [{"state": state, "log": f"s3://l/{i}"} for i, state in enumerate(states)]
    url = StepLogLink().get_link(operator(*ends), ti_key=TI)
    assert url.endswith(f"prefix={step}")


def test_a_link_that_cannot_be_made_is_left_out():
    assert StepLogLink().get_link(SimpleNamespace(), ti_key=TI) == ""
    assert StepLogLink().get_link(operator({"state": "NOT_SUBMITTED"}), ti_key=TI) == ""


def test_only_addresses_of_s3_lead_to_its_console():
    assert console_link("javascript://x/y", "eu-central-1") == ""
    assert "eu-central-1.console.aws.amazon.com/s3/object/lake?" in console_link(
        LOG, "eu-central-1"
    )


def test_links_need_no_code_of_ours_where_dags_are_shown():
    with DAG("sales_incremental") as dag:
        SummariseRun(
            task_id="summary", plan=dag_plan("incremental"), environment=ENVIRONMENT
        )
    (task,) = SERIALIZED.from_dict(SERIALIZED.to_dict(dag)).tasks
    links = {link.name: type(link).__name__ for link in task.operator_extra_links}
    assert links == {"Lake run": "XComOperatorLink"}
