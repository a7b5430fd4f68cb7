"""What may stand in a GitHub workflow: pinned actions, few rights, no keys."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional

import pytest
import yaml
from lake_infra.template import load_template
from lake_release import mwaa

from tools.checks.choices import CHOICES
from tools.checks.speeds import SHARDS

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
OURS = re.compile(r"uses: \./\.github/workflows/(deploy|run_tests)\.yml( #|$)")
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


GUARD = "Refuse what is not a commit of main"
"""The step that asks git whether the commit to deploy is reviewed."""

STARTS = {
    "deploy.yml": {"workflow_call"},
    "nightly.yml": {"schedule", "workflow_dispatch"},
    "run_tests.yml": {"workflow_call"},
    "sync_dags.yml": {"workflow_run"},
    "test_dags.yml": {"push", "pull_request"},
    "test_docs.yml": {"push"},
}
"""What starts each workflow. Others, as `pull_request_target` and `issue_comment`, work in
the name of the repository on what strangers wrote."""


def unreviewed(workflow: Dict[str, Any]) -> List[str]:
    """Ways by which what nobody reviewed gets rights, or passes as the branch main."""
    found = []
    push = workflow["on"].get("push")
    if "push" in workflow["on"] and not (push or {}).get("branches"):
        found.append("push: tags start it, whose names are a branch's `head_branch`")
    if "tags" in (push or {}):
        found.append("push: tags start it")
    for name, job in workflow["jobs"].items():
        uses = [str(step.get("uses", "")) for step in job.get("steps", ())]
        if any("download-artifact" in each for each in uses):
            found.append(f"{name}: takes what another run has left")
        rights = {**workflow.get("permissions", {}), **job.get("permissions", {})}
        if "write" in rights.values() and "steps" in job:
            found += _unguarded(name, job["steps"])
    return found


def _unguarded(name: str, steps: List[Dict[str, Any]]) -> Iterator[str]:
    """What a job with rights does beyond a checkout before it knows its commit."""
    names = [step.get("name") for step in steps]
    first = steps[: names.index(GUARD)] if GUARD in names else steps
    if any("actions/checkout@" not in str(step.get("uses")) for step in first):
        yield f"{name}: runs code of a commit before `{GUARD}`"
    if any("cache" in str(step.get("uses")) for step in steps):
        yield f"{name}: takes what runs of other commits have left"
    guard = next((step for step in steps if step.get("name") == GUARD), {})
    if "if" in guard or guard.get("continue-on-error"):
        yield f"{name}: `{GUARD}` can be passed by"


all_workflows = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)


def test_these_are_the_workflows():
    assert [path.name for path in WORKFLOWS] == [
        "deploy.yml",
        "nightly.yml",
        "run_tests.yml",
        "sync_dags.yml",
        "test_dags.yml",
        "test_docs.yml",
    ]


@all_workflows
def test_actions_are_pinned_by_commit_with_their_version_beside_it(path):
    assert unpinned_actions(path.read_text()) == []


@all_workflows
def test_a_workflow_has_no_right_that_it_does_not_need(path):
    assert set(granted(read(path))) == MAY_WRITE.get(path.name, set())


@all_workflows
def test_nothing_that_nobody_reviewed_gets_a_right(path):
    workflow = read(path)
    assert set(workflow["on"]) == STARTS[path.name]
    assert unreviewed(workflow) == []


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
    workflow = read(path)
    checkouts = [s for s in steps(workflow) if "actions/checkout" in str(s.get("uses"))]
    calls_another = any("uses" in job for job in workflow["jobs"].values())
    assert bool(checkouts) != calls_another
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


@all_workflows
def test_no_access_key_and_no_secret_is_used(path):
    assert not re.search(r"secrets\.|aws-(secret-)?access-key", path.read_text())


@all_workflows
def test_every_job_has_a_time_limit(path):
    jobs = read(path)["jobs"].values()
    assert all("timeout-minutes" in job for job in jobs if "uses" not in job)


TEST_DAGS = ROOT / ".github/workflows/test_dags.yml"
TEST_DOCS = ROOT / ".github/workflows/test_docs.yml"
RUN_TESTS = ROOT / ".github/workflows/run_tests.yml"


def test_the_tests_are_those_of_a_desk():
    runs = [step["run"] for step in steps(read(RUN_TESTS)) if "run" in step]
    assert runs == ['./run_tests_locally.sh "$TESTS" ${SHARD:+"$SHARD"}']
    assert read(TEST_DAGS)["on"]["pull_request"]["branches"] == ["main"]


def faults_of_shards(workflow: Dict[str, Any]) -> List[str]:
    """What keeps the jobs of a workflow from being the full tests together."""
    full = workflow["jobs"]["full"]
    named = full["strategy"]["matrix"].get("shard", [])
    found = [f"{each}: no job" for each in SHARDS if each not in named]
    found += [f"{each}: no such shard" for each in named if each not in SHARDS]
    found += [f"{each}: twice" for each in set(named) if named.count(each) > 1]
    asked = {key: full["with"].get(key) for key in ("tests", "shard")}
    if asked != {"tests": "shard", "shard": "${{ matrix.shard }}"}:
        found.append(f"{asked}: does not run its shard")
    if full["strategy"]["matrix"].keys() - {"shard"} or "if" in full:
        found.append("full: some shards do not run, or run otherwise")
    return found


def test_the_shards_are_those_that_are_declared():
    assert faults_of_shards(read(TEST_DAGS)) == []


@pytest.mark.parametrize(
    "shards, fault",
    [
        ([*SHARDS][1:], "fast: no job"),
        ([*SHARDS, "spark-99"], "spark-99: no such shard"),
        ([*SHARDS, "servers"], "servers: twice"),
    ],
    ids=["missing", "unknown", "twice"],
)
def test_another_list_of_shards_is_found(shards, fault):
    workflow = read(TEST_DAGS)
    workflow["jobs"]["full"]["strategy"]["matrix"]["shard"] = shards
    assert faults_of_shards(workflow) == [fault]


@pytest.mark.parametrize("where", ["with", "exclude", "if"])
def test_shards_that_do_not_run_are_found(where):
    workflow = read(TEST_DAGS)
    full = workflow["jobs"]["full"]
    if where == "with":
        full["with"]["shard"] = "fast"
    elif where == "if":
        full["if"] = "false"
    else:
        full["strategy"]["matrix"]["exclude"] = [{"shard": "servers"}]
    assert len(faults_of_shards(workflow)) == 1


def test_rules_of_branches_need_one_name():
    passed = read(TEST_DAGS)["jobs"]["passed"]
    assert passed["needs"] == ["full", "desk"]
    assert passed["if"] == "${{ always() }}"  # else it is skipped, which passes


@pytest.mark.parametrize(
    "results, code",
    [("success success", 0), ("failure success", 1), ("success cancelled", 1)]
    + [("success skipped", 1), ("", 1)],
)
def test_that_name_is_green_only_where_all_jobs_are(results, code):
    (step,) = read(TEST_DAGS)["jobs"]["passed"]["steps"]
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        env={"RESULTS": results, "PATH": os.environ["PATH"]},
        capture_output=True,
    )
    assert done.returncode == code


def test_a_push_that_changes_docs_alone_tests_docs_and_what_compares_pages_with_code():
    """Each push starts one of both workflows at least: the paths of one are left out by
    the other, and by nothing else."""
    docs, dags = read(TEST_DOCS), read(TEST_DAGS)
    paths = docs["on"]["push"]["paths"]
    assert paths == ["docs/**", "*.md", "mkdocs.yml"]
    played = ["README.md", "docs/tutorial.md", "docs/sources/types.md"]
    without = [f"!{each}" for each in paths]
    assert dags["on"]["push"]["paths"] == ["**", *without, *played]
    (job,) = docs["jobs"].values()
    assert job["strategy"]["matrix"] == {"tests": ["docs", "fast"]}
    assert job["with"]["tests"] == "${{ matrix.tests }}"


def test_all_is_tested_on_the_pythons_of_mwaa_and_emr():
    workflow = read(TEST_DAGS)
    full, desk = workflow["jobs"]["full"]["with"], workflow["jobs"]["desk"]["with"]
    images = (ROOT / "requirements").glob("constraints-*.txt")
    assert {full["python"]} == {PYTHON.search(each.read_text())[1] for each in images}
    assert desk == {"tests": "fast", "python": "3.11"}
    (job,) = read(RUN_TESTS)["jobs"].values()
    assert job["timeout-minutes"] == 30
    install = next(s for s in job["steps"] if "setup-python" in str(s.get("uses")))
    assert {"3.9", "3.11"} < set(install["with"]["python-version"].split())
    assert job["steps"][-1]["env"]["LAKE_SPARK_PYTHON"] == "python3.11"


def test_what_is_deployed_comes_from_no_cache():
    text = (ROOT / ".github/workflows/deploy.yml").read_text()
    assert "cache" not in text


def test_each_night_tries_what_takes_too_long_for_a_push():
    (job,) = read(ROOT / ".github/workflows/nightly.yml")["jobs"].values()
    tried = [each["what"] for each in job["strategy"]["matrix"]["include"]]
    by_day = ["fast", "full", "shard", "deploy", "docs", "acceptance"]
    by_day.append("hostile")  # `nightly` plays all of it
    assert sorted([*tried, *by_day]) == sorted(each.name for each in CHOICES)


def test_only_a_tested_push_to_main_is_deployed_and_first_to_development():
    workflow = read(ROOT / ".github/workflows/sync_dags.yml")
    tests = read(ROOT / ".github/workflows/test_dags.yml")
    assert workflow["on"]["workflow_run"]["workflows"] == [tests["name"]]
    first, second, _ = workflow["jobs"].values()
    for part in ("conclusion == 'success'", "event == 'push'", "head_branch == 'main'"):
        assert f"workflow_run.{part}" in first["if"]
    assert second["needs"] == "development"
    for job in (first, second):
        assert job["uses"] == "./.github/workflows/deploy.yml"
        commit = "${{ github.event.workflow_run.head_sha }}"
        assert job["with"]["commit"] == commit


def test_a_deploy_that_another_one_took_the_place_of_is_red_and_names_its_commit(
    tmp_path,
):
    """GitHub cancels it while the other one waits for approval, and tells nobody."""
    job = read(ROOT / ".github/workflows/sync_dags.yml")["jobs"]["overtaken"]
    assert job["needs"] == ["development", "production"]
    assert job["if"] == "${{ always() && contains(needs.*.result, 'cancelled') }}"
    (step,) = job["steps"]
    summary = tmp_path / "summary"
    given = {"COMMIT": "1f2e", "DEVELOPMENT": "success", "PRODUCTION": "cancelled"}
    assert set(job["env"]) == set(given)
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        env={**given, "PATH": os.environ["PATH"], "GITHUB_STEP_SUMMARY": str(summary)},
        capture_output=True,
        text=True,
    )
    told = "1f2e is not deployed (development: success, production: cancelled). Its "
    assert done.returncode == 1
    assert done.stdout.startswith(f"::error::{told}")
    assert summary.read_text().startswith(told)


class Origin:
    """A repository with a branch main of two commits, and what a deploy checks out."""

    def __init__(self, folder: Path) -> None:
        self.at, self.checkout = folder / "origin", folder / "checkout"
        self.at.mkdir()
        self.git("init", "--quiet", "--initial-branch", "main")
        self.first, self.second = self.commit("one"), self.commit("two")

    def git(self, *asked: str, at: Optional[Path] = None) -> str:
        who = ("-c", "user.name=a test", "-c", "user.email=a@test.example")
        kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        argv = ["git", "-C", str(at or self.at), *who, *asked]
        env = {**kept, "GIT_CONFIG_GLOBAL": os.devnull}
        done = subprocess.run(argv, env=env, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, words: str) -> str:
        self.git("commit", "--quiet", "--allow-empty", "--message", words)
        return self.git("rev-parse", "HEAD")

    def beside(self) -> str:
        """A commit of a branch that nobody reviewed."""
        self.git("checkout", "--quiet", "-b", "other", self.first)
        return self.commit("three")

    def refusal(self, commit: str, name: str = "") -> str:
        """What the step says of a commit, as actions/checkout fetches it; "" if it
        passes."""
        argv = ["git", "init", "--quiet", "--initial-branch", "x", str(self.checkout)]
        subprocess.run(argv, check=True)
        refs = ("+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")
        self.git("fetch", "--quiet", str(self.at), *refs, at=self.checkout)
        self.git("checkout", "--quiet", "--detach", commit, at=self.checkout)
        (job,) = read(ROOT / ".github/workflows/deploy.yml")["jobs"].values()
        (script,) = [s["run"] for s in job["steps"] if s.get("name") == GUARD]
        argv = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        env = {"PATH": os.environ["PATH"], "COMMIT": name or commit}
        done = subprocess.run(
            argv, cwd=self.checkout, env=env, capture_output=True, text=True
        )
        assert (done.returncode == 0) == (done.stdout == "")
        return done.stdout.strip()


@pytest.fixture
def origin(tmp_path):
    return Origin(tmp_path)


def test_every_commit_of_main_passes(origin):
    assert origin.refusal(origin.first) == ""
    assert origin.refusal(origin.second) == ""


@pytest.mark.parametrize("tag", ["v1", "origin/main"])
def test_a_commit_that_is_not_of_main_is_refused_whatever_a_tag_calls_it(origin, tag):
    beside = origin.beside()
    origin.git("tag", tag, beside)
    assert origin.refusal(beside) == (
        f"::error::{beside} is not deployed: it is not in the history of main. Merge it;"
        " the merge is deployed."
    )


def test_while_a_tag_is_named_main_nothing_is_deployed(origin):
    for commit in (origin.second, origin.beside()):
        origin.git("tag", "--force", "main", commit)
        assert origin.refusal(commit) == (
            f"::error::{commit} is not deployed: there is a tag named main, whose runs "
            "cannot be told from those of the branch. Delete the tag, and protect tags "
            "(docs/deploy.md)."
        )


@pytest.mark.parametrize("name", ["main", "HEAD", "0" * 40])
def test_what_is_deployed_is_named_by_its_whole_id(origin, name):
    assert origin.refusal(origin.second, name) == (
        f"::error::{name} is not deployed: the checkout is of another commit. Give the "
        "whole id of a commit of main."
    )


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
    for name in ("development", "production"):
        called = sync["jobs"][name]
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


CHECKOUT, GUARDED = {"uses": "actions/checkout@1a"}, {"name": GUARD, "run": "git"}
SETUP, CACHE = {"run": "./setup.sh"}, {"uses": "actions/cache@1a"}
TAKEN = {"uses": "actions/download-artifact@1a"}


def job(*steps: Dict[str, Any], right: str = "write") -> Dict[str, Any]:
    """A workflow of one job."""
    rights = {"id-token": right}
    return {"on": {}, "jobs": {"a": {"permissions": rights, "steps": list(steps)}}}


@pytest.mark.parametrize(
    "workflow",
    [
        {"on": {"push": None}, "jobs": {}},
        {"on": {"push": {"paths": ["dags/**"]}}, "jobs": {}},
        {"on": {"push": {"branches": ["**"], "tags": ["v*"]}}, "jobs": {}},
        job(CHECKOUT, SETUP),
        job(CHECKOUT, SETUP, GUARDED),
        job(CHECKOUT, {**GUARDED, "if": "false"}),
        job(CHECKOUT, {**GUARDED, "continue-on-error": True}),
        job(CHECKOUT, GUARDED, CACHE),
        job(TAKEN, right="read"),
    ],
    ids=["push", "paths", "tags", "none", "late", "if", "goes-on", "cache", "artifact"],
)
def test_a_way_for_what_nobody_reviewed_is_found(workflow):
    assert len(unreviewed(workflow)) == 1


def test_a_job_that_asks_first_is_none():
    assert unreviewed(job(CHECKOUT, GUARDED, SETUP)) == []


def test_an_expression_in_a_script_is_found():
    run = "echo ${{ github.head_ref }}"
    assert script_injections({"jobs": {"a": {"steps": [{"run": run}]}}}) == [run]
