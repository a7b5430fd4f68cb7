"""run_tests_locally.sh with programs that only take notes: what it runs, in which
order, and what it says when one of them fails."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """#!/usr/bin/env bash
echo "$0 $*" >>notes
case "$0 $*" in $FAILING) exit "$CODE" ;; esac
"""
PROGRAMS = (
    "setup.sh",
    ".local/uv/bin/uv",
    ".venv-airflow/bin/black",
    ".venv-airflow/bin/flake8",
    ".venv-airflow/bin/python",
    ".venv-airflow-3.0.6/bin/python",
    ".venv-spark/bin/python",
    ".venv-spec/bin/python",
)


@pytest.fixture
def run(tmp_path):
    """Run the script with arguments: its exit code, its output, the commands it ran."""
    shutil.copy(ROOT / "run_tests_locally.sh", tmp_path)
    for name in PROGRAMS:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PROGRAM)
        path.chmod(0o755)

    def run(*arguments, failing="nothing", code=1):
        (tmp_path / "notes").write_text("")
        done = subprocess.run(
            ["bash", "run_tests_locally.sh", *arguments],
            cwd=tmp_path,
            env={**os.environ, "FAILING": failing, "CODE": str(code)},
            capture_output=True,
            text=True,
        )
        commands = (tmp_path / "notes").read_text().splitlines()
        return done.returncode, done.stdout + done.stderr, commands

    return run


FAST = [
    "./setup.sh --quiet --only airflow --only spec",
    ".local/uv/bin/uv pip check --quiet --python .venv-airflow/bin/python",
    ".venv-airflow/bin/black --check .",
    ".venv-airflow/bin/flake8 ",
    ".venv-spec/bin/python -m compileall -q dags/lake_spec spark_jobs",
    ".venv-spec/bin/python -m pytest tests/unit/lake_spec",
    ".venv-airflow/bin/python -m pytest tests/unit tests/policy",
]


def test_fast_runs_the_linters_and_the_tests_that_need_no_java(run):
    code, output, commands = run("fast")
    assert (code, commands) == (0, FAST)
    assert "\n+ .venv-airflow/bin/black --check .\n" in output


@pytest.mark.parametrize("arguments", [[], ["full"]], ids=["by-default", "by-name"])
def test_full_adds_the_older_airflow_spark_and_end_to_end(run, arguments):
    code, _, commands = run(*arguments)
    assert code == 0
    assert commands[1:8] == FAST
    assert commands[8:] == [
        ".venv-airflow-3.0.6/bin/python -m pytest tests/unit tests/policy",
        ".venv-spark/bin/python -m pytest tests/spark",
        ".venv-airflow/bin/python -m pytest tests/e2e",
    ]


def test_it_stops_at_the_first_failure_and_says_how_to_run_only_that(run):
    code, output, commands = run("fast", failing="*flake8*", code=7)
    assert (code, commands) == (7, FAST[:4])
    assert output.endswith(
        "Failed (exit code 7). To run only this again:\n    .venv-airflow/bin/flake8\n"
    )


def test_arguments_reach_every_pytest(run):
    _, _, commands = run("fast", "-k", "late events")
    assert [line for line in commands if "pytest" in line] == [
        ".venv-spec/bin/python -m pytest tests/unit/lake_spec -k late events",
        ".venv-airflow/bin/python -m pytest tests/unit tests/policy -k late events",
    ]


def test_a_folder_without_tests_is_a_failure(run):
    assert run("fast", failing="*.venv-spec*pytest*", code=5)[0] == 5


def test_a_folder_without_a_chosen_test_is_none(run):
    code, _, commands = run("fast", "-k", "x", failing="*.venv-spec*pytest*", code=5)
    assert (code, len(commands)) == (0, len(FAST))


def test_an_unknown_speed_is_refused_with_the_choices(run):
    code, output, commands = run("slow")
    assert (code, commands) == (2, [])
    assert "'slow' is no speed; choose fast, full or properties" in output
