"""Both engines on one input: the museum's snapshots as a full load and a feed.

The load is the first snapshot, 14,769 rows; the feed holds 75 I, 590 U and 5 D.
End: 14,839 current rows, 15,434 versions, whoever ingested them.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pytest

from lake_spec.model import Engine, TableType
from lake_check.parsing.loader import load_domain
from tests.cases import museum
from tests.oracle.landing_files import file_text
from tests.oracle.playing import STAGES, Play, World
from tests.spark.lake import Lake, table
from tests.spark.reprocessing import done_reprocess
from tests.spark.streaming import stream, submit

pytestmark = pytest.mark.nightly  # tests/e2e has both engines by day

TABLES = Path(__file__).resolve().parents[3] / "dags" / "tables"
DOMAIN = "name: moma\ndescription: The museum, told as a feed\nowner: museum-data\n"
NOT_SHARED = ("lake_etag", "lake_landed_at")


def feed_lake(spark, root, engine: Engine, storage: str) -> Lake:
    home = root / "tables" / "moma"
    home.mkdir(parents=True)
    (home / "_domain.yml").write_text(DOMAIN)
    text = museum.FEED_SPEC.format(engine=engine.value, storage=storage)
    (home / "artists.yml").write_text(text)
    return Lake(spark, root, load_domain("moma", root / "tables").tables[0])


@pytest.fixture(scope="module")
def lakes(spark, tmp_path_factory):
    """The same files ingested by both engines."""
    made = {}
    for engine, storage in (
        (Engine.PYSPARK, "copy_on_write"),
        (Engine.STREAMER, "merge_on_read"),
    ):
        root = tmp_path_factory.mktemp(engine.value)
        lake = made[engine] = feed_lake(spark, root, engine, storage)
        lake.land("load/artists.csv.gz", museum.FIRST.read_bytes(), at="2016-06-01")
        for stage in ("full_load", "incremental"):
            if engine is Engine.STREAMER:
                assert stream(lake, stage, root) == 0, (
                    root / "streamer.log"
                ).read_text()[-3000:]
            lake.done(stage, "scd2")
            lake.land("changes/1.csv", museum.change_feed(), at="2016-06-02")
    return made


@pytest.mark.parametrize("engine", list(Engine), ids=lambda each: each.value)
def test_either_engine_ends_with_the_museums_figures(lakes, engine):
    lake = lakes[engine]
    assert lake.current.count() == 14_839
    assert lake.history.count() == 15_434
    assert lake.history.where("is_current").count() == 14_839
    assert lake.current.where("wiki_qid IS NULL").count() == 11_590


@pytest.mark.parametrize("engine", list(Engine), ids=lambda each: each.value)
def test_a_run_without_new_files_tells_when_the_newest_landed(lakes, engine):
    report = lakes[engine].run("incremental")
    assert report.state == "nothing_new"
    assert report.newest_input == "2016-06-02T00:00:00+00:00"


@pytest.mark.parametrize("layer", ["changes", "current", "history"])
def test_both_engines_write_the_same_rows(lakes, layer):
    one, other = (getattr(lakes[engine], layer) for engine in Engine)
    names = sorted(one.columns)
    assert names == sorted(other.columns)
    one, other = one.select(names), other.select(names)
    assert one.schema.simpleString() == other.schema.simpleString()
    assert one.exceptAll(other).take(3) == []
    assert other.exceptAll(one).take(3) == []


def test_the_snapshots_themselves_lead_to_the_same_history(lakes, spark, tmp_path):
    tables = load_domain("moma", TABLES).tables
    spec = next(each for each in tables if each.name == "artists")
    compared = Lake(spark, tmp_path, spec)
    for snapshot in (museum.FIRST, museum.SECOND):
        compared.land(snapshot.name, snapshot.read_bytes())
    compared.done("full_load", "incremental", "scd2")
    names = [name for name, _ in spec.columns]
    names += ["valid_from", "valid_to", "is_current", "is_deleted", "version_key"]
    told = lakes[Engine.PYSPARK].history.select(names)
    assert compared.history.count() == 15_434
    assert compared.history.select(names).exceptAll(told).take(3) == []
    assert told.exceptAll(compared.history.select(names)).take(3) == []


def test_a_second_run_of_the_streamer_has_no_step(lakes, tmp_path):
    lake = lakes[Engine.STREAMER]
    before = lake.files()
    assert lake.prepare("incremental").streamer_argv == []
    assert [each.state for each in lake.done("incremental", "scd2")] == [
        "nothing_new"
    ] * 2
    assert lake.files() == before


def test_inputs_that_the_streamer_did_not_commit_fail_by_name(lakes):
    lake = lakes[Engine.STREAMER]
    lake.land("changes/2.csv", museum.change_feed("2016-05-13 00:00:00"))
    named = lake.prepare("incremental").report.commits["inputs"]
    report = lake.run("incremental", again=True)
    (lake.root / "landing/moma/artists_feed/changes/2.csv").unlink()
    assert report.state == "failed"
    assert f"did not commit its inputs {named}" in report.error["message"]


def test_what_the_streamer_reads_holds_no_semicolon_but_between_statements(lakes):
    folder = lakes[Engine.STREAMER].root / "warehouse" / "moma" / "artists" / "inputs"
    texts = [file.read_text() for file in folder.glob("*.sql")]
    assert texts and all(
        text.count(";") == text.count("CREATE OR REPLACE") for text in texts
    )
    assert all(json.loads(file.read_text())["files"] for file in folder.glob("*.json"))


@pytest.mark.parametrize("name", ["plain", "partial"])
def test_the_streamer_gives_the_tables_of_the_oracle_on_random_histories(
    spark, tmp_path, name
):
    world = World(name, 43, range(40))
    play = Play(spark, tmp_path, world, TableType.COPY_ON_WRITE)
    play.lake = lake = Lake(
        spark, tmp_path, replace(world.spec, engine=Engine.STREAMER)
    )
    for path, records in play.landing.files.items():
        text = file_text(world.spec, records, play.landing.shapes[path])
        lake.land(path, text, at="2026-02-01")
    for stage, _ in STAGES:
        assert stream(lake, stage, tmp_path) == 0
        lake.done(stage)
    lake.done("scd2")
    assert list(play.differing(list(play.landing.files))) == []


def test_the_streamer_goes_on_after_a_reprocess(lakes):
    lake = lakes[Engine.STREAMER]
    lake.land("changes/1.csv", museum.change_feed(), at="2016-06-03")
    report = done_reprocess(lake, "changes/1.csv")
    assert (report.retracted, report.rows_in) == (["changes/1.csv"], 670)
    assert (lake.current.count(), lake.history.count()) == (14_839, 15_434)

    lake.land("changes/3.csv", museum.change_feed("2016-05-14 00:00:00"))
    assert stream(lake, "incremental", lake.root) == 0
    accepted = lake.done("incremental", "scd2")[0].accepted
    assert accepted == 670
    new = lake.changes.where("lake_path = 'changes/3.csv'")
    assert new.count() == accepted


def test_a_file_replaced_before_the_step_is_ingested_as_it_was_judged(lakes, tmp_path):
    lake = lakes[Engine.STREAMER]
    lake.land("changes/9.csv", museum.change_feed("2016-05-15 00:00:00"))
    argv = lake.prepare("incremental").streamer_argv
    lake.land("changes/9.csv", museum.change_feed("2016-05-16 00:00:00"))
    assert submit(argv, tmp_path) == 0
    lake.done("incremental")
    assert lake.changes.where("lake_path = 'changes/9.csv'").count() == 670
    report = lake.run("prepare_incremental")
    assert report.error["type"] == "ChangedFile"
    assert "changes/9.csv was changed after it was ingested" in report.error["message"]


WIDENED = """
source: {{kind: feed, path: tests/things, load: "load/*", format: {{type: csv}}}}
columns: {{id: int, ts: timestamp, n: {n}, exact: "{exact}", day: {day}}}
key: [id]
order_by: [ts]
engine: streamer
storage: {{buckets: 1, type: merge_on_read}}
maintenance: {{compact_after: 1}}
"""


def test_the_streamer_goes_on_with_new_columns_and_wider_types(spark, tmp_path):
    narrow = table(WIDENED.format(n="int", exact="decimal(4,2)", day="date"))
    wide = table(WIDENED.format(n="bigint", exact="decimal(9,4)", day="timestamp"))
    lake = Lake(spark, tmp_path, narrow)
    lake.land("load/1", "id,ts,n,exact,day\n1,2026-01-01,7,1.50,2026-01-02\n")
    assert stream(lake, "full_load", tmp_path) == 0
    lake.done("full_load", "scd2")
    lake.spec = wide
    rows = "1,2026-01-03,2026-01-02,1.5,7,\n1,2026-01-05,2026-01-02,1.5,5000000000,x\n"
    lake.land("changes/1", "ID,TS,DAY,EXACT,N,ADDED\n" + rows)
    assert stream(lake, "incremental", tmp_path) == 0
    lake.done("incremental", "scd2", "maintenance")
    columns = ("n", "exact", "day", "added")
    found = [(*row[1:-2], row[-2][8:10]) for row in lake.versions(*columns)]
    values = (Decimal("1.5"), datetime(2026, 1, 2))
    assert found == [
        (7, *values, None, "01"),
        (5_000_000_000, *values, "x", "05"),
    ]
