"""kill -9 to the Spark of a step, when `artists` has its log commit and no more."""

from __future__ import annotations

from tests.e2e.lake import step


def test_the_run_is_red_and_says_what_happened(killed):
    assert killed.summary["state"] == "failed"
    assert "moma incremental: step" in killed.done.err
    assert "Killed by signal 9 (SIGKILL)" in killed.done.err


def test_the_table_that_was_half_done_has_no_report(killed):
    assert "incremental/artists" not in killed.reports
    lines = killed.done.err.splitlines()
    assert any("moma.artists" in a and "incremental: no report" in a for a in lines)


def test_the_step_failed_and_the_cluster_ended(killed):
    assert step(killed, "incremental")["Status"]["State"] == "FAILED"
    assert killed.cluster["Status"]["State"] == "TERMINATED"


def test_the_run_after_it_is_green(repaired):
    assert repaired.run.summary["state"] == "succeeded"
    assert repaired.run.summary["causes"] == []
