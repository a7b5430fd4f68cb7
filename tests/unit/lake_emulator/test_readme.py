"""The README's policies and rules do what it says; its step is played in tests/acceptance."""

from __future__ import annotations

import json
import re
from pathlib import Path

import boto3
import pytest
from botocore.exceptions import ClientError

from lake_emulator.faults import KINDS

README = Path(__file__).resolve().parents[3] / "emulator" / "README.md"


def printed(language: str) -> list[str]:
    text = README.read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_the_policies_of_the_page_let_a_role_read_one_object(emulator, s3):
    (block,) = printed("json")
    here = {"LocationConstraint": "eu-central-1"}
    s3.create_bucket(Bucket="mine", CreateBucketConfiguration=here)
    for key in ("words.csv", "other.csv"):
        s3.put_object(Bucket="mine", Key=key, Body=b"x")
    reader = boto3.client(
        "s3",
        endpoint_url=emulator.url,
        region_name="eu-central-1",
        aws_access_key_id="role:reader",
        aws_secret_access_key=emulator.secret,
    )
    emulator.enforcer.replace(json.loads(block))
    try:
        assert reader.get_object(Bucket="mine", Key="words.csv")["Body"].read() == b"x"
        with pytest.raises(ClientError, match="AccessDenied"):
            reader.get_object(Bucket="mine", Key="other.csv")
    finally:
        emulator.enforcer.replace(None)


def test_the_step_of_the_page_is_short_and_its_fault_is_one():
    (program,) = printed("python")
    compile(program, "step", "exec")
    assert len(program.splitlines()) <= 26
    (kind,) = re.findall(r'"kind": "(\w+)"', README.read_text(encoding="utf-8"))
    assert kind in KINDS
