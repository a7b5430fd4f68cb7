"""Tables that an earlier release published: Iceberg's metadata in Hudi's folder, a Delta log
that any writer takes for its own. They move with the next version, and nobody loses a row.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path

import pytest

from lake_spec.model.choices import ReadableAs
from lake_spark.publish import delta, iceberg
from lake_spark.storage.object_store import FolderStore
from tests.spark.lake import Lake
from tests.spark.publish.readers import (
    as_text,
    delta_folder,
    delta_versions,
    iceberg_file,
    iceberg_folder,
    iceberg_metadata,
    iceberg_rows,
    iceberg_snapshots,
)
from tests.spark.publish.test_kept_in_step import agree, erased, SPEC, stored, change

CURRENT = "current"


@contextmanager
def earlier_release(monkeypatch):
    """Publish as releases before did."""
    former = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}
    with monkeypatch.context() as earlier:
        earlier.setattr(iceberg, "iceberg_location", str)
        earlier.setattr(delta, "protocol", lambda: former)
        earlier.setattr(delta, "DELTA_WRITER_FEATURE", None)
        yield


@pytest.fixture
def lake(spark, tmp_path, monkeypatch) -> Lake:
    """A lake of two commits that an earlier release published, its log with a checkpoint."""
    monkeypatch.setattr(delta, "CHECKPOINT_EACH", 1)
    made = Lake(spark, tmp_path, SPEC)
    made.land("load/1.csv", "id,name,at\na,x,2026-01-01\nb,y,2026-01-01\n")
    with earlier_release(monkeypatch):
        made.done("full_load", "scd2")
        change(made, 1)
        made.done("incremental", "scd2")
    return made


def former(lake: Lake) -> Path:
    """Where an earlier release put Iceberg's metadata of current."""
    return Path(lake.tables.current.path[len("file://") :]) / "metadata"


def protocols(lake: Lake) -> list:
    """The features of writers that each version of current's Delta log asks for."""
    files = sorted(delta_folder(lake.tables.current.path).glob("*.json"))
    actions = [json.loads(line) for f in files for line in f.read_text().splitlines()]
    found = [each["protocol"] for each in actions if "protocol" in each]
    return [each.get("writerFeatures") for each in found]


@pytest.mark.nightly
def test_the_next_commit_moves_a_table_and_keeps_its_snapshots(lake):
    path = lake.tables.current.path
    assert protocols(lake) == [None] and not iceberg_folder(path).exists()
    older = json.loads(max(former(lake).glob("v*.json")).read_text())
    then, _ = older["snapshots"]
    change(lake, 2)
    lake.done("incremental", "scd2")
    agree(lake)
    kept = list(iceberg_snapshots(path))
    assert len(kept) == len(delta_versions(path)) == 3
    assert iceberg_snapshots(path)[kept[0]] == then["snapshot-id"]
    of_hudi = lake.tables.current.read_as_of(kept[0])
    wanted = as_text(of_hudi.select("id", "name", "at"))
    assert (
        as_text(iceberg_rows(lake.spark, path, kept[0]).select("id", "name", "at"))
        == wanted
    )
    assert iceberg_metadata(path)["location"].endswith("/things/iceberg/current")
    assert protocols(lake)[-1] == ["appendOnly", "invariants", "lakeHudi"]


@pytest.mark.nightly
def test_a_run_with_nothing_new_moves_a_table_once(lake):
    lake.done("incremental", "scd2")
    agree(lake)
    path = lake.tables.current.path
    assert protocols(lake) == [None, ["appendOnly", "invariants", "lakeHudi"]]
    assert iceberg_file(path).name == "v3.metadata.json", "its number goes on"
    named = [each["metadata-file"] for each in iceberg_metadata(path)["metadata-log"]]
    assert named[-1].endswith("/current/metadata/v2.metadata.json")
    before = lake.files()
    lake.done("incremental", "scd2")
    assert lake.files() == before


@pytest.mark.nightly
def test_who_looks_for_the_newest_version_in_the_old_place_finds_none(lake):
    assert (former(lake) / "version-hint.text").exists()
    lake.done("incremental", "scd2")
    assert not (former(lake) / "version-hint.text").exists()
    assert list(former(lake).glob("v*.metadata.json")), "for those who were given it"


@pytest.mark.nightly
def test_a_kill_while_a_table_moves_is_healed_by_the_next_run(lake, monkeypatch):
    create = FolderStore.create

    def dies(store, uri, content):
        if "/iceberg/" in uri:
            raise OSError("killed")
        return create(store, uri, content)

    with monkeypatch.context() as killed:
        killed.setattr(FolderStore, "create", dies)
        assert lake.run("incremental").error["type"] == "OSError"
    lake.done("incremental", "scd2")
    agree(lake)
    assert len(iceberg_snapshots(lake.tables.current.path)) == 2


@pytest.mark.nightly
def test_what_older_snapshots_name_goes_with_them(lake, monkeypatch):
    monkeypatch.setattr(iceberg, "KEPT_METADATA", 1)
    for number in range(2, 6):
        change(lake, number)
        lake.done("incremental", "scd2")
    assert list(former(lake).iterdir())
    lake.done("maintenance")
    agree(lake)
    assert visible(former(lake)) == []


def visible(folder: Path) -> list:
    """Files of a folder but for the checksums of the local disk."""
    return [each.name for each in folder.glob("*") if each.name[0] != "."]


def test_an_erase_leaves_nothing_in_the_old_place(lake):
    lake.done("incremental", "scd2")
    erased(lake, {"id": "a"})
    agree(lake)
    assert visible(former(lake)) == []


@pytest.mark.nightly
def test_formats_that_are_asked_for_no_more_go_from_the_old_place_too(lake):
    lake.spec = stored(SPEC, readable_as=(ReadableAs.DELTA,))
    lake.domain = (lake.spec,)
    lake.done("maintenance")
    assert visible(former(lake)) == []


def test_metadata_that_another_tool_put_there_is_left_alone(spark, tmp_path):
    bare = stored(SPEC, readable_as=())
    lake = Lake(spark, tmp_path, bare)
    lake.land("load/1.csv", "id,name,at\na,x,2026-01-01\n")
    lake.done("full_load", "scd2")
    folder = Path(lake.tables.current.path[len("file://") :])
    theirs = {
        folder / "metadata/v1.metadata.json": json.dumps({"snapshots": [{}]}),
        folder / "_delta_log/00000000000000000000.json": '{"protocol":{}}\n',
    }
    for file, text in theirs.items():
        file.parent.mkdir()
        file.write_text(text)
    lake.done("maintenance")
    lake.spec = SPEC
    lake.domain = (SPEC,)
    report = lake.run("incremental")
    assert report.error["type"] == "NotPublished"
    assert "metadata that was not published from here" in report.error["message"]
    assert {file: file.read_text() for file in theirs} == theirs
