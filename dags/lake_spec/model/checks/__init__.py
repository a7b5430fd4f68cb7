"""Checks of whole tables: what must hold of all rows together, before a commit.

Rules (`Rule`) test one row at a time, while it is ingested; a check tests the rows of a
layer as they will be after the commit. Each kind of check is one class, in a module of its
own, and one entry of the union `Check`.
"""

from typing import Union

from lake_spec.model.checks.accepted_range import AcceptedRange
from lake_spec.model.checks.drift import Drift
from lake_spec.model.checks.expression import Expression
from lake_spec.model.checks.freshness import Freshness
from lake_spec.model.checks.null_share import NullShare
from lake_spec.model.checks.references import References
from lake_spec.model.checks.row_count import RowCount
from lake_spec.model.checks.unique import Unique

Check = Union[
    Unique,
    RowCount,
    Freshness,
    References,
    Expression,
    NullShare,
    AcceptedRange,
    Drift,
]

__all__ = [
    "AcceptedRange",
    "Check",
    "Drift",
    "Expression",
    "Freshness",
    "NullShare",
    "References",
    "RowCount",
    "Unique",
]
