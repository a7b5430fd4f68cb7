"""What EMR is asked to make is asked for once, unless it surely did nothing."""

from __future__ import annotations

import shlex

import json

import boto3
import pytest
from airflow.providers.amazon.aws.hooks.base_aws import AwsGenericHook
from botocore.exceptions import ClientError, ConnectionClosedError, ReadTimeoutError

from lake_airflow.emr import hook as module
from lake_airflow.emr.hook import PAUSES, ReplyLost, NonRetryingEmrHook, is_passing


class Client:
    """Answers as told, and counts how often it was asked."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = 0

    def run_job_flow(self, **request):
        self.asked += 1
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    add_job_flow_steps = run_job_flow


def error(code, status=400):
    reply = {
        "Error": {"Code": code, "Message": "no"},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    return ClientError(reply, "RunJobFlow")


@pytest.fixture
def hook(monkeypatch):
    """The hook in front of a client, and the pauses that it made."""
    pauses = []
    monkeypatch.setattr(module.time, "sleep", pauses.append)

    def hook(client):
        monkeypatch.setattr(AwsGenericHook, "get_client_type", lambda *_, **__: client)
        made = NonRetryingEmrHook(aws_conn_id=None, region_name="eu-central-1")
        made.pauses = pauses
        return made

    return hook


def test_what_emr_confirms_is_returned(hook):
    assert hook(Client({"JobFlowId": "j-1"})).create_job_flow({}) == {
        "JobFlowId": "j-1"
    }
    assert hook(Client({"StepIds": ["s-1"]})).add_job_flow_steps("j-1", []) == ["s-1"]


@pytest.mark.parametrize(
    "answer",
    [
        ReadTimeoutError(endpoint_url="emr"),
        ConnectionClosedError(endpoint_url="emr"),
        error("InternalFailure", 500),
        error("ServiceUnavailable", 503),
        error("InternalServerException", 400),
    ],
    ids=["read timeout", "closed", "internal", "unavailable", "internal with 400"],
)
def test_without_a_reply_nothing_is_sent_again(hook, answer):
    client = Client(answer)
    with pytest.raises(ReplyLost):
        hook(client).create_job_flow({})
    assert client.asked == 1


def test_a_refusal_is_not_sent_again(hook):
    client = Client(error("ValidationException"))
    with pytest.raises(ClientError, match="ValidationException"):
        hook(client).create_job_flow({})
    assert client.asked == 1


def test_throttled_requests_are_sent_again_after_a_pause(hook):
    throttled = error("ThrottlingException")
    made = hook(Client(throttled, error("Throttling", 503), {"JobFlowId": "j-1"}))
    assert made.create_job_flow({}) == {"JobFlowId": "j-1"}
    assert made.pauses == list(PAUSES[:2])


@pytest.mark.parametrize("status", [400, 500])
@pytest.mark.parametrize("code", ["InternalServerException", "InternalServerError"])
def test_a_fault_of_emr_may_pass_whatever_its_status(code, status):
    assert is_passing(error(code, status))
    assert not is_passing(error("ValidationException"))


def test_throttling_without_end_is_an_error(hook):
    client = Client(*[error("ThrottlingException")] * 20)
    with pytest.raises(ClientError, match="ThrottlingException"):
        hook(client).create_job_flow({})
    assert client.asked == len(PAUSES) + 1


def test_botocore_repeats_nothing(monkeypatch):
    """Also after a client was made, which writes its mode into the retries it gets."""
    seen = []

    def get_client_type(hook, config):
        seen.append(dict(config.retries))
        boto3.client("emr", region_name="eu-central-1", config=config)
        return Client({"JobFlowId": "j-1"})

    monkeypatch.setattr(AwsGenericHook, "get_client_type", get_client_type)
    for _ in range(2):
        NonRetryingEmrHook(
            aws_conn_id=None, region_name="eu-central-1"
        ).create_job_flow({})
    assert seen == [{"total_max_attempts": 1}] * 2


def test_writes_have_the_proxy_and_timeouts_of_the_connection(monkeypatch):
    config = {"proxies": {"https": "http://proxy:3128"}, "read_timeout": 7}
    extra = json.dumps({"config_kwargs": config, "region_name": "eu-central-1"})
    connection = {"conn_type": "aws", "extra": extra}
    monkeypatch.setenv("AIRFLOW_CONN_PROXIED", json.dumps(connection))
    hook, seen = NonRetryingEmrHook(aws_conn_id="proxied"), []
    monkeypatch.setattr(
        NonRetryingEmrHook,
        "send",
        staticmethod(lambda client, *_: seen.append(client.meta.config) or {}),
    )
    hook.create_job_flow({})
    (ours,), theirs = seen, hook.conn.meta.config
    assert ours.proxies == theirs.proxies == config["proxies"]
    assert ours.read_timeout == theirs.read_timeout == 7
    assert ours.retries["total_max_attempts"] == 1


def test_with_a_runtime_role_arguments_are_written_for_a_shell(hook):
    """As EMR asks for; without a role they are taken as they are."""
    args = ["spark-submit", "--file=a b/*.csv", '["us"]', "it's"]
    step = {"Name": "x", "HadoopJarStep": {"Jar": "command-runner.jar", "Args": args}}
    sent = []

    class Recorder(Client):
        def add_job_flow_steps(self, **request):
            sent.append(request)
            return {"StepIds": ["s-1"]}

    made = hook(Recorder())
    made.add_job_flow_steps("j-1", [step])
    made.add_job_flow_steps("j-1", [step], execution_role_arn="arn:role")
    plain, escaped = sent
    assert plain == {"JobFlowId": "j-1", "Steps": [step]}
    assert escaped["ExecutionRoleArn"] == "arn:role"
    found = escaped["Steps"][0]["HadoopJarStep"]["Args"]
    assert found[:2] == ["spark-submit", "'--file=a b/*.csv'"]
    assert shlex.split(" ".join(found)) == args
    assert step["HadoopJarStep"]["Args"] == args
