"""Work next to other work: it is waited for, and what goes wrong in it is not lost."""

from __future__ import annotations

import threading
import time

import pytest

from lake_spark.materialize import layers
from lake_spark.step.run_stage import POOL
from lake_spark.storage.spark_jobs import in_background
from tests.spark.lake import NAMED, Lake, table

SPEC = table(NAMED)


def test_it_gives_what_was_found_and_is_of_the_same_pool(spark):
    spark.sparkContext.setLocalProperty(POOL, "shop.orders")
    try:
        work = lambda: spark.sparkContext.getLocalProperty(POOL)  # noqa: E731
        with in_background(work) as pool:
            assert pool() == "shop.orders"
    finally:
        spark.sparkContext.setLocalProperty(POOL, None)


def test_it_has_ended_when_it_is_left_also_by_an_error(spark):
    ended = []
    begun = threading.Event()

    def work():
        begun.set()
        time.sleep(0.2)
        ended.append(True)

    with pytest.raises(ZeroDivisionError):
        with in_background(work):
            begun.wait()
            raise ZeroDivisionError
    assert ended


def test_it_can_be_done_first(spark):
    done = []
    with in_background(lambda: time.sleep(0.1) or done.append(True), done_first=True):
        assert done


def test_what_it_raises_is_raised_where_it_is_waited_for(spark):
    with in_background(lambda: 1 / 0) as told:
        with pytest.raises(ZeroDivisionError):
            told()


def test_nothing_is_committed_where_duplicates_cannot_be_counted(
    spark, tmp_path, monkeypatch
):
    lake = Lake(spark, tmp_path, SPEC)
    lake.land("load/1.csv", "id,name,at\n1,a,2026-01-01\n")
    lake.done("full_load")
    lake.land("changes/1.csv", "op,id,name,at\nU,1,b,2026-01-02\n")
    lake.land("changes/2.csv", "op,id,name,at\nU,1,b,2026-01-02\n")
    with monkeypatch.context() as broken:
        broken.setattr(layers, "count_ties", lambda *_: 1 / 0)
        report = lake.run("incremental")
    assert report.error["type"] == "ZeroDivisionError"
    assert lake.living("name") == [(1, "a")]
    lake.done("incremental")
    assert lake.living("name") == [(1, "b")]
