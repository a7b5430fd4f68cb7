"""Who hears of a failed run: the domain's SNS topic, or nobody."""

from __future__ import annotations

from typing import Optional

from airflow.configuration import conf
from airflow.providers.amazon.aws.notifications.sns import SnsNotifier

from lake_airflow.plan import DagPlan

_SUBJECT_LIMIT = 100  # characters of an SNS subject


def failure_notifier(plan: DagPlan) -> Optional[SnsNotifier]:
    """What publishes a failed run to the domain's topic, once per run."""
    if plan.failure_topic is None:
        return None
    base_url = conf.get("api", "base_url", fallback=None) or "http://localhost:8080"
    run = "{{ run_id }}"
    link = (
        f"{base_url.rstrip('/')}/dags/{plan.dag_id}/runs/{{{{ run_id | urlencode }}}}"
    )
    return SnsNotifier(
        target_arn=plan.failure_topic,
        region_name=plan.failure_topic.split(":")[3],
        subject=f"{plan.dag_id} failed"[:_SUBJECT_LIMIT],
        message=(
            f"The run {run} of the DAG {plan.dag_id} failed.\n"
            f"The causes stand at the end of the log of its task summary: {link}"
        ),
    )
