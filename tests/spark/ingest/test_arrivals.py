"""However files arrive: nothing lost, nothing doubled, nothing of unknown origin.

One feed; each test lands files in its own way, by keys of its own, and compares
both tables with the oracle.
"""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Callable, List, Optional

import pytest

from lake_spark.storage.object_store import FolderStore, StoredObject
from lake_spark.tables.table_run import Window
from tests.kinds import one_by_day
from tests.oracle.beside import Beside, delete, upsert
from tests.spark.lake import FEED_FILES, Lake, table

SPEC = FEED_FILES + """columns: {id: string, ts: timestamp, note: string}
key: [id]
order_by: [ts]
storage: {buckets: 1}
"""
SECOND = "2026-01-20T06:00:00"


class MovingStore(FolderStore):
    """A folder in which something happens right after landing files were listed."""

    def __init__(self, then: Callable[[], None]) -> None:
        self._then: Optional[Callable[[], None]] = then

    def list(self, prefix: str) -> List[StoredObject]:
        found = super().list(prefix)
        if "/landing/" in prefix and self._then:
            then, self._then = self._then, None
            then()
        return found


@pytest.fixture(scope="module")
def things(spark, tmp_path_factory):
    lake = Lake(spark, tmp_path_factory.mktemp("things"), table(SPEC))
    things = Beside(lake)
    things.landing("load/1.csv", upsert("loaded", 0, note="a"))
    things.run("full_load")
    return things


def while_listed(things: Beside, then: Callable[[], object]):
    """The report of an incremental run in which that happens after the listing."""
    things.lake.store = MovingStore(then)
    try:
        return things.lake.run("incremental")
    finally:
        things.lake.store = FolderStore()


@pytest.mark.nightly
def test_files_of_one_second_are_all_taken_though_some_came_later(things):
    things.landing("changes/second-2.csv", upsert("s", 2, note="b"), at=SECOND)
    things.landing("changes/second-1.csv", upsert("s", 1, note="a"), at=SECOND)
    things.run()
    things.landing("changes/second-0.csv", upsert("s", 3, note="c"), at=SECOND)
    assert things.run()[0].accepted == 1


def test_a_file_older_than_the_last_one_taken_is_found(things):
    things.landing("changes/new.csv", upsert("o", 5, note="b"), at="2026-01-21")
    things.run()
    things.landing("changes/old.csv", upsert("o", 1, note="a"), at="2026-01-19")
    things.landing("changes/9.csv", delete("o", 3), at="2026-01-18")
    assert things.run()[0].accepted == 2


@pytest.mark.nightly
def test_a_file_that_arrives_after_the_listing_waits_for_the_next_run(things):
    things.landing("changes/listed.csv", upsert("g", 1, note="a"))
    report = while_listed(
        things, lambda: things.landing("changes/late.csv", upsert("g", 2, note="b"))
    )
    assert [each.path for each in report.files] == ["changes/listed.csv"]
    assert [each.path for each in things.run()[0].files] == ["changes/late.csv"]


@pytest.mark.parametrize(
    "note", one_by_day(["a", "b"]), ids=["same content", "other content"]
)
def test_a_file_replaced_while_it_is_read_is_refused_then_taken_once(things, note):
    path, key = f"changes/replaced-{note}.csv", f"r-{note}"
    things.land(path, upsert(key, 1, note="a"), at="2026-01-31")
    before = things.lake.files()
    report = while_listed(
        things, lambda: things.landing(path, upsert(key, 1, note=note))
    )
    assert report.error["type"] == "ChangedWhileRead"
    assert f"{path}: replaced or removed while the run" in report.error["message"]
    assert things.lake.files() == before
    assert things.run()[0].accepted == 1


def test_a_file_removed_after_the_listing_is_named(things):
    things.land("changes/removed.csv", upsert("x", 1, note="a"))
    file = things.lake.root / "landing/tests/things/changes/removed.csv"
    report = while_listed(things, file.unlink)
    assert "changes/removed.csv: was removed after" in report.error["message"]
    things.agree()


@pytest.mark.nightly
def test_copies_under_other_names_change_nothing_also_where_rows_tie(things):
    tied = [upsert("t", 1, note=note) for note in "aba"] + [delete("t", 1)]
    tied += [upsert("t", 1, note="a"), upsert("t", 2, note="a")]
    things.landing("changes/tied-5.csv", *tied)
    assert things.run()[0].accepted == 6
    # Copies before and after it, whole, in part, and with a row more.
    things.landing("changes/tied-10.csv", *tied)
    things.landing("changes/tied-4.csv", *tied[:3])
    things.landing("changes/tied-11.csv", *tied, upsert("t", 1, note="c"))
    report = things.run()[0]
    assert (report.accepted, report.duplicates) == (1, 15)
    assert things.lake.changes.where("id = 't'").count() == 22


def test_a_window_that_was_taken_already_changes_nothing(things):
    before = things.lake.files()
    january = [datetime(2026, month, 1, tzinfo=timezone.utc) for month in (1, 2)]
    for stage in ("full_load", "incremental", "scd2"):
        report = things.lake.run(stage, window=Window(*january))
        assert (report.state, report.error) == ("nothing_new", None)
    assert things.lake.files() == before
