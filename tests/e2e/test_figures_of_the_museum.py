"""The museum's artists, told as snapshots and as a feed: the same figures.

March: 14,769 artists. May: 75 new, 5 gone, 590 changed: 14,839 artists and
15,434 versions, also when the run between was killed, also after maintenance.
"""

from __future__ import annotations

import pytest

from tests.e2e.lake import Figures

MARCH = Figures(
    current=14_769,
    current_without_qid=11_521,
    versions=14_769,
    versions_open=14_769,
    in_april=14_769,
    in_april_without_qid=11_521,
)
MAY = Figures(
    current=14_839,
    current_without_qid=11_590,
    versions=15_434,
    versions_open=14_839,
    in_april=14_769,
    in_april_without_qid=11_521,
)
either_engine = pytest.mark.parametrize(
    "table", ["moma.artists", "moma.artists_feed"], ids=["pyspark", "streamer"]
)


@either_engine
def test_the_full_load_has_the_artists_of_march(loaded, table):
    assert loaded.figures[table] == MARCH


@either_engine
def test_a_run_repeated_after_a_kill_has_the_artists_of_may(repaired, table):
    assert repaired.figures[table] == MAY


@pytest.mark.nightly
@either_engine
def test_maintenance_changes_no_figure(maintained, table):
    assert maintained.figures[table] == MAY


@either_engine
def test_show_counts_who_was_valid_in_april(valid_in_april, table):
    assert valid_in_april[table] == "14769\n"


def test_the_runs_summary_has_the_same_figures(repaired):
    reports = repaired.run.reports
    for table in ("artists", "artists_feed"):
        assert reports[f"incremental/{table}"]["current_rows"] == 14_839
        assert reports[f"scd2/{table}"]["versions"] == 15_434
        assert reports[f"scd2/{table}"]["versions_open"] == 14_839


def test_each_table_is_taken_in_by_the_engine_of_its_spec(loaded):
    reports = loaded.run.reports
    assert reports["full_load/artists"]["engine"] == "pyspark"
    assert reports["full_load/artists_feed"]["engine"] == "streamer"
    names = [each["Name"].rsplit(" ", 1)[0] for each in loaded.run.steps]
    assert sorted(names) == [
        "full_load",
        "prepare_full_load",
        "streamer artists_feed",
    ]
