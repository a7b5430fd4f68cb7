"""Who hears of a failed run: the domain's SNS topic, or nobody."""

from __future__ import annotations

from typing import Optional

from airflow.configuration import conf
from airflow.providers.amazon.aws.notifications.sns import SnsNotifier

from lake_airflow.plan import DagPlan

_SUBJECT_LIMIT = 100  # characters of an SNS subject


def failure_notifier(plan: DagPlan) -> Optional[SnsNotifier]:
    """What publishes a failed run to the domain's topic, once per run."""
    words = "The causes stand at the end of the log of its task summary"
    return _notifier(plan.dag_id, plan.failure_topic, words)


def alarm_notifier(dag_id: str, topic: Optional[str]) -> Optional[SnsNotifier]:
    """What publishes to an environment's topic that clusters could not be ended."""
    words = "Clusters that nobody needs live on and cost money; its log names them"
    return _notifier(dag_id, topic, words)


def _notifier(dag_id: str, topic: Optional[str], words: str) -> Optional[SnsNotifier]:
    if topic is None:
        return None
    base_url = conf.get("api", "base_url", fallback=None) or "http://localhost:8080"
    link = f"{base_url.rstrip('/')}/dags/{dag_id}/runs/{{{{ run_id | urlencode }}}}"
    return SnsNotifier(
        target_arn=topic,
        region_name=topic.split(":")[3],
        subject=f"{dag_id} failed"[:_SUBJECT_LIMIT],
        message=(
            f"The run {{{{ run_id }}}} of the DAG {dag_id} failed.\n{words}: {link}"
        ),
    )
