"""Which packages mypy checks, and which lines it is told to pass over."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Dict, Iterator, Set, Tuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("dags", "emulator", "infra", "local", "plugins", "spark_jobs", "tools")

PROVIDER = "Amazon's provider says another type than its operators keep"
BASE = "a base class is chosen when it is imported"
AIRFLOW = "Airflow has no types there, or other ones than it takes"

PASSED_OVER: Dict[str, Tuple[int, str]] = {
    "dags/lake_airflow/compat.py": (1, "one name, from where a release has it"),
    "dags/lake_airflow/dag_builder.py": (2, AIRFLOW),
    "dags/lake_airflow/emr/hook.py": (1, PROVIDER),
    "dags/lake_airflow/operators/create_cluster.py": (1, PROVIDER),
    "dags/lake_airflow/operators/submit_stage.py": (3, PROVIDER),
    "dags/lake_airflow/operators/terminate_cluster.py": (3, PROVIDER),
    "dags/lake_airflow/reporting/notifier.py": (1, PROVIDER),
    "dags/lake_check/rules/rule_set.py": (1, "a decorator keeps its function's type"),
    "dags/lake_spec/text/patterns.py": (1, "Python's parser of patterns has no types"),
    "infra/lake_infra/template.py": (1, BASE),
    "emulator/lake_emulator/http_server.py": (1, BASE),
}
"""How many such lines a file has, and why: there may be fewer, not more."""

_PASSED_OVER = re.compile(r"#\s*type:\s*ignore(?P<code>\[[a-z, -]+\])?")


def ignores(text: str) -> Iterator[Tuple[int, bool]]:
    """The lines that are passed over, and whether each says for which error."""
    for number, line in enumerate(text.split("\n"), 1):
        found = _PASSED_OVER.search(line)
        if found:
            yield number, found["code"] is not None


def settings() -> str:
    """All that pyproject.toml says to mypy, which is last there."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return text.partition("[tool.mypy]\n")[2]


_LOOSER = re.compile(
    r"ignore_errors|disable_error_code|exclude|follow_imports"
    r"|(?:allow|no)_\w+ = true|(?:dis|warn|strict)\w* = false"
)


def is_looser(text: str) -> bool:
    """Whether something is checked less than strictly, in whatever section."""
    return "strict = true\n" not in text or _LOOSER.search(text) is not None


def checked(script: str) -> Set[str]:
    """The packages that mypy is given: by its settings, and those that a command names."""
    listed = settings().partition("packages = [")[2].partition("]")[0]
    named = re.findall(r'"-p", "(\w+)"', script)
    return {*re.findall(r'"(\w+)"', listed), *named}


def test_each_package_is_checked():
    script = (ROOT / "tools/checks/speeds.py").read_text(encoding="utf-8")
    found = {p.name for each in FOLDERS for p in (ROOT / each).glob("lake_*/")}
    found.add("tools")
    assert checked(script) == found
    assert checked("") == found - {"lake_spark"}


def test_no_package_is_checked_less_than_strictly():
    assert not is_looser(settings())


@pytest.mark.parametrize(
    "line",
    ["ignore_errors = true", "disallow_any_generics = false", 'exclude = "local"'],
)
def test_a_looser_setting_of_a_section_is_seen(line):
    assert is_looser(f'{settings()}\n[[tool.mypy.overrides]]\nmodule = "a"\n{line}\n')


def test_lines_that_are_passed_over_have_a_reason_and_a_code():
    found = {
        path.relative_to(ROOT).as_posix(): list(
            ignores(path.read_text(encoding="utf-8"))
        )
        for each in FOLDERS
        for path in sorted((ROOT / each).rglob("*.py"))
    }
    counts = {name: len(each) for name, each in found.items() if each}
    assert counts == {name: count for name, (count, _) in PASSED_OVER.items()}
    assert all(has_code for each in found.values() for _, has_code in each)


@pytest.mark.parametrize(
    "line, has_code",
    [("a = 1  # type: ignore[misc]", True), ("import b  #type:ignore", False)],
)
def test_a_line_that_is_passed_over_is_seen(line, has_code):
    assert list(ignores(f"x = 1\n{line}\n")) == [(2, has_code)]
