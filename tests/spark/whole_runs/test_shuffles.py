"""Random histories in two lakes, one written by Spark's shuffle and one by Hudi's.

Full loads and rebuilds go the two ways, upserts between them the same one. Every row of
all tables must be the same, with the same record key in the same bucket.
"""

from __future__ import annotations

import pytest

from lake_spec.model import Shuffle, TableType
from tests.oracle.playing import World
from tests.spark.lake import Lake, stored
from tests.spark.storage.test_bucket_writer import placed

LAYERS = ("current", "history")
SEED, HISTORIES = 20261126, range(30)


def played(spark, root, kind: TableType, shuffle: Shuffle) -> Lake:
    """The histories in one lake, which the oracle compares with its own fold."""
    world = World("plain", SEED, HISTORIES)
    play = world.play(spark, root, kind)
    spec = stored(world.spec, type=kind, shuffle=shuffle, buckets=3)
    play.lake = Lake(spark, root, spec)
    assert play.mismatches() == {}
    return play.lake


@pytest.mark.nightly  # by day, test_bucket_writer.py writes each kind of table both ways
@pytest.mark.parametrize("kind", TableType, ids=lambda kind: kind.value)
def test_both_shuffles_leave_the_same_rows_keys_and_buckets(spark, tmp_path, kind):
    lakes = [played(spark, tmp_path / way.value, kind, way) for way in Shuffle]
    for stages in ((), ("rebuild",)):
        for lake in lakes:
            lake.done(*stages)
        for layer in LAYERS:
            one, other = (placed(getattr(lake.tables, layer)) for lake in lakes)
            assert len(one) > len(HISTORIES) / 2
            assert one == other
