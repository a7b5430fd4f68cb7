"""What was found of the affected keys is used again; tables are not searched for them."""

from __future__ import annotations

import shutil
from dataclasses import replace
from decimal import Decimal
from types import SimpleNamespace

import pytest

from lake_spark.changelog.retractions import COMMIT
from lake_spark.materialize import affected_keys, previous_rows
from lake_spark.storage import session
from lake_spark.storage.hudi_table import HudiTable
from tests.spark.lake import FEED_FILES, Lake, table

SPEC = table(FEED_FILES + """\
key: [id]
order_by: [at]
effective_at: at
columns: {id: int, name: string, at: timestamp}
""")
LOADED = [
    (1, "a", "2026-01-01 00:00:00", "2026-01-02 00:00:00"),
    (1, "b", "2026-01-02 00:00:00", None),
    (2, "c", "2026-01-01 00:00:00", None),
]


@pytest.fixture
def lake(spark, tmp_path, monkeypatch):
    """Two keys are loaded and built, and a change of the first has landed.

    That few rows count as many.
    """
    monkeypatch.setattr(session, "FEW_ROWS", 0)
    lake = Lake(spark, tmp_path, SPEC)
    lake.land("load/1.csv", "id,name,at\n1,a,2026-01-01\n2,c,2026-01-01\n")
    lake.done("full_load", "scd2")
    lake.land("changes/1.csv", "op,id,name,at\nU,1,b,2026-01-02\n")
    return lake


def folders(lake: Lake) -> list:
    return sorted(lake.root.glob("warehouse/tests/things/touched/*_*/_SUCCESS"))


def refuse(*_):
    raise AssertionError("nobody may look for the keys here")


def test_history_takes_what_current_left(lake, monkeypatch):
    lake.done("incremental")
    [done] = folders(lake)
    left = lake.spark.read.parquet(str(done.parent)).columns
    assert [name for name in left if name.startswith("_hoodie_")] == [COMMIT]
    monkeypatch.setattr(affected_keys, "read_from_log", refuse)
    monkeypatch.setattr(previous_rows, "rows", refuse)  # it is known that they are many
    lake.done("scd2")
    assert lake.versions("name") == LOADED
    assert folders(lake) == []


@pytest.mark.nightly
def test_what_was_half_left_is_not_taken(lake):
    lake.done("incremental")
    [done] = folders(lake)
    done.unlink()
    for file in done.parent.glob("*.parquet"):
        file.write_bytes(b"half")
    lake.done("scd2")
    assert lake.versions("name") == LOADED


@pytest.mark.nightly
def test_history_that_is_two_runs_behind_reads_the_log(lake):
    lake.done("incremental")
    lake.land("changes/2.csv", "op,id,name,at\nD,2,,2026-01-03\n")
    lake.done("incremental", "scd2")
    ended = (2, "c", "2026-01-01 00:00:00", "2026-01-03 00:00:00")
    assert lake.versions("name") == [*LOADED[:2], ended]


@pytest.mark.nightly
def test_deliveries_of_many_keys_are_not_left(lake, monkeypatch):
    monkeypatch.setattr(affected_keys, "MOST_KEYS", 0)
    lake.done("incremental")
    assert folders(lake) == []
    lake.done("scd2")
    assert lake.versions("name") == LOADED


def test_a_table_is_not_searched_for_the_keys(lake, monkeypatch):
    monkeypatch.setattr(HudiTable, "read", refuse)
    lake.done("incremental", "scd2")
    monkeypatch.undo()
    assert lake.versions("name") == LOADED
    assert lake.living("name") == [(1, "b"), (2, "c")]


@pytest.mark.nightly
def test_a_table_of_another_fold_is_read_until_it_is_built_anew(lake, monkeypatch):
    monkeypatch.setattr(previous_rows, "VERSION", "another")
    assert not previous_rows.is_folded(lake.tables, lake.tables.history, _taken(lake))
    lake.done("incremental", "scd2")
    assert lake.versions("name") == LOADED
    assert not previous_rows.is_folded(lake.tables, lake.tables.history, _taken(lake))
    lake.done("rebuild")
    assert previous_rows.is_folded(lake.tables, lake.tables.history, _taken(lake))


