"""Full loads after the first: where they started is told where it is broken."""

import pytest

from tests.unit.lake_check.spec_files import FEED, diagnostics_of

PATTERN = "source.full_refresh.pattern"
SOUND = r"reload/(?P<updated_at>[^/]+)/"


def test_a_pattern_that_names_the_order_is_sound(specs):
    assert diagnostics_of(specs, FEED, {PATTERN: SOUND}) == []


@pytest.mark.parametrize("pattern", ["reload/", r"(?P<order_id>\d+)", r"(\d+)"])
def test_a_pattern_must_name_the_columns_of_the_order(specs, pattern):
    (diagnostic,) = diagnostics_of(specs, FEED, {PATTERN: pattern})
    assert diagnostic == (
        f"{PATTERN}: got {pattern!r}. Name its groups after the columns of order_by, "
        "from the first up to the first timestamp, as in "
        "reload/(?P<updated_at>[^/]+)/ (order_by: ['updated_at'])."
    )


def test_a_pattern_that_is_none_is_told(specs):
    (diagnostic,) = diagnostics_of(specs, FEED, {PATTERN: "(?P<updated_at>"})
    assert diagnostic.startswith(
        f"{PATTERN}: got '(?P<updated_at>'. Fix the regular expression"
    )


@pytest.mark.parametrize(
    "key, value, hint",
    [
        ("format", "%H", "Write the format of the time with strptime's directives"),
        ("lost_share", 2.0, "Choose a number from 0 to 1."),
        ("files", "../x", "Write file names of A-Z"),
    ],
)
def test_the_other_settings_of_full_refresh(specs, key, value, hint):
    changes = {PATTERN: SOUND, f"source.full_refresh.{key}": value}
    (diagnostic,) = diagnostics_of(specs, FEED, changes)
    assert diagnostic.startswith(f"source.full_refresh.{key}: got {value!r}. {hint}")
