"""Tests that are checks of a deployment too: releases, roles, workflows, MWAA and EMR."""

from __future__ import annotations

import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path
from typing import List, Tuple

ROOT = Path(__file__).resolve().parents[2]
NEWER, OLDER = ".venv-airflow", ".venv-airflow-3.0.6"
SECONDS = 900


@dataclass(frozen=True)
class Suite:
    """Tests of one purpose and the environment that they run in."""

    name: str
    environment: str
    paths: Tuple[str, ...]


SUITES = (
    Suite(
        "releases are whole, planned and undone", NEWER, ("tests/unit/lake_release",)
    ),
    Suite("templates follow the specs", NEWER, ("tests/unit/lake_infra",)),
    Suite(
        "rules see what breaks them",
        NEWER,
        (
            "tests/policy/test_templates.py",
            "tests/policy/test_aws_facts.py",
            "tests/policy/test_grants.py",
            "tests/policy/test_calls_against_roles.py",
        ),
    ),
    Suite(
        "calls are refused where a statement is missing",
        NEWER,
        (
            "tests/unit/lake_emulator/policies",
            "tests/unit/lake_local/emulator/test_each_statement_is_needed.py",
        ),
    ),
    Suite(
        "an account that lacks something is told so before a deploy",
        NEWER,
        ("tests/unit/lake_acceptance/test_account.py",),
    ),
    Suite("workflows", NEWER, ("tests/policy/test_workflows.py",)),
    Suite(
        "parameters of runs have no effect but theirs",
        NEWER,
        ("tests/unit/lake_airflow/planning/test_hostile_params.py",),
    ),
    Suite("as MWAA 3.3.1 gets it", NEWER, ("tests/deploy/test_as_mwaa.py",)),
    Suite("as MWAA 3.0.6 gets it", OLDER, ("tests/deploy/test_as_mwaa.py",)),
    Suite("as EMR gets it", NEWER, ("tests/deploy/test_as_emr.py",)),
)


@dataclass(frozen=True)
class Tested:
    """How many tests ran, without skipped ones, and what those that failed said."""

    count: int
    failures: List[str]


def run(suite: Suite, root: Path = ROOT) -> Tested:
    """Run the tests of a suite; one that finds no test has failed."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        python = root / suite.environment / "bin" / "python"
        command = [str(python), "-m", "pytest", "-q", f"--junitxml={report}"]
        try:
            done = subprocess.run(
                [*command, *suite.paths],
                cwd=root,
                capture_output=True,
                text=True,
                timeout=SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return Tested(1, [f"{type(error).__name__}: {error}"])
        cases = [each for each in _cases(report) if each.find("skipped") is None]
    failures = [_told(case) for case in cases if _has_failed(case)]
    if done.returncode and not failures:
        failures = [f"pytest ended with {done.returncode}: {done.stdout[-500:]}"]
    if not cases and not failures:
        failures = ["nothing ran: every test of it is skipped on this machine"]
    return Tested(max(len(cases), 1), failures)


def _cases(report: Path) -> List[ElementTree.Element]:
    return list(ElementTree.parse(report).iter("testcase")) if report.exists() else []


def _has_failed(case: ElementTree.Element) -> bool:
    return case.find("failure") is not None or case.find("error") is not None


def _told(case: ElementTree.Element) -> str:
    found = case.find("failure")
    found = case.find("error") if found is None else found
    words = (found.get("message") or "").splitlines() if found is not None else []
    return f"{case.get('classname')}.{case.get('name')}: {words[0] if words else ''}"
