"""From the outputs of stacks to the lines of an environment's file."""

from __future__ import annotations

import io
import json

import pytest
import yaml
from lake_infra.__main__ import main
from lake_infra.settings import MADE_BY
from lake_infra.template import load_template

KEY = "arn:aws:kms:eu-central-1:111122223333:key/01234567-89ab-cdef-0123-456789abcdef"
VALUES = {
    "SubnetA": "subnet-0a",
    "SubnetB": "subnet-0b",
    "PrimaryGroup": "sg-01",
    "CoreAndTaskGroup": "sg-02",
    "ServiceAccessGroup": "sg-03",
    "KeyArn": KEY,
}


def stack(layer: str, status: str = "CREATE_COMPLETE") -> dict:
    """A stack with the outputs that its template has."""
    outputs = [
        {"OutputKey": name, "OutputValue": VALUES.get(name, "other")}
        for name in load_template(layer)["Outputs"]
    ]
    return {
        "StackName": f"lake-prod-{layer}",
        "StackStatus": status,
        "Outputs": outputs,
    }


def ask(monkeypatch, *stacks: dict) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps({"Stacks": list(stacks)})))
    return main(["settings", "prod"])


def test_outputs_are_printed_as_settings(monkeypatch, capsys):
    other = {"StackName": "lake-dev-network", "StackStatus": "CREATE_FAILED"}
    assert ask(monkeypatch, other, *map(stack, MADE_BY)) == 0
    assert yaml.safe_load(capsys.readouterr().out) == {
        "subnets": ["subnet-0a", "subnet-0b"],
        "security_groups": {
            "primary": "sg-01",
            "core_and_task": "sg-02",
            "service_access": "sg-03",
        },
        "log_encryption_kms_key_id": KEY,
        "s3_encryption_kms_key_id": KEY,
    }


@pytest.mark.parametrize(
    "stacks, told",
    [
        ([stack("network")], "the stack lake-prod-data is not there."),
        (
            [stack("network", "ROLLBACK_COMPLETE"), stack("data")],
            "the stack lake-prod-network is ROLLBACK_COMPLETE. Deploy the layer network.",
        ),
    ],
    ids=["missing", "failed"],
)
def test_a_stack_that_is_not_done_is_named(monkeypatch, capsys, stacks, told):
    assert ask(monkeypatch, *stacks) == 1
    assert told in capsys.readouterr().err
