"""cfn-lint, checkov, zizmor and actionlint: seconds each, so not among the fast tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.deploy.checks import ROOT, actionlint, checkov, lint, terraform, zizmor

SOUND = "on: push\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    steps: [{run: make}]\n"


def github(folder: Path, workflow: str) -> Path:
    """A `.github` with this workflow."""
    workflows = folder / ".github" / "workflows"
    workflows.mkdir(parents=True)
    (workflows / "a.yml").write_text(workflow)
    return workflows.parent


def test_cfn_lint_has_nothing_against_any_template(tmp_path):
    assert lint(tmp_path) == []


def test_checkov_has_nothing_against_any_template(tmp_path):
    assert checkov(tmp_path) == []


def test_checkov_reads_the_terraform_module_and_has_nothing_against_it():
    assert terraform() == []


def test_a_terraform_file_that_cannot_be_parsed_is_told(tmp_path):
    module = (ROOT / "infra" / "terraform" / "main.tf").read_text("utf-8")
    (tmp_path / "sound.tf").write_text(module, "utf-8")
    (tmp_path / "main.tf").write_text('variable "a" { type = ', "utf-8")
    assert any("cannot be parsed" in each for each in terraform(tmp_path))


def test_zizmor_has_nothing_against_any_workflow():
    assert zizmor() == []


def test_a_workflow_that_zizmor_has_something_against_is_told(tmp_path):
    unpinned = SOUND.replace("{run: make}", "{uses: actions/checkout@v4}")
    found = zizmor(github(tmp_path, unpinned))
    assert any("unpinned-uses" in line for line in found)


def test_actionlint_has_nothing_against_any_workflow():
    assert actionlint() == []


@pytest.mark.parametrize(
    "good, bad, told",
    [
        ("runs-on: ubuntu-24.04", "runs-on: ubuntu-24", 'label "ubuntu-24" is unknown'),
        ("steps:", "timeout-minute: 5\n    steps:", 'key "timeout-minute"'),
        ("make", '"make ${{ matrix.all }}"', 'property "all" is not defined'),
        ("on: push", "on: pushed", 'unknown Webhook event "pushed"'),
    ],
    ids=["runner", "key", "expression", "event"],
)
def test_a_workflow_that_actionlint_has_something_against_is_told(
    tmp_path, good, bad, told
):
    (found,) = actionlint(github(tmp_path, SOUND.replace(good, bad)))
    assert found.startswith("workflows/a.yml:") and told in found


def test_a_sound_workflow_is_sound(tmp_path):
    assert actionlint(github(tmp_path, SOUND)) == []
