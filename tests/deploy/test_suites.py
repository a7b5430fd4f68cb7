"""Tests as checks: counted, and told by name where they fail."""

from __future__ import annotations

import pytest

from tests.deploy.suites import ROOT, SUITES, Suite, run


@pytest.fixture
def project(tmp_path):
    """A project with an environment of ours and no test yet."""
    (tmp_path / ".venv-airflow").symlink_to(ROOT / ".venv-airflow")
    return tmp_path


def suite(path="test_a.py"):
    return Suite("some", ".venv-airflow", (path,))


def test_failures_are_told_by_their_names(project):
    text = "def test_good(): pass\ndef test_bad(): assert 1 == 2, 'no'\n"
    (project / "test_a.py").write_text(text)
    tested = run(suite(), project)
    assert tested.count == 2
    (failure,) = tested.failures
    assert failure.startswith("test_a.test_bad: AssertionError: no")


def test_a_suite_without_tests_has_failed(project):
    (project / "test_a.py").write_text("")
    assert [each[:19] for each in run(suite(), project).failures] == [
        "pytest ended with 5"
    ]
    assert run(suite("gone.py"), project).failures


def test_a_suite_that_is_skipped_has_failed(project):
    text = "import pytest\n@pytest.mark.skip\ndef test_no(): pass\n"
    (project / "test_a.py").write_text(text)
    assert run(suite(), project).failures[0].startswith("nothing ran")


def test_an_environment_that_is_not_there_is_told(project):
    other = Suite("some", ".venv-none", ("test_a.py",))
    assert run(other, project).failures[0].startswith("FileNotFoundError")


def test_every_suite_is_there():
    assert all((ROOT / path).exists() for each in SUITES for path in each.paths)
