"""Checks of whole tables as quality checks of the Open Data Contract Standard."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

from lake_spec.model import (
    AcceptedRange,
    Aggregate,
    Check,
    CheckedLayer,
    Expression,
    Freshness,
    NullShare,
    References,
    RowCount,
    Severity,
    Unique,
)
from lake_spec.text.sql_text import sql_identifier

Json = Dict[str, Any]
_OUTCOME = {
    Severity.FAIL: "A run that would break it writes nothing.",
    Severity.WARN: "A run that breaks it warns.",
}


def checks_of(checks: Tuple[Check, ...], layer: CheckedLayer) -> List[Json]:
    """List the checks of a layer; freshness is a service level and none of them."""
    return [
        {
            "name": check.title,
            **_check(check),
            "severity": "error" if check.severity is Severity.FAIL else "warning",
            "description": _OUTCOME[check.severity],
        }
        for check in checks
        if check.layer is layer and not isinstance(check, Freshness)
    ]


def _check(check: Check) -> Json:
    if isinstance(check, Unique):
        arguments = {"properties": list(check.columns)}
        found: Json = {"metric": "duplicateValues", "dimension": "uniqueness"}
        return {**found, "arguments": arguments, "mustBe": 0}
    if isinstance(check, NullShare):
        arguments = {"properties": [check.column]}
        found = {"metric": "nullValues", "dimension": "completeness"}
        limit = {
            "unit": "percent",
            "mustBeLessOrEqualTo": round(100 * check.at_most, 9),
        }
        return {**found, "arguments": arguments, **limit}
    if isinstance(check, RowCount) and check.change is None:
        limits = _limits(check.at_least, check.at_most)
        return {"metric": "rowCount", "dimension": "completeness", **limits}
    if isinstance(check, AcceptedRange):
        query = f"SELECT {_aggregate(check)} FROM ${{object}}"
        limits = _limits(check.at_least, check.at_most)
        return {"type": "sql", "query": query, "dimension": "conformity", **limits}
    if isinstance(check, Expression):
        query = f"SELECT COUNT(*) FROM ${{object}} WHERE NOT ({check.sql})"
        return {"type": "sql", "query": query, "dimension": "consistency", "mustBe": 0}
    # What compares with earlier runs or with another table has no metric there.
    is_other = isinstance(check, References)
    return {"type": "text", "dimension": "consistency" if is_other else "accuracy"}


def _aggregate(check: AcceptedRange) -> str:
    column = sql_identifier(check.column)
    if check.aggregate is Aggregate.COUNT_DISTINCT:
        return f"COUNT(DISTINCT {column})"
    return f"{check.aggregate.value.upper()}({column})"


def _limits(least: Optional[float], most: Optional[float]) -> Json:
    if least is None:
        return {"mustBeLessOrEqualTo": most}
    if most is None:
        return {"mustBeGreaterOrEqualTo": least}
    return {"mustBe": least} if least == most else {"mustBeBetween": [least, most]}
