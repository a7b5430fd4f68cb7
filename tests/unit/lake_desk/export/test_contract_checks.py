"""Checks of whole tables are checks of the contract, as far as the standard has them."""

import pytest

from lake_desk.export.contract_checks import checks_of
from lake_spec.model import (
    AcceptedRange,
    Aggregate,
    CheckedLayer,
    Drift,
    Expression,
    Freshness,
    NullShare,
    References,
    RowCount,
    Severity,
    Unique,
)


@pytest.mark.parametrize(
    ("check", "wanted"),
    [
        (Unique(("a", "b")), {"metric": "duplicateValues", "mustBe": 0}),
        (NullShare("a", 0.25), {"unit": "percent", "mustBeLessOrEqualTo": 25}),
        (NullShare("a", 0.07), {"unit": "percent", "mustBeLessOrEqualTo": 7}),
        (RowCount(at_least=1), {"metric": "rowCount", "mustBeGreaterOrEqualTo": 1}),
        (RowCount(at_least=1, at_most=9), {"mustBeBetween": [1, 9]}),
        (RowCount(at_least=5, at_most=5), {"mustBe": 5}),
        (RowCount(change=0.2), {"type": "text"}),
        (
            AcceptedRange("a b", Aggregate.AVG, at_most=3.5),
            {"query": "SELECT AVG(`a b`) FROM ${object}", "mustBeLessOrEqualTo": 3.5},
        ),
        (
            AcceptedRange("a", Aggregate.COUNT_DISTINCT, at_least=2),
            {"query": "SELECT COUNT(DISTINCT `a`) FROM ${object}"},
        ),
        (
            Expression("a >= b"),
            {"query": "SELECT COUNT(*) FROM ${object} WHERE NOT (a >= b)", "mustBe": 0},
        ),
        (References("a", "other.id"), {"type": "text", "dimension": "consistency"}),
        (Drift("a", Aggregate.SUM, share=0.1), {"type": "text", "severity": "warning"}),
    ],
    ids=lambda each: getattr(each, "title", ""),
)
def test_a_check_is_a_metric_a_query_or_text(check, wanted):
    (found,) = checks_of((check,), CheckedLayer.CURRENT)
    assert {**found, **wanted} == found and found["name"] == check.title


def test_checks_are_those_of_the_layer_and_have_its_severity():
    checks = (
        Unique(("a",), layer=CheckedLayer.HISTORY, severity=Severity.WARN),
        Unique(("a",), layer=CheckedLayer.CHANGES),
        Freshness("at", 26),
    )
    assert checks_of(checks, CheckedLayer.CURRENT) == []
    (found,) = checks_of(checks, CheckedLayer.HISTORY)
    assert found["severity"] == "warning"
