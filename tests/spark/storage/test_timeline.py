"""A run looks into a table's timeline once between its writes."""

from __future__ import annotations

from collections import Counter

import pytest

from lake_spark.stages.maintenance import compact_all
from lake_spark.storage import hudi_table, timeline
from tests.spark.lake import NAMED, Lake, table

SPEC = table(NAMED + "storage: {type: merge_on_read}\n")


@pytest.fixture
def lake(spark, tmp_path):
    """A loaded lake with changes in landing."""
    lake = Lake(spark, tmp_path, SPEC)
    lake.land("load/1.csv", "id,name,at\n1,a,2026-01-01\n2,c,2026-01-01\n")
    lake.done("full_load", "scd2")
    lake.land("changes/1.csv", "op,id,name,at\nU,1,b,2026-01-02\n")
    return lake


@pytest.fixture
def looks(monkeypatch):
    """How often each table's timeline was looked into, by its folder."""
    found = Counter()

    def counted(spark, path):
        found[path.rsplit("/", 1)[1]] += 1
        return meta_client(spark, path)

    meta_client = timeline.meta_client
    for module in (timeline, hudi_table):
        monkeypatch.setattr(module, "meta_client", counted)
    return found


def test_a_run_with_nothing_new_looks_once_into_each_table(lake, looks):
    lake.done("incremental", "scd2")
    looks.clear()
    lake.done("incremental")
    assert looks == {"changes": 1, "current": 1, "history": 1}


@pytest.mark.nightly
def test_a_run_looks_again_only_where_it_wrote(lake, looks):
    lake.done("incremental")
    assert looks == {"changes": 2, "current": 2, "history": 1}


def test_what_a_table_wrote_and_compacted_is_seen_by_it(lake):
    run = lake.tables
    before = run.current.last_commit()
    lake.done("incremental")
    assert run.current.last_commit() == before, "a look is kept"
    run.current.forget()
    after = run.current.last_commit()
    assert after.instant > before.instant
    compact_all(run, run.current)
    assert run.current.last_commit().instant > after.instant


def test_a_write_that_failed_leaves_no_look_behind(lake, monkeypatch):
    run = lake.tables
    rows = run.current.read()
    assert run.current.last_commit() is not None
    monkeypatch.setattr(hudi_table, "write_options", lambda *_: {"path": "x"})
    with pytest.raises(Exception):
        run.current.write(rows, "upsert", {})
    assert run.current._look is None
