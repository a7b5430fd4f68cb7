"""What may stand in the repository at all: no host names of package registries,
no secrets, no drift between what is asked for and what is locked."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Iterator, List

import pytest

from lake_spec import VERSION

ROOT = Path(__file__).resolve().parents[2]
NOT_OURS = re.compile(
    r"\.git|\.venv.*|\.local|\.pytest_cache|__pycache__|.*-warehouse|metastore_db|target"
)
# Written in parts, so that this file keeps its own rule.
REGISTRIES = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("repo", "maven", "apache", "org"),
        ("repo1", "maven", "org"),
        ("registry", "npmjs", "org"),
        ("proxy", "golang", "org"),
        ("crates", "io"),
        ("deb", "debian", "org"),
    )
]
FORBIDDEN = {
    "registry host": re.compile("|".join(map(re.escape, REGISTRIES))),
    "AWS access key": re.compile(
        r"\b(?:AKIA|ASIA)[0-9A-Z]{9}(?!\w*EXAMPLE)[0-9A-Z]{7}\b"
    ),
    "private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY"),
    "merge conflict": re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE),
}


def files(root: Path) -> Iterator[Path]:
    """Every file of the project, tracked or not yet."""
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not NOT_OURS.fullmatch(name)]
        yield from (Path(folder) / name for name in sorted(names))


def forbidden_words(root: Path) -> List[str]:
    faults = []
    for path in files(root):
        content = path.read_bytes()
        if b"\0" in content:
            continue
        text = content.decode("utf-8", errors="replace")
        for what, pattern in FORBIDDEN.items():
            if found := pattern.search(text):
                line = text.count("\n", 0, found.start()) + 1
                faults.append(f"{path.relative_to(root)}:{line} holds a {what}")
    return faults


def requirement_names(text: str) -> List[str]:
    """Names and exact versions in a requirements file, as `name==version` or `name`."""
    lines = [
        line.split(";")[0].split("[")[0].strip(" \\") for line in text.splitlines()
    ]
    return [line for line in lines if line and line[0] not in "#-"]


def test_no_forbidden_word_is_in_the_tree():
    assert forbidden_words(ROOT) == []


@pytest.mark.parametrize(
    "text, what",
    [
        (f"--index-url https://{REGISTRIES[0]}/simple", "registry host"),
        (f"files.{REGISTRIES[1]}", "registry host"),
        ("key = AKIA" + "Q7" * 8, "AWS access key"),
        ("-----BEGIN RSA" + " PRIVATE KEY-----", "private key"),
        ("a\n" + "<" * 7 + " HEAD", "merge conflict"),
    ],
)
def test_a_forbidden_word_is_found(tmp_path, text, what):
    (tmp_path / "a.txt").write_text(text)
    (found,) = forbidden_words(tmp_path)
    assert found.endswith(f"holds a {what}")


def test_mwaa_is_left_to_its_own_constraints():
    # MWAA looks for the text "-c " or "--constraint" anywhere, even in a comment,
    # and holds the install to its image's versions only if there is none.
    text = (ROOT / "requirements/airflow.txt").read_text()
    assert "-c " not in text and "--constraint" not in text
    assert requirement_names(text) == ["apache-airflow-providers-amazon"]


LOCKS = sorted((ROOT / "requirements").glob("*.lock"))
each_lock = pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.stem)


@each_lock
def test_every_locked_package_has_a_version_and_hashes(lock):
    entries = re.split(r"\n(?=\w)", lock.read_text())[1:]
    assert entries
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []
    assert [entry for entry in entries if not re.match(r"[\w.-]+==", entry)] == []


@each_lock
def test_what_is_asked_for_is_what_is_locked(lock):
    asked = requirement_names(lock.with_suffix(".in").read_text())
    locked = requirement_names(lock.read_text())
    names = {entry.split("==")[0] for entry in locked}
    assert [
        entry for entry in asked if entry not in names and entry not in locked
    ] == []


def test_airflow_is_locked_to_the_versions_of_the_mwaa_images():
    older = ((f"airflow-{version}", version) for version in ("3.0.6", "3.2.1"))
    for lock, version in (("airflow", "3.3.1"), *older):
        held = requirement_names(
            (ROOT / f"requirements/constraints-{version}.txt").read_text()
        )
        versions = dict(entry.lower().split("==") for entry in held)
        for entry in requirement_names(
            (ROOT / f"requirements/{lock}.lock").read_text()
        ):
            name, _, got = entry.partition("==")
            assert versions.get(name, got) == got, f"{lock}.lock: {entry}"


@pytest.mark.parametrize(
    "name",
    [
        "setup.sh",
        "run_tests_locally.sh",
        "tools/find_python.sh",
        "docs/screens.sh",
        "requirements/actionlint/build.sh",
        ".ci/run",
        ".githooks/pre-push",
    ],
)
def test_a_script_can_be_run_and_is_sound_bash(name):
    path = ROOT / name
    assert path.stat().st_mode & stat.S_IXUSR
    assert path.read_text().startswith("#!/usr/bin/env bash\n")
    assert "set -euo pipefail" in path.read_text()
    subprocess.run(["bash", "-n", str(path)], check=True)


def test_hook_and_ci_run_the_one_script():
    for name in (".githooks/pre-push", ".ci/run"):
        assert "./run_tests_locally.sh" in (ROOT / name).read_text()


def test_the_changelog_begins_with_the_version_of_the_code():
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert re.fullmatch(rf"{VERSION} \((unreleased|\d{{4}}-\d\d-\d\d)\)", headings[0])


def faults_of_changelog(text: str) -> List[str]:
    """What is wrong with its versions, the order of their sections, and their lines."""
    found = []
    for version in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, body = version.split("\n", 1)
        if not re.fullmatch(r"\d+\.\d+\.\d+ \((unreleased|\d{4}-\d\d-\d\d)\)", title):
            found.append(f"{title}: write '1.2.3 (2026-12-31)'")
        if "### Breaking changes" in re.findall(r"^### .*$", body, re.MULTILINE)[1:]:
            found.append(f"{title}: put breaking changes first")
        lines = [line for line in body.splitlines() if line]
        found += [line for line in lines if not line.startswith(("- ", "### "))]
    return found


def test_the_changelog_has_dates_and_breaking_changes_first():
    assert faults_of_changelog((ROOT / "CHANGELOG.md").read_text()) == []


@pytest.mark.parametrize(
    "text, fault",
    [
        ("## 1.0\n### New\n- a\n", "1.0: write"),
        (
            "## 1.0.0 (2026-12-01)\n### New\n- a\n\n### Breaking changes\n- b\n",
            "1.0.0 (2026-12-01): put breaking",
        ),
        ("## 1.0.0 (unreleased)\n### New\n- a\nrest\n", "rest"),
    ],
)
def test_a_fault_of_the_changelog_is_found(text, fault):
    (found,) = faults_of_changelog(text)
    assert found.startswith(fault)


def test_decision_records_are_numbered_once_and_short():
    records = sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))
    numbers = [path.name[:3] for path in records]
    assert len(numbers) == len(set(numbers))
    too_long = [
        path.name for path in records if len(path.read_text().splitlines()) > 40
    ]
    assert too_long == []
    for path in records[1:]:
        assert path.read_text().startswith(f"# {path.name[:3]}: "), path.name


def test_pytest_passes_over_no_folder_that_has_tests():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    passed_over = settings["tool"]["pytest"]["ini_options"]["norecursedirs"]
    folders = {
        part
        for each in (ROOT / "tests").rglob("test_*.py")
        for part in each.parent.parts
    }
    assert [f for f in folders if any(fnmatch(f, each) for each in passed_over)] == []
