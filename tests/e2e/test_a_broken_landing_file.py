"""A file that is cut off: its table fails by name, the others are complete."""

from __future__ import annotations

from tests.e2e.museum_lake import MARCH

FILE = f"{MARCH}: cannot be read"


def test_the_run_names_table_file_and_reason(loaded):
    told = loaded.run.done.err
    line = next(x for x in told.splitlines() if "FAILED moma.works full_load" in x)
    assert FILE in line
    assert "unexpected end of" in line.lower()


def test_the_summary_on_s3_names_them_too(loaded):
    summary = loaded.run.summary
    assert summary["state"] == "failed"
    assert [each for each in summary["causes"] if "moma.works" in each and FILE in each]
    report = summary["tables"]["works"]["full_load"]
    assert [each["path"] for each in report["set_aside"]] == [MARCH]


def test_the_other_tables_are_done(loaded):
    reports = loaded.run.reports
    for table in ("artists", "artists_feed"):
        assert reports[f"full_load/{table}"]["state"] == "done"
        assert reports[f"scd2/{table}"]["state"] == "done"


def test_only_the_broken_table_is_to_blame(loaded):
    causes = " ".join(loaded.run.summary["causes"])
    assert "moma.artists" not in causes


def test_the_whole_file_heals_the_next_run(repaired):
    assert repaired.run.summary["state"] == "succeeded"
    assert repaired.run.reports["incremental/works"]["state"] == "done"
    first, _ = repaired.run.files("incremental/works")
    assert first == (MARCH, 200, 199, 0, 0, 1)
    assert repaired.run.reports["scd2/works"]["versions"] == 201
