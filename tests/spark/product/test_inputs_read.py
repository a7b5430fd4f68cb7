"""What a product has read of its inputs where no row of it differed, so it has no commit."""

from __future__ import annotations

import json

import pytest

from lake_spec.hudi.options import HudiKey
from lake_spec.model import Maintenance
from lake_spark.storage import timeline
from tests.spark.product.test_product import CUSTOMERS, ORDERS, built, segments
from tests.spark.stall import Stall

UNSHOWN = "U,1,10,2026-01-05,5,2026-02-{:02d}\n"
"""A change of an order that shows nowhere."""

MOST_READ = 2
"""Commits of an input that a run without news reads: its newest one, and the same again
for erases since it was read."""


@pytest.fixture
def stall(spark, tmp_path):
    stall = Stall(spark, tmp_path, ["enriched"])
    for name in ("orders", "customer"):
        stall.redefine(name, maintenance=Maintenance(keep_commits=1))
    stall.take(orders=ORDERS, customer=CUSTOMERS)
    stall.lakes["enriched"].done("product")
    return stall


@pytest.fixture
def commits_read(monkeypatch):
    """Run a product that has no news; how many commits of a table it reads."""
    read, metadata_of = [], timeline.Timeline.metadata_of

    def noted(self, instant, of):
        read.append(instant.requestedTime())
        return metadata_of(self, instant, of)

    monkeypatch.setattr(timeline.Timeline, "metadata_of", noted)

    def of_run(lake, table):
        timeline.KNOWN_COMMITS.clear()
        read.clear()
        assert built(lake)[0] == "nothing_new"
        return len(set(read) & {each.requested for each in table.instants()})

    return of_run


def note_of(lake):
    path = lake.root / "warehouse" / "tests" / "enriched" / "inputs_read.json"
    return json.loads(path.read_text()) if path.exists() else None


def archive(lake):
    """Archive the commits of current but the newest ones, as writes do in the end."""
    table = lake.tables.current
    kept = {HudiKey.ARCHIVE_MIN.value: "2", HudiKey.ARCHIVE_MAX.value: "3"}
    with table._write_client(kept) as client:
        client.archive()
    return {each.requested for each in table.instants()}


@pytest.mark.nightly
def test_a_look_reads_the_commits_since_the_last_one_alone(stall, commits_read):
    lake, orders = stall.lakes["enriched"], stall.lakes["orders"].tables.current
    first = note_of(lake)
    for day in (1, 2, 3, 4):
        stall.take(orders=UNSHOWN.format(day))
        assert built(lake)[0] == "nothing_new"
    orders.forget()
    assert commits_read(lake, orders) <= MOST_READ
    assert (first, note_of(lake)["commit"]) == (
        None,
        lake.tables.current.last_commit().instant,
    )


@pytest.mark.nightly
def test_an_archived_commit_of_an_input_builds_the_whole_once(stall, capsys):
    lake, orders = stall.lakes["enriched"], stall.lakes["orders"]
    read = orders.tables.current.last_commit().instant
    for day in (1, 2, 3, 4, 5):
        stall.take(orders=UNSHOWN.format(day))
    orders.done("maintenance")
    assert read not in archive(orders)
    because = f"whole: commit {read} of tests.orders current, from which it was built"
    capsys.readouterr()
    assert built(lake)[0] == "nothing_new"
    assert because in capsys.readouterr().out
    assert built(lake)[0] == "nothing_new"
    assert "built" not in capsys.readouterr().out
    stall.take(orders="U,2,20,2026-01-15,7,2026-03-01\n")
    assert built(lake) == ("done", "in part", 1, 0)


@pytest.mark.nightly
def test_a_note_counts_as_long_as_its_commit_is_the_newest(stall):
    lake = stall.lakes["enriched"]
    stall.take(orders=UNSHOWN.format(1))
    built(lake)
    before = note_of(lake)
    assert before["commit"] == lake.tables.current.last_commit().instant
    stall.take(customer="U,20,late,n,2026-01-02\n")
    assert built(lake) == ("done", "in part", 1, 0)
    assert note_of(lake) == before
    assert lake.verify().state == "done"
    assert (built(lake)[0], segments(stall)["3"]) == ("nothing_new", "late")


@pytest.mark.nightly
def test_a_run_that_dies_before_the_note_is_done_again(stall, monkeypatch):
    lake = stall.lakes["enriched"]
    stall.take(orders=UNSHOWN.format(1))
    store, write = type(lake.store), type(lake.store).write

    def dying(self, uri, content):
        if uri.endswith("/inputs_read.json"):
            raise OSError("killed")
        return write(self, uri, content)

    with monkeypatch.context() as patched:
        patched.setattr(store, "write", dying)
        assert "killed" in lake.run("product").error["message"]
    assert note_of(lake) is None
    stall.take(customer="U,20,late,n,2026-01-02\n")
    assert built(lake) == ("done", "in part", 1, 0)
    assert lake.verify().state == "done"
