"""When a number is within the limits of a check, and in which words it is not."""

import pytest

from lake_spec.model import (
    AcceptedRange,
    Aggregate,
    Drift,
    Freshness,
    NullShare,
    References,
    RowCount,
    Unique,
)

AVG = AcceptedRange("amount", Aggregate.AVG, at_least=1, at_most=5.5)


@pytest.mark.parametrize(
    "check, value, earlier, result, bounds",
    [
        (Unique(("a",)), 0, [], "passed", "at most 0"),
        (Unique(("a",)), 1, [], "failed", "at most 0"),
        (NullShare("a", 0.25), 0.25, [], "passed", "at most 0.25"),
        (NullShare("a", 0.25), 0.26, [], "failed", "at most 0.25"),
        (Freshness("a", 24), 24.0, [], "passed", "at most 24 hours old"),
        (Freshness("a", 24), 24.1, [], "failed", "at most 24 hours old"),
        (Freshness("a", 24), None, [], "failed", "at most 24 hours old"),
        (AVG, 1, [], "passed", "at least 1, at most 5.5"),
        (AVG, 5.6, [], "failed", "at least 1, at most 5.5"),
        (AVG, 0.9, [], "failed", "at least 1, at most 5.5"),
        (AVG, None, [], "skipped", "at least 1, at most 5.5"),
        (AVG, float("nan"), [], "failed", "at least 1, at most 5.5"),
        (RowCount(at_least=5), 4, [], "failed", "at least 5"),
        (RowCount(at_least=5), None, [], "skipped", "at least 5"),
        (RowCount(change=0.2), 9, [], "passed", "within 20% of the previous commit"),
        (RowCount(change=0.2), 12, [99, 10], "passed", "within 20% of 10"),
        (RowCount(change=0.2), 13, [99, 10], "failed", "within 20% of 10"),
        (RowCount(change=0.2), 7, [99, 10], "failed", "within 20% of 10"),
        (
            Drift(share=0.1),
            99,
            [10] * 4,
            "skipped",
            "compared after 5 commits, 4 so far",
        ),
        (
            Drift(share=0.1, runs=3),
            10.9,
            [99, 10, 10, 10],
            "passed",
            "within 10% of 10, the mean of 3 commits",
        ),
        (
            Drift(share=0.1, runs=3),
            11.1,
            [99, 10, 10, 10],
            "failed",
            "within 10% of 10, the mean of 3 commits",
        ),
        (
            Drift(sigma=2),
            14.9,
            [8, 12, 8, 12, 10],
            "failed",
            "within 2 standard deviations of 10, the mean of 5 commits",
        ),
        (
            Drift(sigma=2),
            13.5,
            [8, 12, 8, 12, 10],
            "passed",
            "within 2 standard deviations of 10, the mean of 5 commits",
        ),
        (
            Drift(sigma=2),
            10,
            [10] * 5,
            "passed",
            "within 2 standard deviations of 10, the mean of 5 commits",
        ),
    ],
)
def test_a_number_is_compared_with_limits(check, value, earlier, result, bounds):
    judged = check.judged(value, earlier)
    assert (judged.result, judged.bounds) == (result, bounds)


@pytest.mark.parametrize(
    "check, value, bounds, words",
    [
        (RowCount(), 1234567, "at least 2", "row_count is 1,234,567 (at least 2)"),
        (
            NullShare("a", 0.1, name="few"),
            0.123456789,
            "at most 0.1",
            "few: null_share(a) is 0.123457 (at most 0.1)",
        ),
        (
            Freshness("at", 1),
            None,
            "at most 1 hours old",
            "freshness(at) is no value (at most 1 hours old)",
        ),
        (Unique(("a",)), 1500, "at most 0", "1,500 row(s) break unique(a)"),
        (
            References("a", "t.a", name="known"),
            2,
            "at most 0",
            "2 row(s) break known: references(a -> t.a)",
        ),
    ],
)
def test_a_failed_check_says_its_rule_its_number_and_its_limits(
    check, value, bounds, words
):
    assert check.failure(value, bounds) == words
