"""A failed run is told to the domain's topic, with its name and where to look."""

import json

import boto3
import pytest
from airflow.sdk import DAG
from moto import mock_aws
from moto.core import DEFAULT_ACCOUNT_ID
from moto.sns.models import sns_backends

from lake_airflow.notify import failure_notifier
from lake_spec.model import Notifications
from tests.unit.lake_airflow.specs import dag_plan, domain

REGION = "eu-west-1"


def notifier(topic):
    spec = domain(notifications=Notifications(failure_topic=topic))
    return failure_notifier(dag_plan("incremental", spec))


def test_without_a_topic_nobody_is_told():
    assert notifier(None) is None


@pytest.fixture
def topic(monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_AWS_DEFAULT", "aws://")
    with mock_aws():
        sns = boto3.client("sns", region_name=REGION)
        yield sns.create_topic(Name="alarms")["TopicArn"]


def test_the_message_names_dag_and_run_and_links_to_it(topic):
    context = {"dag": DAG("sales_incremental"), "run_id": "manual__1+00:00"}
    notifier(topic)({**context, "reason": "task_failure"})
    sent = sns_backends[DEFAULT_ACCOUNT_ID][REGION].topics[topic].sent_notifications
    ((_, message, subject, *_),) = sent
    assert subject == "sales_incremental failed"
    assert json.loads(message)["default"] == (
        "The run manual__1+00:00 of the DAG sales_incremental failed.\n"
        "The causes stand at the end of the log of its task summary:"
        " http://localhost:8080/dags/sales_incremental/runs/manual__1%2B00%3A00"
    )
