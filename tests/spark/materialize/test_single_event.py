"""Keys with one delivery take a way of their own, to the same rows."""

from __future__ import annotations

from contextlib import ExitStack
from types import SimpleNamespace

import pytest

from lake_spark.landing.ingested_files import IngestedFiles, LogContents
from lake_spark.materialize import previous_rows, single_event
from lake_spark.materialize.pending import Pending
from lake_spark.storage import session
from tests.spark.erasing import erased
from tests.spark.lake import FEED_FILES, Lake, table

SPEC = FEED_FILES + """\
key: [id]
order_by: [at]
effective_at: at
columns: {id: int, name: string, at: timestamp}
"""
CHANGES = "op,id,name,at\nU,1,b,2026-01-02\nD,3,,2026-01-02\nU,4,d,2026-01-02\n"
MARKED = "current: {deletes: soft}\nhistory: {deletes: tombstone}\n"
LIVING = [(1, "b"), (2, "c"), (4, "d")]
VERSIONS = [
    (1, "a", "2026-01-01 00:00:00", "2026-01-02 00:00:00"),
    (1, "b", "2026-01-02 00:00:00", None),
    (2, "c", "2026-01-01 00:00:00", None),
    (4, "d", "2026-01-02 00:00:00", None),
]


@pytest.fixture
def splits(monkeypatch):
    """The keys that each build found alone; None where it did not look for them.

    Few rows count as many, and few keys alone as worth it.
    """
    monkeypatch.setattr(session, "FEW_ROWS", 0)
    monkeypatch.setattr(single_event, "MOST_SHARE", 1)
    found, split = [], single_event.split

    def seen(*args):
        several, only = split(*args)
        rows = only.deliveries.collect() if only else []
        keys = only and sorted(row.lake_key for row in rows)
        assert not only or only.upserts == sum(row.lake_op == "upsert" for row in rows)
        found.append(keys)
        return several, only

    monkeypatch.setattr(single_event, "split", seen)
    return found


def changed(spark, tmp_path, more=""):
    """A lake of two keys, of which one changes; two others come."""
    lake = Lake(spark, tmp_path, table(SPEC + more))
    lake.land("load/1.csv", "id,name,at\n1,a,2026-01-01\n2,c,2026-01-01\n")
    lake.done("full_load")
    lake.land("changes/1.csv", CHANGES)
    lake.done("incremental")
    return lake


@pytest.mark.nightly  # by day, test_fold.py has the rows of keys with one delivery
@pytest.mark.parametrize("more", ["", MARKED])
def test_first_loads_and_rebuilds_leave_the_rows_of_the_fold(
    spark, tmp_path, splits, more
):
    """A delete of a key that never was is alone too, and leaves nothing."""
    lake = changed(spark, tmp_path, more)
    assert splits == [["1", "2"]]
    assert lake.living("name") == LIVING
    lake.done("rebuild")
    assert splits[1:] == [["2", "3", "4"]] * 2
    assert lake.living("name") == LIVING
    assert lake.versions("name") == VERSIONS


@pytest.mark.nightly
def test_increasing_surrogate_keys_stay(spark, tmp_path, splits):
    numbered = "history: {surrogate_key: {kind: increasing}}\n"
    lake = changed(spark, tmp_path, numbered)
    lake.done("scd2")
    before = lake.tables.history.read().select("lake_key", "lake_from", "version_key")
    numbers = sorted(before.collect())
    lake.done("rebuild")
    assert splits[-1] == ["2", "3", "4"]
    after = lake.tables.history.read().select(*before.columns)
    assert sorted(after.collect()) == numbers


@pytest.mark.nightly
def test_keys_are_counted_again_where_an_erase_took_some_out_of_the_log(
    spark, tmp_path, splits
):
    lake = changed(spark, tmp_path)
    lake.done("rebuild")
    erased(lake, {"id": "2"})
    lake.done("rebuild")
    assert splits[-1] == ["3", "4"]
    assert lake.living("name") == [(1, "b"), (4, "d")]


def split(
    spark, keys, *, contents=LogContents(), scope=None, keeps_absent=False, rows=10
):
    """The keys that have several deliveries and those alone; None if not set apart."""
    waiting = Pending(None, "1", IngestedFiles(accepted=rows, contents=contents))
    new = SimpleNamespace(last_count=lambda name: 0)
    newest = SimpleNamespace(instant="1")
    log = SimpleNamespace(path=f"{keys} {rows}", last_commit=lambda: newest)
    spec = SimpleNamespace(scope=scope, keeps_absent=keeps_absent)
    run = SimpleNamespace(spec=spec, current=new, log=log)
    made = [(key, "delete" if key == "j" else "upsert") for key in keys]
    deliveries = spark.createDataFrame(made, "lake_key string, lake_op string")
    with ExitStack() as kept:
        all_rows = previous_rows.rows(run, new, waiting.ingested)
        several, only = single_event.split(run, waiting, deliveries, all_rows, kept)
        return only and (_keys(several), _keys(only.deliveries), only.upserts)


def _keys(deliveries):
    return "".join(sorted(row.lake_key for row in deliveries.collect()))


@pytest.fixture
def any_size(monkeypatch):
    monkeypatch.setattr(session, "FEW_ROWS", 9)


@pytest.mark.parametrize(
    "keys, parts",
    [("abcdefghij", ("", "abcdefghij", 9)), ("aabcdefghi", ("aa", "bcdefghi", 8))],
)
def test_keys_are_parted_by_their_deliveries(spark, any_size, keys, parts):
    assert split(spark, keys) == parts


def test_where_a_fifth_of_the_rows_have_company_none_is_set_apart(spark, any_size):
    assert split(spark, "aaabcdefgh") is None


def test_keys_that_are_too_many_to_hand_out_are_not_set_apart(
    spark, any_size, monkeypatch
):
    monkeypatch.setattr(single_event, "MOST_KEYS", 0)
    assert split(spark, "aabcdefghi") is None


@pytest.mark.parametrize(
    "held", ["has_all_key_events", "has_unsent_values", "has_key_changes"]
)
def test_where_rows_depend_on_others_no_key_is_alone(spark, any_size, held):
    assert split(spark, "abcdefghij", contents=LogContents(**{held: True})) is None


def test_nor_where_snapshots_have_scopes(spark, any_size):
    assert split(spark, "abcdefghij", scope="country") is None


def test_nor_where_records_leave_out_what_did_not_change(spark, any_size):
    assert split(spark, "abcdefghij", keeps_absent=True) is None


def test_small_tables_are_not_looked_through(spark, any_size):
    assert split(spark, "abcdefghij", rows=9) is None
