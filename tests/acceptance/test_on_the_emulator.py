"""An acceptance run on the emulator: each check that needs no account passes.

Where `.venv-readers` is set up, readers of Iceberg and Delta find by Glue's entries what
the landing files make.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from lake_acceptance.__main__ import CHECKS, main
from lake_acceptance.check import Check
from lake_local.workspace import project
from tests.acceptance.emulator import emulator

PROJECT = Path(__file__).resolve().parents[2]
CURRENT = {(1, "harbour", "11.00"), (2, "museum", "12.50")}
CURRENT |= {(3, "museum", "7.25"), (5, "museum", "3.00")}
VERSIONS, DELIVERIES = 8, 9
READERS = project.find().readers_python


def read_published(subject) -> str:
    """Read the published tables in the environment of their readers."""
    # It has no boto3 itself; that of the steps is plain Python.
    (packages,) = (READERS.parents[2] / ".venv-step").glob("lib/python3*/site-packages")
    done = subprocess.run(
        [str(READERS), "-m", "tests.acceptance.reading"],
        cwd=PROJECT,
        env={
            **os.environ,
            "AWS_REGION": subject.environment.region,
            "AWS_DEFAULT_REGION": subject.environment.region,
            "PYTHONPATH": f"dags:emulator:local:.:{packages}",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for name, rows in found.items():
        assert rows["iceberg"] == rows["delta"], name
    current = [json.loads(row) for row in found["visits"]["iceberg"]]
    visits = {(row["visit_id"], row["site"], fee_of(row)) for row in current}
    assert visits == CURRENT and len(current) == len(CURRENT)
    assert len(found["visits_history"]["iceberg"]) == VERSIONS
    assert len(found["visits_changes"]["iceberg"]) == DELIVERIES
    return f"{len(found)} tables"


def fee_of(row: dict) -> str:
    """The digits of a decimal, which is written as Python shows it."""
    return row["fee"][len("Decimal('") : -len("')")]


# By day: the same stages in tests/e2e, each check in tests/unit/lake_acceptance.
@pytest.mark.nightly
def test_all_that_needs_no_account_passes_and_nothing_is_left(tmp_path, capsys):
    planted = [Check("read-published", "?", read_published, ("published",))]
    at = [each.name for each in CHECKS].index("published") + 1
    chosen = [*CHECKS[:at], *(planted if READERS.exists() else []), *CHECKS[at:]]
    with emulator(tmp_path / "state") as aws:
        code = main(["local", "--yes", "--report", str(tmp_path / "report")], chosen)
        is_used = aws.store.holds_any("lake")
    assert code == 0, capsys.readouterr().out
    assert not is_used
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    outcomes = {each["name"]: each["outcome"] for each in report["checks"]}
    emulated = {each.name for each in chosen if not each.only_in_account}
    assert {name for name, o in outcomes.items() if o == "passed"} == emulated
    assert set(outcomes) == {each.name for each in chosen}
