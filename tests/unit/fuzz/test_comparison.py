"""When two values of the lake are the same, for the judge of random files."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.fuzz.comparison import same
from tests.fuzz.judge import ANY

NAN = float("nan")


@pytest.mark.parametrize(
    "wanted, found, is_same",
    [
        (NAN, float("nan"), True),  # seed 1796080000, file 2148: nothing had changed
        (NAN, 1.0, False),
        (1.0, NAN, False),
        ((1, NAN), (1, float("nan")), True),
        (1, 1.0, False),
        (True, 1, False),
        (Decimal("1.0"), Decimal("1.00"), True),
        ("1", 1, False),
        (None, None, True),
        (None, 0, False),
        (ANY, "whatever", True),
        ((1,), (1, "of another file"), True),
        ((1, 2), (1,), False),
    ],
)
def test_values_are_the_same_by_type_and_value(wanted, found, is_same):
    assert same(wanted, found) is is_same
