"""A table's source by its kind."""

from __future__ import annotations

import pytest

from lake_spec.model import Csv, Feed, Snapshot, SnapshotTime, TableSpec

ABOUT = ("orders", "shop", "Orders of the shop", "shop-data")
FILES = ("shop/orders", "*.csv", Csv())
FEED = TableSpec(*ABOUT, Feed("shop/orders", Csv()), ("id",))
SNAPSHOT = TableSpec(*ABOUT, Snapshot(*FILES, SnapshotTime(column="at")), ("id",))


def test_a_source_is_reached_by_its_kind():
    assert FEED.feed is FEED.landed is FEED.source
    assert SNAPSHOT.snapshot is SNAPSHOT.landed is SNAPSHOT.source


@pytest.mark.parametrize("kind", ["snapshot", "dimension", "product"])
def test_a_source_of_another_kind_is_refused_by_name(kind):
    with pytest.raises(TypeError) as refused:
        getattr(FEED, kind)
    assert str(refused.value) == f"shop.orders is of kind feed, not {kind}"
