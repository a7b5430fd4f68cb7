"""The measures that a commit keeps for the next one, as its metadata has them."""

from __future__ import annotations

from decimal import Decimal
from typing import Dict, Mapping, Optional

from lake_spec.model.checks.measures import Measure, Value, Values


def to_text(values: Values) -> Dict[str, Optional[str]]:
    """Return the measures that a commit keeps, by their ids."""
    return {
        each.id: None if value is None else str(value)
        for each, value in values.items()
        if each.is_kept
    }


def from_text(kept: Mapping[str, Optional[str]], measure: Measure) -> Value:
    """Return the value that a commit kept of a measure. Raises KeyError if it did not."""
    text = kept[measure.id]
    return None if text is None else Decimal(text)
