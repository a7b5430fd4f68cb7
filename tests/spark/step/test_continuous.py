"""A continuous run on real tables, in one session: what separate runs would make of them.

Things 1 and 2 are loaded; then a change file lands before each of two rounds, and
nothing before the third. A shop with two dimensions plays the batches of
test_dimension.py in rounds.
"""

from __future__ import annotations

import gzip
import json

import pytest

from lake_spec.model import Continuous
from lake_spark.ingest import batch as ingest_batch
from lake_spark.step import continuous
from lake_spark.step.continuous import MicroBatches
from tests.spark.dimension import test_dimension as told
from tests.spark.batches import RUN, Batches, ask_to_stop
from tests.spark.lake import FEED_FILES, Lake, table
from tests.spark.leased import Steps, grant
from tests.spark.shop import DIMENSIONS, SNAPSHOT_DAYS, Shop, domain_of

SPEC = FEED_FILES + """columns: {id: int, ts: timestamp, note: string}
key: [id]
order_by: [ts]
load_effective_at: "2020-01-01"
storage: {type: merge_on_read, buckets: 1}
maintenance: {compact_after: 1}
"""
LOAD = "id,ts,note\n1,2020-01-01,a\n2,2020-01-01,a\n"
FIRST = "op,id,ts,note\nU,1,2021-01-01,b\nI,3,2021-01-01,c\n"
SECOND = "op,id,ts,note\nU,1,2022-01-01,c\nD,2,2022-01-01,\nI,3,2021-01-01,c\n"
LIVING = [(1, "c"), (3, "c")]
VERSIONS = [
    (1, "a", "2020-01-01 00:00:00", "2021-01-01 00:00:00"),
    (1, "b", "2021-01-01 00:00:00", "2022-01-01 00:00:00"),
    (1, "c", "2022-01-01 00:00:00", None),
    (2, "a", "2020-01-01 00:00:00", "2022-01-01 00:00:00"),
    (3, "c", "2021-01-01 00:00:00", None),
]


def loaded(spark, root):
    lake = Lake(spark, root, table(SPEC))
    lake.land("load/1.csv", LOAD)
    lake.done("full_load", "scd2")
    return lake


@pytest.fixture(scope="module")
def story(spark, tmp_path_factory):
    """The three rounds, with what the tables held after each."""
    lake = loaded(spark, tmp_path_factory.mktemp("story"))
    lake.batches = Batches(spark, lake.root, [lake.spec])
    lake.living_after, lake.files_after = [], []
    for name, rows in (("1", FIRST), ("2", SECOND), (None, None)):
        if name:
            lake.land(f"changes/{name}.csv", rows)
        assert lake.batches.next_round() is None
        lake.living_after.append(lake.living("note"))
        lake.files_after.append(lake.files())
    return lake


def test_after_each_round_its_file_is_in_current_and_history(story):
    assert story.living_after[0] == [(1, "b"), (2, "a"), (3, "c")]
    assert story.living_after[1] == LIVING
    assert story.versions("note") == VERSIONS


def test_a_round_without_anything_new_touches_no_file(story):
    assert story.files_after[2] == story.files_after[1]


@pytest.mark.nightly
def test_separate_runs_make_the_same_rows_of_the_same_files(spark, story, tmp_path):
    apart = loaded(spark, tmp_path)
    for name, rows in (("1", FIRST), ("2", SECOND)):
        apart.land(f"changes/{name}.csv", rows)
        apart.done("incremental", "scd2")
    assert (apart.living("note"), apart.versions("note")) == (LIVING, VERSIONS)
    assert apart.changes.count() == story.changes.count()
    assert apart.verify().error is None and story.verify().error is None


def test_one_report_adds_the_rounds_up(story):
    report = json.loads(story.batches.told("things"))
    files = {each["path"]: each["accepted"] for each in report["files"]}
    assert files == {"changes/1.csv": 2, "changes/2.csv": 2}
    assert (report["rows_in"], report["accepted"], report["duplicates"]) == (5, 4, 1)
    assert (report["versions"], report["versions_open"]) == (5, 2)
    assert (report["versions_opened"], report["versions_closed"]) == (3, 3)
    assert report["state"] == "running"
    assert report["newest_event"].startswith("2022-01-01")
    assert report["commits"]["history"] == story.tables.history.last_commit().instant


def test_no_rows_of_a_round_stay_in_memory(spark, story):
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == 0


def breaks(run):
    return 1 / 0


def test_what_fails_in_one_round_heals_in_the_next(spark, tmp_path, monkeypatch):
    lake = loaded(spark, tmp_path)
    batches = Batches(spark, tmp_path, [lake.spec])
    lake.land("changes/1.csv", FIRST)
    with monkeypatch.context() as broken:
        broken.setattr(continuous, "OF_FILES", [continuous.incremental, breaks])
        assert batches.next_round() is None
    assert len(lake.versions("note")) == 2
    assert json.loads(batches.told("things"))["state"] == "failed"
    batches.next_round()
    assert len(lake.versions("note")) == 4
    (report,) = batches.ended()
    assert (report.state, report.error, report.accepted) == ("done", None, 2)
    assert report.warnings == [
        "FailedMicroBatch: micro-batch 1: ZeroDivisionError: division by zero"
    ]


