"""COVERAGE.md says what is covered: neither more nor less than the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lake_emulator import table_optimizers
from lake_emulator.emr import requests
from lake_emulator.emr.step_rules import COMMANDS
from lake_emulator.emr.web import covered, service_model
from lake_emulator.moto_services import SERVICES
from lake_emulator.runtimes import RELEASES

COVERAGE = Path(__file__).resolve().parents[3] / "emulator" / "COVERAGE.md"


def ticked(heading: str) -> list[str]:
    """The ticked names below a line that begins so, up to the next paragraph."""
    text = COVERAGE.read_text()
    assert heading in text
    block = text[text.index(heading) :].split("\n\n")[1]
    return re.findall(r"^- \[x\] ([\w.-]+)", block, re.MULTILINE)


def test_the_emr_calls_are_those_of_the_class():
    assert ticked("Steps really run. Calls:") == covered()


def test_every_covered_call_is_a_call_of_emr():
    assert set(covered()) <= set(service_model().operation_names)


def test_the_members_of_run_job_flow_are_those_of_the_code():
    assert ticked("Members of RunJobFlow:") == sorted(requests.USED + requests.KEPT)
    known = service_model().operation_model("RunJobFlow").input_shape.members
    assert set(requests.USED + requests.KEPT) <= set(known)


def test_the_release_labels_are_those_of_the_runtimes():
    assert ticked("Release labels:") == list(RELEASES)


def test_the_commands_are_those_of_the_runtimes():
    assert ticked("Commands of `command-runner.jar`:") == list(COMMANDS)


def test_the_services_are_those_of_the_front_door():
    listed = ticked("What moto covers of a service")
    assert listed == list(SERVICES)


def test_the_s3_calls_are_those_of_the_class(emulator):
    operations = emulator.s3.operations
    assert ticked("Objects, path style") == sorted(operations)


def test_the_calls_of_table_optimizers_are_those_of_the_module():
    assert ticked("Table optimizers of Glue") == list(table_optimizers.CALLS)


@pytest.mark.parametrize("heading", ["Release labels:", "Objects, path style"])
def test_a_list_that_lost_a_line_would_be_noticed(heading, tmp_path, monkeypatch):
    before = ticked(heading)
    shortened = re.sub(rf"- \[x\] {before[0]}\b.*\n", "", COVERAGE.read_text(), count=1)
    (tmp_path / "COVERAGE.md").write_text(shortened)
    monkeypatch.setitem(globals(), "COVERAGE", tmp_path / "COVERAGE.md")
    assert ticked(heading) == before[1:]
