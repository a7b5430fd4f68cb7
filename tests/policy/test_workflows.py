"""What may stand in a GitHub workflow: pinned actions, few rights, no keys."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Dict, Iterator, List

import pytest
import yaml
from lake_infra.template import load_template
from lake_release import mwaa

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
OURS = re.compile(r"uses: \./\.github/workflows/deploy\.yml( #|$)")
PINNED = re.compile(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")
PYTHON = re.compile(r"\(Python (3\.\d+)\)")
MAY_WRITE = {"deploy.yml": {"id-token"}, "sync_dags.yml": {"id-token"}}


def read(path: Path) -> Dict[str, Any]:
    content = yaml.safe_load(path.read_text())
    content["on"] = content.pop(True, None)  # YAML 1.1 reads the key `on` as true
    return content


def steps(workflow: Dict[str, Any]) -> Iterator[Dict[str, Any]]:
    for job in workflow["jobs"].values():
        yield from job.get("steps", ())


def unpinned_actions(text: str) -> List[str]:
    lines = [line.strip().removeprefix("- ") for line in text.splitlines()]
    used = [line for line in lines if line.startswith("uses:")]
    return [each for each in used if not (PINNED.match(each) or OURS.match(each))]


def granted(workflow: Dict[str, Any]) -> Dict[str, str]:
    """Every right that the workflow or one of its jobs has beyond reading."""
    rights: Dict[str, str] = {}
    for holder in [workflow, *workflow["jobs"].values()]:
        asked = holder.get("permissions", "all of them")
        if not isinstance(asked, dict):
            return {"everything": str(asked)}
        rights.update({name: how for name, how in asked.items() if how != "read"})
    return rights


def script_injections(workflow: Dict[str, Any]) -> List[str]:
    """Expressions that GitHub would paste into a shell script."""
    return [step["run"] for step in steps(workflow) if "${{" in step.get("run", "")]


all_workflows = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)


def test_these_are_the_workflows():
    assert [path.name for path in WORKFLOWS] == [
        "deploy.yml",
        "nightly.yml",
        "sync_dags.yml",
        "test_dags.yml",
    ]


@all_workflows
def test_actions_are_pinned_by_commit_with_their_version_beside_it(path):
    assert unpinned_actions(path.read_text()) == []


@all_workflows
def test_a_workflow_has_no_right_that_it_does_not_need(path):
    assert set(granted(read(path))) == MAY_WRITE.get(path.name, set())


@all_workflows
def test_no_expression_is_pasted_into_a_script(path):
    assert script_injections(read(path)) == []


def test_each_night_has_seeds_of_its_own_and_tells_them():
    """Seeds that count the nights would play all but one schedule again."""
    workflow = read(ROOT / ".github/workflows/nightly.yml")
    (script,) = [s["run"] for s in steps(workflow) if s.get("name") == "Try"]
    assert "seed=$(date +%s)" in script and "with seed $seed" in script
    assert "--seed $seed" in script


@all_workflows
def test_the_checkout_leaves_no_token_behind(path):
    checkouts = [
        s for s in steps(read(path)) if "actions/checkout" in str(s.get("uses"))
    ]
    assert checkouts or path.name == "sync_dags.yml"
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


@all_workflows
def test_no_access_key_and_no_secret_is_used(path):
    assert not re.search(r"secrets\.|aws-(secret-)?access-key", path.read_text())


@all_workflows
def test_every_job_has_a_time_limit(path):
    jobs = read(path)["jobs"].values()
    assert all("timeout-minutes" in job for job in jobs if "uses" not in job)


def test_the_tests_are_those_of_a_desk():
    workflow = read(ROOT / ".github/workflows/test_dags.yml")
    runs = [step["run"] for step in steps(workflow) if "run" in step]
    assert runs == ['./run_tests_locally.sh "$SPEED"']
    assert workflow["on"]["pull_request"]["branches"] == ["main"]
    assert {"dags/**", "spark_jobs/**"} <= set(workflow["on"]["push"]["paths"])


def test_all_is_tested_on_the_pythons_of_mwaa_and_emr():
    (job,) = read(ROOT / ".github/workflows/test_dags.yml")["jobs"].values()
    matrix = job["strategy"]["matrix"]["include"]
    (full,) = [each for each in matrix if each["speed"] == "full"]
    images = (ROOT / "requirements").glob("constraints-*.txt")
    assert {full["python"]} == {PYTHON.search(each.read_text())[1] for each in images}
    install = next(s for s in job["steps"] if "setup-python" in str(s.get("uses")))
    assert {"3.9", "3.11"} < set(install["with"]["python-version"].split())
    assert job["steps"][-1]["env"]["LAKE_SPARK_PYTHON"] == "python3.11"


def test_what_is_deployed_comes_from_no_cache():
    text = (ROOT / ".github/workflows/deploy.yml").read_text()
    assert "cache" not in text


def test_each_night_tries_what_takes_too_long_for_a_push():
    (job,) = read(ROOT / ".github/workflows/nightly.yml")["jobs"].values()
    tried = [each["what"] for each in job["strategy"]["matrix"]["include"]]
    script = (ROOT / "run_tests_locally.sh").read_text()
    (choices,) = re.findall(r"^    ([a-z0-9 |]+)\) SPEED=", script, re.MULTILINE)[1:]
    known = [*tried, "deploy", "docs", "acceptance"]
    assert sorted(known) == sorted(choices.split(" | "))


def test_only_a_tested_push_to_main_is_deployed_and_first_to_development():
    workflow = read(ROOT / ".github/workflows/sync_dags.yml")
    tests = read(ROOT / ".github/workflows/test_dags.yml")
    assert workflow["on"]["workflow_run"]["workflows"] == [tests["name"]]
    first, second = workflow["jobs"].values()
    for part in ("conclusion == 'success'", "event == 'push'", "head_branch == 'main'"):
        assert f"workflow_run.{part}" in first["if"]
    assert second["needs"] == "development"
    for job in (first, second):
        assert job["uses"] == "./.github/workflows/deploy.yml"
        commit = "${{ github.event.workflow_run.head_sha }}"
        assert job["with"]["commit"] == commit


def test_a_deploy_is_the_program_of_a_desk_and_is_not_cut_off():
    workflow = read(ROOT / ".github/workflows/deploy.yml")
    (job,) = workflow["jobs"].values()
    runs = [step["run"] for step in job["steps"] if "run" in step]
    program = '.venv-airflow/bin/python infra/release.py {} "$LAKE_ENVIRONMENT"'
    assert program.format("plan") in runs[-2]
    assert program.format("deploy") in runs[-1]
    assert job["concurrency"]["cancel-in-progress"] is False
    checkout = next(step for step in job["steps"] if "checkout" in step["uses"])
    assert checkout["with"]["ref"] == "${{ inputs.commit }}"
    assert (
        checkout["with"]["fetch-depth"] == 0
    )  # which commit is older, all of them tell


NODE_24 = {
    "actions/checkout": 5,
    "actions/setup-python": 6,
    "actions/setup-java": 5,
    "actions/cache": 5,
    "actions/upload-artifact": 6,
    "aws-actions/configure-aws-credentials": 6,
}
"""The first major version of each action that runs on Node 24."""


def on_old_node(text: str) -> List[str]:
    """Actions below the major version that runs on Node 24, or that are not known."""
    used = re.findall(r"uses: ([\w-]+/[\w-]+)@\w+ # v(\d+)", text)
    return [name for name, major in used if int(major) < NODE_24.get(name, 10**6)]


@all_workflows
def test_actions_run_on_node_24(path):
    assert on_old_node(path.read_text()) == []


@pytest.mark.parametrize(
    "used", ["actions/cache@1a # v4.3.0", "some/other@1a # v9.0.0"]
)
def test_an_action_on_an_older_node_is_found(used):
    assert on_old_node(f"- uses: {used}") == [used.split("@")[0]]


def test_a_deploy_runs_where_the_web_server_is_reached_and_must_be_proven():
    deploy = read(ROOT / ".github/workflows/deploy.yml")
    inputs = deploy["on"]["workflow_call"]["inputs"]
    assert inputs["runner"]["default"] == "ubuntu-24.04"
    assert inputs["require-proof"]["default"] is True
    (job,) = deploy["jobs"].values()
    # CodeBuild finds its job by a label of its own for every run and attempt.
    assert "'{0}-{1}-{2}', inputs.runner, github.run_id, github.run_attempt" in (
        job["runs-on"]
    )
    assert job["runs-on"].endswith("|| inputs.runner }}")
    assert job["steps"][-1]["env"]["PROOF"] == (
        "${{ inputs.require-proof && '--require-proof' || '' }}"
    )
    sync = read(ROOT / ".github/workflows/sync_dags.yml")
    for name, called in sync["jobs"].items():
        assert f"vars.RUNNER_{name.upper()} ||" in called["with"]["runner"]
        assert called["with"]["require-proof"] == "${{ vars.REQUIRE_PROOF != 'false' }}"


def test_a_deploy_waits_no_longer_than_its_job_and_its_credentials_last():
    (job,) = read(ROOT / ".github/workflows/deploy.yml")["jobs"].values()
    (seconds,) = [
        step["with"]["role-duration-seconds"]
        for step in job["steps"]
        if "configure-aws-credentials" in str(step.get("uses"))
    ]
    role = load_template("deploy")["Resources"]["DeployRole"]["Properties"]
    assert mwaa.MINUTES + 15 < job["timeout-minutes"]  # what it does before it waits
    assert job["timeout-minutes"] * 60 <= seconds <= role["MaxSessionDuration"]
    proof_of_packages = 2 * mwaa.UPDATE_LIMIT + mwaa.SMOKE_LIMIT
    assert proof_of_packages <= mwaa.MINUTES * 60


@pytest.mark.parametrize(
    "line",
    [
        "- uses: actions/checkout@v4",
        "uses: actions/checkout@main # v4.2.2",
        f"uses: actions/checkout@{'a' * 39} # v4.2.2",
        f"uses: actions/checkout@{'a' * 40}",
    ],
    ids=["tag", "branch", "short", "no-version"],
)
def test_an_action_that_is_not_pinned_is_found(line):
    assert unpinned_actions(line)


@pytest.mark.parametrize(
    "workflow",
    [
        {"jobs": {"a": {"permissions": {"contents": "read"}}}},
        {"permissions": "write-all", "jobs": {}},
        {"permissions": {}, "jobs": {"a": {"permissions": {"contents": "write"}}}},
        {"permissions": {}, "jobs": {"a": {}}},
    ],
    ids=["default", "write-all", "job-writes", "job-default"],
)
def test_a_right_too_many_is_found(workflow):
    assert granted(workflow)


def test_an_expression_in_a_script_is_found():
    run = "echo ${{ github.head_ref }}"
    assert script_injections({"jobs": {"a": {"steps": [{"run": run}]}}}) == [run]