def test_a_table_of_the_fold_before_is_read_where_keys_changed(lake, monkeypatch):
    taken = _taken(lake)
    monkeypatch.setattr(previous_rows, "BEFORE_FORKS", previous_rows.VERSION)
    monkeypatch.setattr(previous_rows, "VERSION", "another")
    changed = SimpleNamespace(contents=replace(taken.contents, has_key_changes=True))
    assert previous_rows.is_folded(lake.tables, lake.tables.history, taken)
    assert not previous_rows.is_folded(lake.tables, lake.tables.history, changed)


@pytest.mark.nightly
def test_a_table_is_read_once_after_a_reprocess_and_not_for_good(lake, monkeypatch):
    lake.done("incremental", "scd2")
    lake.land("changes/1.csv", "op,id,name,at\nU,1,d,2026-01-02\n")
    lake.done("reprocess")
    history, taken = lake.tables.history, _taken(lake)
    assert taken.contents.retracted and not previous_rows.is_folded(
        lake.tables, history, taken
    )
    lake.done("scd2")
    assert lake.living("name") == [(1, "d"), (2, "c")]
    lake.land("changes/2.csv", "op,id,name,at\nU,1,e,2026-01-03\nD,2,,2026-01-03\n")
    monkeypatch.setattr(HudiTable, "read", refuse)
    lake.done("incremental", "scd2")
    monkeypatch.undo()
    assert lake.living("name") == [(1, "e")]
    assert lake.verify().error is None


def test_a_table_whose_log_was_lost_is_read(lake):
    taken = _taken(lake)
    assert previous_rows.is_folded(lake.tables, lake.tables.history, taken)
    shutil.rmtree(lake.root / "warehouse" / "tests" / "things" / "changes")
    assert not previous_rows.is_folded(lake.tables, lake.tables.history, taken)


def _taken(lake: Lake):
    return lake.tables.ingested_files()


TYPED = table(FEED_FILES + """\
key: [id]
order_by: [at]
effective_at: at
columns: {id: int, name: string, price: "decimal(9,2)", part: double, at: timestamp}
""")
CHANGES = """\
op,id,name,price,part,at
U,1,b,3.10,0.2,2026-01-04
U,1,a,1.50,0.1,2026-01-03
D,2,,,,2026-01-05
U,3,c,,NaN,2026-01-02
"""


@pytest.mark.nightly
@pytest.mark.parametrize("few", [0, session.FEW_ROWS])
def test_queries_of_few_rows_make_the_same_tables(spark, tmp_path, monkeypatch, few):
    monkeypatch.setattr(session, "FEW_ROWS", few)
    asked, session_for = [], affected_keys.session_for

    def noted(spark, **of):
        given = session_for(spark, **of)
        asked.append(given is not spark)
        return given

    monkeypatch.setattr(affected_keys, "session_for", noted)
    lake = Lake(spark, tmp_path, TYPED)
    load = "id,name,price,part,at\n1,a,1.50,0.1,2026-01-01\n2,,2,,2026-01-01\n"
    lake.land("load/1.csv", load)
    lake.done("full_load", "scd2")
    assert set(asked) == {few > 0}
    lake.land("changes/1.csv", CHANGES)
    lake.done("incremental", "scd2")
    third = (3, "c", None, pytest.approx(float("nan"), nan_ok=True))
    assert lake.living("name", "price", "part") == [
        (1, "b", Decimal("3.10"), 0.2),
        third,
    ]
    assert lake.versions("name", "price", "part") == [
        (1, "a", Decimal("1.50"), 0.1, "2026-01-01 00:00:00", "2026-01-04 00:00:00"),
        (1, "b", Decimal("3.10"), 0.2, "2026-01-04 00:00:00", None),
        (2, None, Decimal("2.00"), None, "2026-01-01 00:00:00", "2026-01-05 00:00:00"),
        (*third, "2026-01-02 00:00:00", None),
    ]
