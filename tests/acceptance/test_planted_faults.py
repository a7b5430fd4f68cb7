"""Faults of a deployment that only a real step meets: each turns a check red by its cause."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from lake_acceptance import steps, storage
from lake_acceptance.__main__ import CHECKS, main
from lake_acceptance.check import Check

from tests.acceptance.emulator import emulator

pytestmark = pytest.mark.nightly


def outcomes(tmp_path, checks, **of_emulator):
    """What became of the checks, by name: the outcome with its evidence."""
    with emulator(tmp_path / "state", **of_emulator):
        code = main(["local", "--yes", "--report", str(tmp_path)], checks)
    assert code == 1
    report = json.loads((tmp_path / "report.json").read_text())
    return {
        each["name"]: f"{each['outcome']}: {each['evidence']}"
        for each in report["checks"]
    }


def until(name: str, *planted: Check) -> list[Check]:
    """The checks up to this one, and those that always run; planted ones at `lease`."""
    names = [each.name for each in CHECKS]
    chosen = [*CHECKS[: names.index(name) + 1], *(c for c in CHECKS if c.always)]
    at = [each.name for each in chosen].index("lease")
    return [*chosen[:at], *planted, *chosen[at:]]


def test_a_release_whose_boto3_was_replaced(tmp_path):
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()

    def plant(subject):
        root = f"{subject.environment.artifacts}/releases/{subject.release}"
        storage.put(subject.client("s3"), root, "boto3.zip", empty.getvalue())
        return root

    found = outcomes(tmp_path, until("step", Check("planted", "?", plant)))
    assert found["step"].startswith("FAILED: a file of the release was replaced")
    assert "boto3.zip is not that of the release: its SHA-256" in found["step"]
    assert found["teardown"].startswith("passed")


def test_a_jar_that_the_release_does_not_have(tmp_path, monkeypatch):
    monkeypatch.setattr(steps, "AVRO", "/usr/lib/spark/connector/lib/no-avro.jar")
    found = outcomes(tmp_path, until("jars"))
    assert "FAILED" in f"{found['step']} {found['jars']}"
    assert "no-avro" in found["step"] or "AvroFileFormat" in found["jars"]


def test_a_role_that_may_not_read_the_secret(tmp_path):
    found = outcomes(tmp_path, until("secret"), without="ssm:GetParameter")
    assert found["step"].startswith("passed")
    assert found["secret"].startswith("FAILED: the step could not answer: ")
    assert "ssm:GetParameter" in found["secret"]


def test_a_role_that_may_not_register_partitions(tmp_path):
    checks = until("full-load")
    found = outcomes(tmp_path, checks, without="glue:BatchCreatePartition")
    assert found["full-load"].startswith("FAILED: ")
    assert "glue:BatchCreatePartition" in found["full-load"]
    assert found["removed"].startswith("passed")
