"""cfn-lint, checkov and zizmor: seconds each, so not among the fast tests."""

from __future__ import annotations

from tests.deploy.checks import checkov, lint, zizmor


def test_cfn_lint_has_nothing_against_any_template(tmp_path):
    assert lint(tmp_path) == []


def test_checkov_has_nothing_against_any_template(tmp_path):
    assert checkov(tmp_path) == []


def test_zizmor_has_nothing_against_any_workflow():
    assert zizmor() == []


def test_a_workflow_that_zizmor_has_something_against_is_told(tmp_path):
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    (folder / "a.yml").write_text(
        "on: push\njobs:\n  a:\n    runs-on: ubuntu-24.04\n"
        "    steps: [{uses: actions/checkout@v4}]\n"
    )
    assert any("unpinned-uses" in line for line in zizmor(folder.parent))
