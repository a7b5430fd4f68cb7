"""Rules of rows and checks of tables as assertions of OpenLineage.

OpenLineage's client of Airflow 3.0.6 knows the words of an assertion, its column and its
result, that of 3.2.1 also its severity; a newer one also a name, limits and a number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attr
from openlineage.client.facet_v2 import data_quality_assertions_dataset as client

from lake_airflow.reporting.reports import Report
from lake_check.rules.quality import tests_of
from lake_spec.model import Check, OnFail, Rule, Severity
from lake_spec.model.checks.judgement import PASSED, SKIPPED

Assertion = client.Assertion
_FIELDS = frozenset(each.name for each in attr.fields(Assertion))
_SEVERITIES = {Severity.FAIL: "error", Severity.WARN: "warn"}


def assertions_facet(
    found: Sequence[Assertion],
) -> client.DataQualityAssertionsDatasetFacet:
    """Return the facet of a dataset's assertions."""
    return client.DataQualityAssertionsDatasetFacet(list(found))


def rules_kept(
    rules: Sequence[Rule], report: Report, *, is_stored: bool = False
) -> list[Assertion]:
    """Return whether rows kept each rule, as far as the report counted it.

    Where `is_stored`, of the rows that were written: those that a rule quarantines are
    not among them.
    """
    found, counts = [], report.get("rules") or {}
    for rule in rules:
        if rule.broken in counts:
            is_kept_out = is_stored and rule.on_fail is OnFail.QUARANTINE
            success = is_kept_out or not counts[rule.broken]
            is_warning = rule.on_fail is OnFail.WARN
            severity = Severity.WARN if is_warning else Severity.FAIL
            (test,) = tests_of(rule)
            title = f"{test}({rule.column})"
            found.append(_assertion(test, title, success, rule.column, severity))
    return found


def checks_passed(
    checks: Sequence[Check], report: Report, is_shown: Callable[[Check], bool]
) -> list[Assertion]:
    """Return the results of checks that the report has; those skipped are left out.

    Numbers and limits only where `is_shown`.
    """
    results = {
        (each.get("layer"), each.get("check")): each
        for each in report.get("checks") or ()
    }
    found = []
    for check in checks:
        result = results.get((check.layer.value, check.title), {})
        if result.get("result", SKIPPED) == SKIPPED:
            continue
        columns = check.named_columns
        more = {}
        if is_shown(check):
            value = result.get("value")
            more["expected"] = result.get("bounds")
            more["actual"] = None if value is None else str(value)
        column = columns[0] if len(columns) == 1 else None
        success = result["result"] == PASSED
        parts = (check.kind, check.title, success, column, check.severity)
        found.append(_assertion(*parts, **more))
    return found


def _assertion(
    kind: str,
    title: str,
    success: bool,
    column: str | None,
    severity: Severity,
    **more: str | None,
) -> Assertion:
    """Make an assertion; a client without names gets its title as its words."""
    known: dict[str, Any] = {"name": title, "severity": _SEVERITIES[severity], **more}
    given = {name: value for name, value in known.items() if name in _FIELDS}
    words = kind if "name" in given else title
    return Assertion(words, success, column, **given)
