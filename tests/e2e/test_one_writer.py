"""Two runs of one domain at once: the second waits until the first one's cluster is gone."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.nightly  # by day, tests/simulator has runs wait for each other


def test_status_tells_which_run_has_the_domain(queued):
    assert f"Lease of moma: {queued.load.name} since 20" in queued.status.out


def test_the_second_run_has_its_cluster_after_the_first_one_s_end(queued):
    ended = queued.load.cluster["Status"]["Timeline"]["EndDateTime"]
    created = queued.compare.cluster["Status"]["Timeline"]["CreationDateTime"]
    assert ended <= created


def test_both_do_their_work(queued):
    assert queued.load.summary["state"] == "succeeded"
    assert queued.compare.summary["state"] == "succeeded"
    assert {name: each["state"] for name, each in queued.compare.reports.items()} == {
        "rebuild/works": "done"
    }


def test_nobody_has_the_domain_afterwards(lake, queued):
    assert "Lease of moma" not in lake.command("status").out


def test_a_run_for_one_table_leaves_the_others_alone(queued):
    assert set(queued.load.summary["tables"]) == {"works"}
