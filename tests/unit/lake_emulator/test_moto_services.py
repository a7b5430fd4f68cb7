"""The state of moto's services as a file, and services that are not covered."""

from __future__ import annotations

import io
import os
import pickle
import re
from collections import OrderedDict, defaultdict
from datetime import datetime, timezone
from decimal import Decimal

import pytest
from botocore.exceptions import ClientError

from lake_emulator import client
from lake_emulator.moto_services import (
    MotoServices,
    SERVICES,
    StatePickler,
    StateUnpickler,
    refill,
)


class Versions(defaultdict):
    """A dict with settings of its own, as moto has them."""

    def __init__(self, account: str) -> None:
        super().__init__(list)
        self.account = account


def stored(state):
    file = io.BytesIO()
    StatePickler(file).dump(state)
    return pickle.loads(file.getvalue())


def test_dicts_that_make_values_keep_how_they_do_it():
    state = {"tags": defaultdict(lambda: {"made": True}), "plain": 1}
    state["tags"]["a"] = {"b": "c"}
    fresh = {"tags": defaultdict(lambda: {"made": True}), "plain": 0}
    refill(fresh, stored(state))
    assert fresh["tags"]["a"] == {"b": "c"}
    assert fresh["tags"]["new"] == {"made": True}
    assert fresh["plain"] == 1


def test_dicts_with_a_constructor_of_their_own_are_filled_again():
    before = Versions("1")
    before["p"].append("v1")
    fresh = {"parameters": Versions("1")}
    refill(fresh, stored({"parameters": before}))
    assert isinstance(fresh["parameters"], Versions)
    assert fresh["parameters"]["p"] == ["v1"]


class Calls:
    """A value whose pickle calls a function."""

    def __init__(self, function, *given):
        self.called = (function, given)

    def __reduce__(self):
        return self.called


def test_a_state_that_names_a_function_is_put_aside_and_calls_nothing(tmp_path, caplog):
    made = tmp_path / "made"
    for service, function in (("glue", os.mkdir), ("sns", os.system)):
        given = str(made) if service == "glue" else f"mkdir {made}"
        content = pickle.dumps({("1", "r"): {"x": Calls(function, given)}})
        (tmp_path / f"{service}.pickle").write_bytes(content)
    MotoServices(tmp_path)
    assert not made.exists()
    for service in ("glue", "sns"):
        assert (tmp_path / f"{service}.unreadable").exists()
    assert "posix.mkdir, which is no class of moto's state" in caplog.text


@pytest.mark.parametrize(
    "named",
    ["cmoto.core.utils\nos.system", "cmoto.core.utils\nutcnow", "cbuiltins\neval"],
    ids=["through a module of moto", "a function of moto", "of Python"],
)
def test_a_name_that_is_no_class_is_refused(named):
    protocol_4 = b"\x80\x04"
    with pytest.raises((pickle.UnpicklingError, AttributeError)):
        StateUnpickler(io.BytesIO(protocol_4 + named.encode() + b"\n.")).load()


def test_plain_values_come_back():
    at = datetime(2026, 1, 2, tzinfo=timezone.utc)
    state = {
        "a": OrderedDict(b={1}),
        "at": at,
        "n": Decimal("1.5"),
        "p": re.compile("x"),
    }
    file = io.BytesIO()
    StatePickler(file).dump(state)
    assert StateUnpickler(io.BytesIO(file.getvalue())).load() == state


@pytest.mark.parametrize("service", ["sqs", "ec2", "lambda", "emr-serverless"])
def test_a_service_that_is_not_covered_is_refused(emulator, service):
    calls = {
        "sqs": "list_queues",
        "ec2": "describe_instances",
        "lambda": "list_functions",
        "emr-serverless": "list_applications",
    }
    with pytest.raises(ClientError) as raised:
        getattr(client(service, emulator.url, secret=emulator.secret), calls[service])()
    error = raised.value.response["Error"]
    assert error["Code"] == "NotCovered"
    assert f"does not cover {service}: see emulator/COVERAGE.md" in error["Message"]


@pytest.mark.parametrize(
    "service, call, request_",
    [
        ("dynamodb", "list_tables", {}),
        ("glue", "get_databases", {}),
        ("iam", "list_roles", {}),
        ("s3", "list_buckets", {}),
        ("secretsmanager", "list_secrets", {}),
        ("sns", "list_topics", {}),
        ("sts", "get_caller_identity", {}),
    ],
)
def test_the_services_of_moto_answer(emulator, service, call, request_):
    assert service in SERVICES
    reply = getattr(client(service, emulator.url, secret=emulator.secret), call)(
        **request_
    )
    assert reply["ResponseMetadata"]["HTTPStatusCode"] == 200


def test_a_bucket_can_be_made_without_a_request(emulator, s3, tmp_path):
    MotoServices(tmp_path).create_bucket("made-in-process", "eu-central-1")
    names = [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]]
    assert "made-in-process" in names
