"""Checks before a commit, each with a fault planted that it must find.

Thing 1 has versions since days 1 and 2; thing 2 was deleted on day 2 and came
back on day 3; thing 3 was deleted on day 2. A change of thing 1 touches them all.
"""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F

from lake_spec.hudi.options import Operation
from lake_spark.scd2 import fold
from lake_spark.storage import session
from lake_spark.storage.hudi_table import DELETED
from tests.spark.lake import FEED_FILES, Lake, table

SPEC = FEED_FILES + """columns: {id: int, ts: timestamp, note: string}
key: [id]
order_by: [ts]
storage: {buckets: 1}
"""
LOAD = "id,ts,note\n1,2026-01-01,a\n2,2026-01-01,a\n3,2026-01-01,a\n"
CHANGES = """op,id,ts,note
U,1,2026-01-02,b
D,2,2026-01-02,
I,2,2026-01-03,z
D,3,2026-01-02,
"""


@pytest.fixture(scope="module")
def things(spark, tmp_path_factory):
    """Change log and current of the three things; no history was written yet."""
    lake = Lake(spark, tmp_path_factory.mktemp("things"), table(SPEC))
    lake.land("load/1.csv", LOAD)
    lake.land("changes/1.csv", CHANGES)
    lake.done("full_load", "incremental")
    return lake


def spans_with(monkeypatch, fault):
    """Let the fold give versions with a fault in them."""
    true_versions = fold.versions
    monkeypatch.setattr(fold, "versions", lambda *given: fault(true_versions(*given)))


def without_the_second_of(key):
    return lambda spans: spans.where(
        f"NOT (lake_key = '{key}' AND lake_starts > '2026-01-01')"
    )


def never_ending(spans):
    return spans.withColumn("lake_ends", F.lit(None).cast("timestamp"))


def ending_at_once(spans):
    return spans.withColumn("lake_ends", F.col("lake_starts"))


def ending_late(spans):
    return spans.withColumn("lake_ends", F.expr("lake_ends + INTERVAL 1 HOUR"))


def without_a_start(spans):
    return spans.withColumn("lake_starts", F.lit(None).cast("timestamp"))


def reopened(spans):
    """Thing 3 shows its only version, as if nobody had deleted it."""
    gone = F.col("lake_key") == "3"
    return spans.withColumn("lake_ends", F.when(~gone, F.col("lake_ends")))


FAULTS = [
    (
        never_ending,
        "a key has at most one open version: 4 row(s), for example key 1",
        "versions of a key do not overlap: 2 row(s), for example key 1",
    ),
    (
        ending_late,
        "versions of a key do not overlap: 1 row(s), for example key 1",
        "a gap is a delete's: 2 row(s), for example key 2",
    ),
    (ending_at_once, "a version ends after it starts: 5 row(s), for example key 1"),
    (without_a_start, "a version has a start: 5 row(s), for example key 1"),
    (without_the_second_of(1), "a gap is a delete's: 1 row(s), for example key 1"),
    (reopened, "the open version is what current shows: 1 row(s), for example key 3"),
    (
        without_the_second_of(2),
        "it would have 1 open versions, and current has 2 rows at the same commit",
    ),
]


@pytest.mark.parametrize("fault, told", [(f, told) for f, *told in FAULTS])
def test_a_broken_invariant_stops_the_commit_by_name(things, monkeypatch, fault, told):
    spans_with(monkeypatch, fault)
    before = things.files()
    report = things.run("scd2")
    assert report.error["type"] == "BrokenInvariant"
    assert "history was not written" in report.error["message"]
    for words in told:
        assert words in report.error["message"]
    assert things.files() == before


@pytest.fixture
def alone_things(spark, tmp_path, monkeypatch):
    """A change log of three things with one event each, which are built as those of
    large tables."""
    monkeypatch.setattr(session, "FEW_ROWS", 0)
    lake = Lake(spark, tmp_path, table(SPEC))
    lake.land("load/1.csv", LOAD)
    lake.done("full_load")
    return lake


def without_the_first(spans):
    return spans.where("lake_key != '1'")


def twice(spans):
    return spans.unionByName(spans.where("lake_key = '2'"))


@pytest.mark.parametrize(
    "fault, told",
    [
        (ending_at_once, "a version ends after it starts: 3 row(s), for example key 1"),
        (ending_at_once, "a gap is a delete's: 3 row(s), for example key 1"),
        (without_a_start, "a version has a start: 3 row(s), for example key 1"),
        (twice, "a key with one event has one row: 1 row(s) too many"),
        (without_the_first, "a key with one event has one row: 1 row(s) too few"),
        (lambda spans: spans, None),
    ],
    ids=["ends-at-once", "by-no-delete", "no-start", "twice", "lost", "no-fault"],
)
def test_invariants_hold_for_keys_with_one_event(
    alone_things, monkeypatch, fault, told
):
    true_versions = fold.versions_of_single_events
    monkeypatch.setattr(
        fold, "versions_of_single_events", lambda *given: fault(true_versions(*given))
    )
    before = alone_things.files()
    error = alone_things.run("scd2").error
    if told is None:
        assert error is None
        return
    assert error["type"] == "BrokenInvariant"
    assert told in error["message"]
    assert alone_things.files() == before


def test_a_table_that_someone_else_filled_is_never_overwritten(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(SPEC))
    lake.land("load/1.csv", LOAD)
    theirs = spark.sql("SELECT '1' lake_key, 1 id, 'p' lake_path, 1L lake_record")
    theirs = theirs.withColumn("lake_from", F.lit(0).cast("bigint"))
    # The first that is found is told: the later ones come first.
    for layer, stage in (
        ("history", "scd2"),
        ("current", "rebuild"),
        ("log", "full_load"),
    ):
        target = getattr(lake.tables, layer)
        target.write(theirs, Operation.BULK_INSERT, {})
        before = lake.files()
        error = lake.run(stage).error
        assert error["type"] == "ForeignTable"
        assert f"{target.path}: there is a table that was not" in error["message"]
        assert lake.files() == before


@pytest.mark.nightly
def test_a_verification_finds_rows_that_the_log_does_not_make(things):
    things.done("scd2")
    before = things.files()
    assert (things.verify().error, things.verify(0.5).error) == (None, None)
    assert things.files() == before

    # By hand: thing 1 of current says z, thing 2 is there twice, and history
    # has lost the second version of thing 1.
    current, history = things.tables.current, things.tables.history
    there = F.lit(None).cast("boolean")
    rows = things.current.where("id < 3").withColumn(DELETED, there)
    wrong = rows.where("id = 1").withColumn("note", F.lit("z"))
    current.write(wrong, Operation.UPSERT, {})
    current.write(rows.where("id = 2"), Operation.BULK_INSERT, {})
    gone = things.history.where("note = 'b'").withColumn(DELETED, F.lit(True))
    history.write(gone, Operation.UPSERT, {})
    before = things.files()
    report = things.verify()
    assert report.error["type"] == "DiffersFromLog"
    told = report.error["message"]
    assert "current differs from its change log in 2 row(s): id 1: note is 'z'" in told
    assert "not 'b'; id 2: its change log has no such row." in told
    assert "history differs from its change log in 1 row(s): id 1, valid_from" in told
    assert "2026-01-02 00:00:00: is missing." in told
    assert things.files() == before

    shares = [things.verify(share).error for share in (0.000001, 1.0)]
    assert shares[0] is None and shares[1]["message"] == told
    things.done("rebuild")
    assert things.verify().error is None
