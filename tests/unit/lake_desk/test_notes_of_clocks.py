"""Times of clocks that are set back once a year, and order rows, are told by `validate`."""

from __future__ import annotations

import pytest

from lake_desk.products.plans import check
from tests.unit.lake_check.spec_files import changed, FEED, SNAPSHOT

BERLIN = {"source.timezone": "Europe/Berlin"}
HOURLY = {
    **BERLIN,
    "source.snapshot_time": {"pattern": "_(.+).csv", "format": "%Y-%m-%dT%H"},
}


def notes_of(specs, base, changes):
    specs.put("tables/sales/orders.yml", changed(base, changes))
    _, faults, notes = check(specs.tables)
    assert faults == []
    return [str(each) for each in notes]


def test_an_order_of_such_times_alone(specs):
    assert notes_of(specs, FEED, BERLIN) == [
        f"warning: {specs.tables}/sales/orders.yml:1: order_by: updated_at has "
        "times of clocks in Europe/Berlin, which show one hour of the year twice: within it "
        "the files' order decides. Have the source send UTC, or the offset with "
        "each time, or add a column that always grows. [clock-goes-back]"
    ]


def test_versions_that_begin_at_such_times(specs):
    order = ["updated_at", "order_id"]
    changes = {**BERLIN, "order_by": order, "effective_at": "updated_at"}
    (note,) = notes_of(specs, FEED, changes)
    assert "effective_at: updated_at has times of clocks in Europe/Berlin" in note


def test_snapshots_that_such_a_time_dates(specs):
    (note,) = notes_of(specs, SNAPSHOT, HOURLY)
    assert "source.snapshot_time.format" in note and "(%z)" in note


@pytest.mark.parametrize(
    "base, changes",
    [
        (FEED, {}),
        (FEED, {"source.timezone": "Asia/Tokyo"}),
        (FEED, {**BERLIN, "order_by": ["updated_at", "order_id"]}),
        (
            FEED,
            {
                **BERLIN,
                "columns.updated_at": {"type": "timestamp", "format": "yyyy-MM-dd HHX"},
            },
        ),
        (
            FEED,
            {
                **BERLIN,
                "columns.updated_at": {"type": "timestamp", "format": "epoch_millis"},
            },
        ),
        (SNAPSHOT, BERLIN),
        (SNAPSHOT, {**HOURLY, "source.timezone": "UTC"}),
    ],
)
def test_others_are_not(specs, base, changes):
    assert notes_of(specs, base, changes) == []