@pytest.mark.nightly
def test_a_bad_file_is_set_aside_once_and_taken_when_it_was_mended(
    spark, tmp_path, monkeypatch
):
    read, shape_of = [], ingest_batch.shape_of

    def noted(spark, store, file, spec):
        read.append(file.path)
        return shape_of(spark, store, file, spec)

    monkeypatch.setattr(ingest_batch, "shape_of", noted)
    lake = loaded(spark, tmp_path)
    batches = Batches(spark, tmp_path, [lake.spec])
    lake.land("changes/1.csv.gz", b"no gzip")
    lake.land("changes/2.csv", FIRST)
    read.clear()
    assert batches.next_round() is None
    assert lake.living("note") == [(1, "b"), (2, "a"), (3, "c")]
    lake.land("changes/3.csv", SECOND)
    batches.next_round()
    assert lake.living("note") == LIVING
    assert read.count("changes/1.csv.gz") == 1
    (report,) = batches.ended()
    assert (report.state, report.error["type"]) == ("failed", "UnreadableFile")
    assert [each["path"] for each in report.set_aside] == ["changes/1.csv.gz"]
    late = "op,id,ts,note\nI,4,2022-01-01,d\n"
    lake.land("changes/1.csv.gz", gzip.compress(late.encode()))
    batches.next_round()
    (report,) = batches.ended()
    assert (report.state, report.set_aside) == ("done", [])
    assert lake.living("note") == [*LIVING, (4, "d")]


@pytest.mark.nightly
def test_maintenance_comes_within_the_run_too(spark, tmp_path, monkeypatch):
    lake = loaded(spark, tmp_path)
    batches = Batches(spark, tmp_path, [lake.spec])
    lake.land("changes/1.csv", FIRST)
    batches.next_round()
    monkeypatch.setattr(continuous, "MAINTENANCE_EVERY", 0)
    batches.next_round()
    (report,) = batches.ended()
    assert {"current_compaction", "history_compaction"} <= set(report.commits)
    lake.land("changes/2.csv", SECOND)
    batches.next_round()
    assert (lake.living("note"), lake.versions("note")) == (LIVING, VERSIONS)
    assert lake.verify().error is None


@pytest.mark.nightly  # test_micro_batches.py has the order, test_dimension.py the rows
def test_dimensions_follow_in_every_round_as_the_oracle_has_them(spark, tmp_path):
    shop = Shop(spark, tmp_path, domain_of(tmp_path / "specs"))
    shop.land_customers("load/1.csv", "", told.LOAD)
    shop.bring_up("full_load", "scd2")
    specs = [lake.spec for lake in shop.lakes.values()]
    batches = Batches(spark, tmp_path, specs)
    shop.land_customers("changes/1.csv", "", told.FIRST)
    shop.land_addresses(SNAPSHOT_DAYS[0], told.ADDRESSES)
    assert batches.next_round() is None
    assert [shop.mismatches(name) for name in DIMENSIONS] == [[], []]
    shop.land_customers("changes/2.csv", ",phone", told.SECOND)
    moved = {**told.ADDRESSES, **told.MOVES}
    del moved[5]
    shop.land_addresses(SNAPSHOT_DAYS[1], moved)
    shop.land_addresses(SNAPSHOT_DAYS[2], {**moved, **told.RETURNS})
    batches.next_round()
    assert [shop.mismatches(name) for name in DIMENSIONS] == [[], []]
    assert {each.state for each in batches.ended()} == {"done"}


@pytest.fixture
def step(spark, tmp_path, monkeypatch):
    """Runs the step of a continuous run of one table, as main.py does; its exit code."""
    lake = loaded(spark, tmp_path)
    pace = Continuous(every_seconds=5, hours=0.5)
    steps = Steps(lake, monkeypatch, continuous=pace)
    grant(tmp_path, RUN)
    lake.step = lambda: steps.step("continuous", RUN)
    return lake


@pytest.mark.nightly
def test_a_step_goes_on_until_it_is_asked_to_stop(step, monkeypatch, capsys):
    play = MicroBatches.round

    def play_and_act(batches, number):
        why = play(batches, number)
        if number == 1:
            step.land("changes/2.csv", SECOND)
        if number == 2:
            ask_to_stop(step.root)
        return why

    monkeypatch.setattr(MicroBatches, "round", play_and_act)
    step.land("changes/1.csv", FIRST)
    assert step.step() == 0
    assert (step.living("note"), step.versions("note")) == (LIVING, VERSIONS)
    runs = step.root / "runs"
    report = json.loads((runs / RUN / "continuous" / "things.json").read_text())
    assert (report["state"], report["accepted"]) == ("done", 4)
    assert json.loads((runs / "timings" / "tests.json").read_text())["continuous"]
    assert (
        'ended: asked to stop: { "by": "tests_reprocess/2" }' in capsys.readouterr().out
    )
