"""Which points a seed gives, and what belongs to which stage."""

from __future__ import annotations

from itertools import islice

from lake_spec.model import TableType
from tests.crash.stages import STAGES, random_points
from tests.crash.watch import Watch

NAMED = {stage.name: stage for stage in STAGES}
LOG = "warehouse/tests/things/changes/.hoodie"


def test_every_stage_comes_once_in_each_kind_of_lake_before_one_comes_again():
    pairs = [(stage.name, kind) for stage in STAGES for kind in stage.kinds]
    points = list(islice(random_points(1, NAMED), len(pairs)))
    assert {(point.stage.name, point.kind) for point in points} == set(pairs)
    merged = {name for name, kind in pairs if kind.type is TableType.MERGE_ON_READ}
    copied = {name for name, kind in pairs if kind.type is TableType.COPY_ON_WRITE}
    assert merged == set(NAMED)
    assert merged - copied == {"compaction"}
    assert len({kind.name for _, kind in pairs}) == len({kind for _, kind in pairs})


def test_points_can_be_of_one_stage_alone():
    points = list(
        islice(random_points(1, ["reprocess"]), len(NAMED["reprocess"].kinds))
    )
    assert {point.stage.name for point in points} == {"reprocess"}
    assert {point.kind for point in points} == set(NAMED["reprocess"].kinds)


def test_a_seed_gives_the_same_points_again_and_another_one_others():
    one, again, other = (
        list(islice(random_points(seed, NAMED), 40)) for seed in (1, 1, 2)
    )
    assert one == again != other
    assert {len(point.kills) for point in one} == {1, 2}
    assert all(0 <= share < 1 for point in one for share in point.kills)


def test_ingest_ends_and_current_begins_with_the_commit_of_the_log(tmp_path):
    watch = Watch(str(tmp_path))
    watch.changes += [f"+{LOG}/timeline/1.commit.requested", "+part.parquet"]
    assert [NAMED[name].counted(watch) for name in ("ingest", "current")] == [2, 0]
    watch.changes += [f"+{LOG}/timeline/1_2.commit", "+a", "-b"]
    assert [NAMED[name].counted(watch) for name in ("ingest", "current")] == [3, 2]
    assert NAMED["history"].counted(watch) == 5


def test_after_a_kill_all_that_a_stage_changes_is_its_own(tmp_path):
    watch = Watch(str(tmp_path))
    watch.changes += ["+a"]
    assert NAMED["current"].repaired.counted(watch) == 1
