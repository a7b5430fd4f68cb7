"""Numbers are shown as a spec declares them."""

import pytest
from lake_spec.model import Rule
from lake_spec.text.numbers import plain_number


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (-3.0, "-3"),
        (1900, "1900"),
        (0.5, "0.5"),
        (1e300, "1e+300"),
        (float("inf"), "inf"),
    ],
)
def test_whole_numbers_have_no_fraction(value, shown):
    assert plain_number(value) == shown


def test_a_rule_shows_its_limit_as_declared():
    assert Rule("age", at_least=0.0).broken == "age is below 0"
    assert Rule("age", at_most=1.5).broken == "age is above 1.5"
