"""A spec that shows that a row may get another key unseen is warned of."""

import pytest

from lake_desk.products.plans import check
from tests.unit.lake_check.spec_files import FEED, SNAPSHOT, changed

UNIQUE = {"checks": [{"kind": "unique", "columns": ["status"]}]}


def warnings_of(specs, base, changes):
    specs.put("tables/sales/orders.yml", changed(base, changes))
    _, faults, notes = check(specs.tables)
    assert faults == []
    return [str(each) for each in notes if each.kind == "warning"]


def test_a_feed_with_two_unique_keys_and_no_values_before(specs):
    (warning,) = warnings_of(specs, FEED, UNIQUE)
    assert warning == (
        f"warning: {specs.tables}/sales/orders.yml:1: key: rows are unique "
        "by status too, so one may get another key, and the feed does not say which it "
        "had: both would live. Choose the key that never changes, or name the values "
        "before updates (source.operation.before). [key-may-change]"
    )


@pytest.mark.parametrize(
    "base, changes",
    [
        (FEED, {}),
        (FEED, {**UNIQUE, "source.operation.before": "BI_{column}"}),
        (FEED, {"checks": [{"kind": "unique", "columns": ["order_id", "status"]}]}),
        (SNAPSHOT, UNIQUE),
    ],
)
def test_others_are_not(specs, base, changes):
    assert warnings_of(specs, base, changes) == []
