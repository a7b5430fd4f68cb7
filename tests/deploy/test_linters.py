"""cfn-lint and checkov on every template: seconds each, so not among the fast tests."""

from __future__ import annotations

from tests.deploy.checks import checkov, lint


def test_cfn_lint_has_nothing_against_any_template(tmp_path):
    assert lint(tmp_path) == []


def test_checkov_has_nothing_against_any_template(tmp_path):
    assert checkov(tmp_path) == []
