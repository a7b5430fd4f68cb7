"""Steps hold references, clusters carry the run, reports account for every row."""

from __future__ import annotations

import pytest

from tests.cases import museum
from tests.e2e.lake import step, tags
from tests.e2e.museum_lake import MAY

LONGEST_STEP = 10_240
ARTIST = {
    "constituent_id": "int",
    "display_name": "string",
    "artist_bio": "string",
    "nationality": "string",
    "gender": "string",
    "begin_date": "int",
    "end_date": "int",
    "wiki_qid": "string",
    "ulan": "string",
}
VERSION = {"valid_from": "timestamp", "valid_to": "timestamp", "is_current": "boolean"}


def test_steps_hold_references_and_never_a_spec(loaded):
    for each in loaded.run.steps:
        arguments = each["Config"]["Args"]
        assert sum(map(len, arguments)) < LONGEST_STEP
        assert not [text for text in arguments if "{" in text or "\n" in text]
        assert "constituent_id" not in " ".join(arguments)


def test_a_step_is_given_release_domain_token_stages_and_run(loaded):
    arguments = step(loaded.run, "full_load")["Config"]["Args"]
    release = loaded.run.summary["release"]
    told = arguments[arguments.index("--release") :]
    token = told.index("--lease-token")
    assert int(told[token + 1]) > 0
    del told[token : token + 2]
    digests = told.index("--sha256")
    assert told[digests + 1]
    del told[digests : digests + 2]
    assert told == [
        *("--release", f"s3://lake/artifacts/releases/{release}"),
        *("--region", "eu-central-1"),
        *("--domain", "moma", "--stage", "full_load", "--then", "scd2"),
        *("--run", loaded.run.name),
    ]


def test_the_cluster_carries_the_run_in_name_tags_and_logs(loaded):
    run, cluster = loaded.run, loaded.run.cluster
    assert cluster["Name"] == f"lake moma_full_load {run.key}"
    assert cluster["LogUri"] == f"s3://lake/logs/moma_full_load/{run.key}/"
    assert tags(cluster) == {
        "for-use-with-amazon-emr-managed-policies": "true",
        "lake:domain": "moma",
        "lake:dag": "moma_full_load",
        "lake:run": run.key,
        "lake:release": run.summary["release"],
        "lake:environment": "local",
        "lake:deployment": "838da9417255941c",  # of s3://lake/runs
        "lake:max-hours": "24",
        "lake:run-id": run.key,
    }
    assert all(run.key in each["Name"] for each in run.steps)


def test_the_catalogue_has_every_table_of_every_engine(catalogue):
    assert set(catalogue) == {
        *("artists", "artists_changes", "artists_history"),
        *("works", "works_changes", "works_history"),
        *("artists_feed", "artists_feed_changes", "artists_feed_history"),
        *("artists_feed_ro", "artists_feed_history_ro"),
    }


@pytest.mark.parametrize("table", ["artists", "artists_feed", "artists_feed_ro"])
def test_the_catalogue_has_the_columns_of_current(catalogue, table):
    assert ARTIST.items() <= catalogue[table].items()


@pytest.mark.parametrize("table", ["artists_history", "artists_feed_history"])
def test_the_catalogue_has_the_columns_of_history(catalogue, table):
    assert (ARTIST | VERSION).items() <= catalogue[table].items()


def test_every_landed_row_is_accounted_for_in_every_report(loaded, killed, repaired):
    runs = (loaded.run, killed, repaired.run)
    reports = [each for run in runs for each in run.reports.values()]
    files = [file for report in reports for file in report["files"]]
    parts = ("accepted", "unchanged", "duplicates", "quarantined")
    assert len(files) >= 5
    for each in files:
        assert each["landed"] == sum(each[part] for part in parts), each


def test_the_full_load_accepts_every_artist(loaded):
    name = museum.FIRST.name
    expected = (14_769, 14_769, 0, 0, 0)
    assert loaded.run.files("full_load/artists") == [(name, *expected)]
    assert loaded.run.files("full_load/artists_feed") == [(f"load/{name}", *expected)]


def test_the_feed_holds_one_event_per_difference(killed):
    assert killed.files("prepare_incremental/artists_feed") == [
        ("changes/1.csv", 670, 670, 0, 0, 0)
    ]


def test_a_snapshot_is_accounted_for_by_what_became_of_its_rows(repaired):
    assert repaired.run.files("incremental/works")[1:] == [(MAY, 202, 2, 198, 1, 1)]


def test_the_summary_holds_the_reports(loaded):
    for name, report in loaded.run.reports.items():
        stage, table = name.split("/")
        assert loaded.run.summary["tables"][table][stage] == report


def test_the_ledger_tells_every_run_and_what_its_tables_took(
    lake, loaded, killed, repaired
):
    runs = _first_column(lake.command("cost", "--csv").out)
    assert {loaded.run.name, killed.name, repaired.run.name, "all"} <= runs
    tables = _first_column(lake.command("cost", "--by", "table", "--csv").out)
    assert {"moma.artists", "moma.artists_feed", "moma.works"} <= tables


def _first_column(text):
    return {line.split(",")[0] for line in text.splitlines()}
