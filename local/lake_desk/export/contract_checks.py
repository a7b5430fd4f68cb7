"""Checks of whole tables as quality checks of the Open Data Contract Standard."""

from __future__ import annotations

from typing import Any, Dict, List, Tuple

from lake_spec.model import Check, CheckedLayer, Severity

Json = Dict[str, Any]
_OUTCOME = {
    Severity.FAIL: "A run that would break it writes nothing.",
    Severity.WARN: "A run that breaks it warns.",
}


def checks_of(checks: Tuple[Check, ...], layer: CheckedLayer) -> List[Json]:
    """List the checks of a layer; those that are service levels are none of them."""
    return [
        {
            "name": check.title,
            **quality,
            "severity": "error" if check.severity is Severity.FAIL else "warning",
            "description": _OUTCOME[check.severity],
        }
        for check in checks
        if check.layer is layer and (quality := check.quality()) is not None
    ]
