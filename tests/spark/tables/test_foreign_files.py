"""A file that the pipeline did not write lies among those of a table, as writers of Delta put it.

Hudi cannot read the table then, or shows rows that no run wrote. The run says which file it
is and what to do; once the file is moved all goes on, and an erase vouches for the table
when the file is deleted.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from lake_spark.tables import foreign_files
from tests.spark.erasing import ask
from tests.spark.lake import Lake
from tests.spark.publish.test_kept_in_step import change, SPEC, stored

PART = "part-00001-7c1d8f5e-c000.snappy.parquet"
OF_DUCKDB = "duckdb_e18abff3-ff38-42c8-8e78-ead407090ba5_0.parquet"
"""Hudi reads the last 0 as the instant of a commit, before all others."""


@pytest.fixture
def lake(spark, tmp_path) -> Lake:
    made = Lake(spark, tmp_path, stored(SPEC, partition_by=("name",)))
    made.land("load/1.csv", "id,name,at\na,x,2026-01-01\nb,y,2026-01-01\n")
    made.done("full_load", "scd2")
    return made


def planted(lake: Lake, layer: str, name: str = PART) -> Path:
    """A Parquet file with a row of the table, as another writer would add it."""
    folder = Path(lake.tables.table(layer).path[len("file://") :])
    theirs = folder / name if layer == "changes" else folder / "name=x" / name
    ours, *_ = sorted(theirs.parent.glob("*.parquet"))
    theirs.write_bytes(ours.read_bytes())
    return theirs


@pytest.mark.parametrize(
    "stage, layer, name",
    [
        ("incremental", "current", OF_DUCKDB),
        pytest.param("incremental", "changes", PART, marks=pytest.mark.nightly),
        pytest.param("scd2", "history", PART, marks=pytest.mark.nightly),
        pytest.param("maintenance", "current", f".{PART}", marks=pytest.mark.nightly),
    ],
)
def test_a_run_names_the_file_and_goes_on_once_it_is_moved(lake, stage, layer, name):
    file = planted(lake, layer, name)
    change(lake, 1)
    report = lake.run(stage)
    assert report.error == {
        "type": "ForeignFiles",
        "message": f"file://{file}: Hudi did not write this, and takes it for rows of the "
        "table as long as it lies among the table's files. Run the DAG tests_maintenance "
        "with the param move_foreign_files, then start the run again.",
    }
    moved = lake.run("maintenance", foreign=foreign_files.move)
    assert moved.error is None and not file.exists()
    place = lake.root / "warehouse/tests/_moved/things"
    (warning,) = [each for each in moved.warnings if "ForeignFilesMoved" in str(each)]
    assert f"moved below file://{place}/: first file://{file}." in str(warning)
    (kept,) = place.rglob("*.parquet")
    assert kept.name == name
    lake.done("incremental", "scd2")
    assert lake.verify().error is None


def test_a_file_that_hudi_takes_for_no_rows_stops_no_run(lake):
    (Path(lake.tables.current.path[len("file://") :]) / "notes.txt").write_text(
        "theirs"
    )
    change(lake, 1)
    lake.done("incremental", "scd2", "maintenance")


@pytest.mark.nightly  # by day: test_a_run_names_the_file_and_goes_on_once_it_is_moved
@pytest.mark.parametrize(
    "place",
    [
        "current/name=x/notes.txt",
        "iceberg/current/data/0.parquet",
        "history/_temporary/0",
    ],
)
def test_an_erase_names_what_it_cannot_vouch_for_until_that_is_deleted(lake, place):
    file = lake.root / "warehouse/tests/things" / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"who knows")
    request = ask(lake, {"id": "a"})
    for uri in (file, lake.root / "warehouse/tests/_moved/things" / place):
        report = lake.run("erase", request_uri=request)
        assert report.error["type"] == "ForeignFiles"
        assert (
            f"It did not write file://{uri}, and nobody knows"
            in report.error["message"]
        )
        lake.run("maintenance", foreign=foreign_files.move)
    uri.unlink()
    assert lake.run("erase", request_uri=request).error is None


@pytest.mark.parametrize("marker", ["/", "_$folder$"], ids=["of-s3a", "of-emrfs"])
def test_objects_that_stand_for_folders_are_no_files(marker):
    """They stay where the last file of a folder was moved or deleted."""
    home, moved = (
        "s3://lake/tables/tests/things",
        "s3://lake/tables/tests/_moved/things",
    )
    folders = [f"{home}/iceberg/current/data/p=x", f"{home}/history/_temporary"]
    theirs = f"{home}/iceberg/current/data/p=x/0.parquet"
    found = {
        f"{home}/": [*(f"{each}{marker}" for each in folders), theirs],
        f"{moved}/": [f"{moved}/iceberg/current/data/p=x{marker}"],
    }
    listed = {
        prefix: [SimpleNamespace(uri=each) for each in uris]
        for prefix, uris in found.items()
    }
    run = SimpleNamespace(
        home=home,
        store=SimpleNamespace(list=listed.__getitem__),
        environment=SimpleNamespace(warehouse="s3://lake/tables"),
        spec=stored(SPEC),
    )
    assert foreign_files.among(run, found[f"{home}/"]) == [theirs]
    assert foreign_files.moved(run) == []
