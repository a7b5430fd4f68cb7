"""Tables share a cluster: what it costs, and that nothing waits for a late giant."""

from __future__ import annotations

import pytest

from benchmarks.packing import CASES, MOST_BILLED, MOST_LATE, costed
from lake_spec.facts.table_order import blended, longest_first, makespan


def test_the_longest_is_first_and_before_it_what_was_never_seen():
    expected = {"orders": 20.0, "items": 300.0, "shops": 20.0}
    names = ["orders", "customers", "items", "shops"]
    assert longest_first(names, expected) == ["customers", "items", "orders", "shops"]


@pytest.mark.parametrize(
    "seconds, at_once, until_all_are_done",
    [([], 4, 0), ([5, 3], 4, 5), ([5, 3, 1], 2, 5), ([1, 3, 5], 2, 6), ([2, 2], 1, 4)],
)
def test_the_next_begins_when_one_ends(seconds, at_once, until_all_are_done):
    assert makespan(seconds, at_once) == until_all_are_done


def test_what_is_expected_follows_what_is_seen():
    assert [blended(None, 8), blended(8, 4)] == [8, 6]


@pytest.mark.parametrize("at_once", [2, 4, 8, 16])
@pytest.mark.parametrize("case", CASES)
def test_twenty_tables_that_share_a_cluster(case, at_once):
    for seed in range(100):
        found = costed(case, seed, at_once=at_once)
        assert found.billed <= MOST_BILLED and found.late <= MOST_LATE
        assert found.shared >= found.best


def test_without_the_order_a_giant_is_late():
    found = [costed("skewed", seed) for seed in range(100)]
    assert max(each.in_order_of_domain / each.best for each in found) > MOST_LATE
