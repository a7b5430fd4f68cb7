"""Published metadata follows Hudi whatever happens: kills, maintenance, rebuilds, erases."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Sequence

import pytest

from lake_spec.layout.published_tables import iceberg_location
from lake_spec.model import Maintenance, Storage
from lake_spec.model.choices import ReadableAs
from lake_spec.state.report import Report
from lake_spark.erasure import scan
from lake_spark.erasure.subjects import Subjects
from lake_spark.errors import KeysNotErased
from lake_spark.publish import iceberg, publication
from lake_spark.publish.delta import Delta
from lake_spark.publish.iceberg import Iceberg
from lake_spark.storage.hudi_table import without_hudi_columns
from tests.spark.erasing import CANARY, ask, erased, files_with, has_text
from tests.kinds import TABLE_TYPES, one_by_day
from tests.spark.lake import FEED_FILES, Lake, stored, table
from tests.spark.shop import DIMENSIONS, Shop, domain_of
from tests.spark.stall import Stall
from tests.spark.publish.readers import (
    as_text,
    delta_folder,
    delta_rows,
    delta_versions,
    iceberg_file,
    iceberg_folder,
    iceberg_metadata,
    iceberg_rows,
    iceberg_snapshots,
)

SPEC = table(FEED_FILES + """\
key: [id]
order_by: [at]
effective_at: at
columns: {id: string, name: string, at: timestamp}
storage: {buckets: 1, readable_as: [iceberg, delta]}
maintenance: {keep_commits: 3, compact_after: 1, cluster_after: 4}
""")
HEADER = "op,id,name,at\n"
LAYERS = ("changes", "current", "history")
FORMS = one_by_day([Iceberg, Delta])


def loaded(spark, root, spec=SPEC) -> Lake:
    lake = Lake(spark, root, spec)
    lake.land("load/1.csv", f"id,name,at\na,x,2026-01-01\n{CANARY},y,2026-01-01\n")
    lake.done("full_load", "scd2")
    return lake


def change(lake: Lake, number: int, header: str = HEADER, more: str = "") -> None:
    text = f"{header}U,a,name {number},2026-02-{number:02}{more}\n"
    lake.land(f"changes/{number}.csv", text)


def agree(lake: Lake, layers: Sequence[str] = LAYERS) -> None:
    """All formats have the newest commit, and its rows."""
    for layer in layers:
        stored_rows = lake.tables.table(layer)
        newest = stored_rows.last_commit().instant
        path, wanted = stored_rows.path, as_text(
            without_hudi_columns(stored_rows.read_stored())
        )
        for found, rows in (
            (iceberg_snapshots(path), iceberg_rows(lake.spark, path)),
            (delta_versions(path), delta_rows(lake.spark, path)),
        ):
            assert list(found)[-1] == newest, layer
            assert as_text(rows) == wanted, layer


def metadata_of(lake: Lake) -> dict:
    """Every published file with its time."""
    return {
        path: time
        for path, time in lake.files().items()
        if "/metadata/v" in path or "/_delta_log/" in path
    }


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.folder)
def test_a_kill_between_commit_and_publication_is_healed_by_the_next_run(
    spark, tmp_path, monkeypatch, form
):
    lake = loaded(spark, tmp_path)
    change(lake, 1)
    with monkeypatch.context() as killed:
        killed.setattr(
            form, "append", lambda *_: (_ for _ in ()).throw(OSError("killed"))
        )
        assert lake.run("incremental").error["type"] == "OSError"
    before = len(iceberg_snapshots(lake.tables.current.path))
    change(lake, 2)
    lake.done("incremental", "scd2")
    agree(lake)
    path = lake.tables.current.path
    assert list(iceberg_snapshots(path)) == list(delta_versions(path))
    assert len(iceberg_snapshots(path)) == 3 >= before, "a version for each commit"


@pytest.mark.nightly  # by day: a kill there, in tests/spark/whole_runs/test_readers.py
def test_a_kill_before_the_hint_for_readers_is_healed_by_a_run_with_nothing_new(
    spark, tmp_path
):
    lake = loaded(spark, tmp_path)
    change(lake, 1)
    lake.done("incremental", "scd2")
    (iceberg_folder(lake.tables.current.path) / "version-hint.text").write_text("1")
    lake.done("incremental")
    agree(lake)


@pytest.mark.nightly
def test_tables_of_an_older_version_are_published_too(spark, tmp_path):
    lake = loaded(spark, tmp_path, stored(SPEC, table_version=6))
    for number in range(1, 6):
        change(lake, number)
        lake.done("incremental", "scd2")
    lake.done("maintenance")
    agree(lake)


@pytest.mark.nightly
def test_a_dimension_is_published_with_its_tables(spark, tmp_path):
    specs = domain_of(tmp_path / "specs")
    domain = [stored(spec, readable_as=tuple(ReadableAs)) for spec in specs]
    shop = Shop(spark, tmp_path, domain)
    shop.land_customers("load/1.csv", "", ",1,Ann,2022-07-01\n,2,Bob,2022-07-01\n")
    shop.bring_up("full_load", "scd2")
    shop.land_customers("changes/1.csv", "", "U,1,Anne,2026-01-05\nD,2,,2026-01-06\n")
    shop.bring_up("incremental", "scd2")
    for name in DIMENSIONS:
        shop.lakes[name].done("maintenance")  # compacts the one that is merged on read
        agree(shop.lakes[name], ("current", "history"))
        path = shop.lakes[name].tables.history.path
        assert len(iceberg_snapshots(path)) == len(delta_versions(path)) == 2


@pytest.mark.nightly
@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_a_product_is_published_as_its_tables_are(spark, tmp_path, kind):
    stall = Stall(spark, tmp_path, ["enriched"])
    for name in stall.lakes:
        due = Maintenance(compact_after=1, cluster_after=4, keep_commits=3)
        storage = Storage(buckets=1, type=kind)
        stall.redefine(name, storage=storage, maintenance=due)
    storage = replace(storage, partition_by=("amount",), readable_as=tuple(ReadableAs))
    lake = stall.redefine("enriched", storage=storage)
    orders = "U,1,10,2026-01-05,5,2026-01-05\nU,2,20,2026-01-15,7,2026-01-15\n"
    people = f"U,10,new,n,2026-01-01\nU,20,{CANARY},n,2026-01-01\n"
    stall.take(orders=orders, customer=people)
    lake.done("product", "maintenance")
    agree(lake, ("current",))
    stall.take(orders="U,3,10,2026-01-06,9,2026-01-06\nD,1,,,,2026-01-20\n")
    lake.done("product", "maintenance")
    agree(lake, ("current",))
    before = metadata_of(lake)
    assert lake.run("product").state == "nothing_new"
    assert metadata_of(lake) == before != {}
    lake.done("rebuild_product", "maintenance")
    agree(lake, ("current",))
    customer = stall.lakes["customer"]
    erased(customer, {"id": "20"})
    lake.done("product")
    agree(lake, ("current",))
    assert files_with(customer, CANARY) == []


@pytest.mark.nightly
def test_a_run_with_nothing_new_writes_no_metadata(spark, tmp_path):
    lake = loaded(spark, tmp_path)
    was = metadata_of(lake)
    lake.done("incremental", "scd2")
    assert metadata_of(lake) == was != {}


@pytest.mark.nightly
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.folder)
def test_a_writer_that_was_first_with_the_same_number_is_not_overwritten(
    spark, tmp_path, form
):
    lake = loaded(spark, tmp_path)
    run = lake.tables
    published = publication._format(run, "current", run.current, FORMATS[form])
    late = published.newest()
    change(lake, 1)
    lake.done("incremental")
    run.current.forget()
    steps = publication._instants(run, "current", run.current).steps(late.instant)
    assert len(steps) == 1
    was = metadata_of(lake)
    assert published.append(late, steps) is False
    kept = {path: time for path, time in metadata_of(lake).items() if path in was}
    assert kept == was


FORMATS = {Iceberg: ReadableAs.ICEBERG, Delta: ReadableAs.DELTA}


@pytest.mark.nightly
def test_versions_end_with_the_files_that_a_cleaning_removes(spark, tmp_path):
    lake = loaded(spark, tmp_path)
    for number in range(1, 7):
        change(lake, number)
        lake.done("incremental", "scd2")
    held = iceberg_rows(spark, lake.tables.current.path)
    wanted = as_text(held)
    path = lake.tables.current.path
    assert len(iceberg_snapshots(path)) == len(delta_versions(path)) == 7
    lake.done("maintenance")
    assert len(iceberg_snapshots(path)) == len(delta_versions(path)) == 3
    for instant in iceberg_snapshots(path):
        found = as_text(iceberg_rows(spark, path, instant))
        assert found == as_text(delta_rows(spark, path, instant))
    assert as_text(held) == wanted, "a reader of before the run goes on"
    agree(lake)


@pytest.mark.nightly
def test_manifests_of_rewritten_files_are_one_and_those_of_a_log_grow(spark, tmp_path):
    lake = loaded(spark, tmp_path)
    for number in (1, 2, 3):
        change(lake, number)
        lake.done("incremental", "scd2")

    def manifests(layer: str) -> int:
        path = iceberg_location(lake.tables.table(layer).path)
        return spark.read.format("iceberg").load(f"{path}#manifests").count()

    counts = {layer: manifests(layer) for layer in LAYERS}
    assert counts == {"changes": 4, "current": 1, "history": 1}
    agree(lake)


@pytest.mark.nightly
def test_older_metadata_files_go_where_every_commit_is_kept(
    spark, tmp_path, monkeypatch
):
    monkeypatch.setattr(iceberg, "KEPT_METADATA", 2)
    lake = loaded(spark, tmp_path)
    for number in (1, 2, 3):
        change(lake, number)
        lake.done("incremental")
    path = lake.tables.current.path

    folder = iceberg_folder(path)

    def files() -> list:
        return sorted(each.name for each in folder.glob("v*.json"))

    assert files() == [f"v{n}.metadata.json" for n in (1, 2, 3, 4)]
    publication.publish(lake.tables, ("current",), keep_commits=30)
    assert files() == ["v3.metadata.json", "v4.metadata.json"]
    assert len(iceberg_snapshots(path)) == 4
    agree(lake, ("current",))


@pytest.mark.nightly
def test_a_new_column_has_a_new_id_and_a_rebuilt_table_is_one_overwrite(
    spark, tmp_path
):
    lake = loaded(spark, tmp_path)
    path = lake.tables.current.path
    before = {f["name"]: f["id"] for f in columns(path)}
    change(lake, 1, header="op,id,name,at,size\n", more=",5")
    lake.done("incremental", "scd2")
    after = {f["name"]: f["id"] for f in columns(path)}
    assert set(after) - set(before) == {"size"}
    assert {name: after[name] for name in before} == before
    assert after["size"] > max(before.values())
    agree(lake)
    lake.done("rebuild")
    agree(lake)
    assert {f["name"]: f["id"] for f in columns(path)} == after
    first = next(iter(iceberg_snapshots(path)))
    assert "size" not in iceberg_rows(spark, path, first).columns


def columns(path: str) -> list:
    metadata = iceberg_metadata(path)
    (schema,) = [
        each
        for each in metadata["schemas"]
        if each["schema-id"] == metadata["current-schema-id"]
    ]
    return schema["fields"]


@pytest.mark.nightly  # by day: test_an_erase_leaves_nothing_in_the_old_place of test_moved
@pytest.mark.parametrize("kind", TABLE_TYPES, ids=lambda kind: kind.value)
def test_an_erased_subject_is_in_no_metadata(spark, tmp_path, kind):
    spec = stored(SPEC, type=kind, partition_by=("name",))
    lake = loaded(spark, tmp_path, spec)
    change(lake, 1)
    lake.done("incremental", "scd2")
    erased(lake, {"id": CANARY})
    assert files_with(lake, CANARY) == []
    for layer in LAYERS:
        path = lake.tables.table(layer).path
        assert len(iceberg_snapshots(path)) == len(delta_versions(path)) == 1
        wanted = as_text(without_hudi_columns(lake.tables.table(layer).read_stored()))
        assert as_text(iceberg_rows(spark, path)) == wanted
        assert as_text(delta_rows(spark, path)) == wanted
    change(lake, 2)
    lake.done("incremental", "scd2", "maintenance")
    agree(lake)


@pytest.mark.nightly
def test_no_value_of_a_column_stands_in_metadata(spark, tmp_path):
    lake = loaded(spark, tmp_path)
    change(lake, 1)
    lake.done("incremental", "scd2", "maintenance")
    found = published_files(lake)
    assert {file.suffix for file in found} >= {".avro", ".json"}
    assert [file for file in found if has_text(spark, file, CANARY)] == []


def published_files(lake: Lake) -> list:
    """Every file of published metadata, of all layers."""
    paths = [lake.tables.table(layer).path for layer in LAYERS]
    places = [folder(path) for path in paths for folder in PUBLISHED]
    return [f for place in places for f in sorted(place.iterdir()) if f.name[0] != "."]


PUBLISHED = (iceberg_folder, delta_folder)


@pytest.mark.nightly
def test_the_description_of_a_table_is_in_both_formats_and_follows_the_spec(
    spark, tmp_path
):
    lake = loaded(spark, tmp_path)
    assert descriptions(lake) == (SPEC.description, SPEC.description)
    changed = replace(SPEC, description="Another text about the same rows")
    lake.spec, lake.domain = changed, (changed,)
    change(lake, 1)
    lake.done("incremental")
    assert descriptions(lake) == (changed.description, changed.description)
    agree(lake, ("current",))


def descriptions(lake: Lake) -> tuple:
    """What the newest metadata of Iceberg and of Delta says of current."""
    path = lake.tables.current.path
    logs = sorted(delta_folder(path).glob("*.json"))
    actions = [json.loads(line) for f in logs for line in f.read_text().splitlines()]
    heads = [each["metaData"] for each in actions if "metaData" in each]
    comment = iceberg_metadata(path)["properties"]["comment"]
    return comment, heads[-1]["description"]


def test_formats_that_are_asked_for_no_more_are_removed_by_maintenance(spark, tmp_path):
    lake = loaded(spark, tmp_path)
    lake.spec = stored(SPEC, readable_as=(ReadableAs.DELTA,))
    lake.domain = (lake.spec,)
    lake.done("maintenance")
    assert not list(iceberg_folder(lake.tables.current.path).glob("*.json"))
    assert delta_versions(lake.tables.current.path)


@pytest.mark.nightly
def test_a_table_that_was_there_before_is_published_as_of_its_newest_commit(
    spark, tmp_path
):
    lake = loaded(spark, tmp_path, stored(SPEC, readable_as=()))
    change(lake, 1)
    lake.done("incremental", "scd2")
    assert metadata_of(lake) == {}
    lake.spec = SPEC
    lake.domain = (SPEC,)
    lake.done("incremental", "scd2")
    agree(lake)
    assert len(iceberg_snapshots(lake.tables.current.path)) == 1


LONG_KEY = f"{CANARY}:0123456789-0123456789-Äö"
"""As long as a UUID: its length, which Avro writes before it, is a letter."""


@pytest.mark.nightly  # by day: test_an_erase_leaves_nothing_in_the_old_place of test_moved
def test_the_scan_of_an_erase_reads_every_file_of_published_metadata(spark, tmp_path):
    """Files that name the key come from a table that is partitioned by it."""
    lake = loaded(spark, tmp_path)
    lake.land("load/2.csv", f"id,name,at\n{LONG_KEY},x,2026-01-01\n")
    lake.done("full_load", "scd2")
    left = lake.root / "runs/tests_incremental/0/scd2/published/things/current/part"
    left.parent.mkdir(parents=True)
    left.write_text(LONG_KEY)  # of a checkpoint, by a run that was killed
    erased(lake, {"id": LONG_KEY})
    assert files_with(lake, LONG_KEY) == []
    run, subject = lake.tables, Subjects((LONG_KEY,), ((LONG_KEY,),))
    assert scan.scan_files(run, subject) > 0
    for place, content in planted(spark, tmp_path / "other").items():
        file = Path(run.home[len("file://") :]) / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        with pytest.raises(KeysNotErased, match=re.escape(place)):
            scan.scan_files(run, subject)
        file.unlink()
    assert scan.scan_files(run, subject) > 0


@pytest.mark.nightly
def test_the_scan_of_an_erase_reads_checkpoints_next_to_archived_commits(
    spark, tmp_path
):
    """Both have a column metadata: a struct of Delta's, and bytes of Hudi's."""
    lake = loaded(spark, tmp_path)
    run, subject = lake.tables, Subjects(("other-key",), (("other-key",),))
    report = Report("tests_erase/0", "test", "tests", "things", "erase", "pyspark")
    publication.begin_again(replace(run, report=report))
    folder = Path(run.current.path[len("file://") :])
    assert list(folder.glob("_delta_log/*.checkpoint.parquet"))
    history = folder / ".hoodie/timeline/history"
    history.mkdir(parents=True, exist_ok=True)
    (history / "archived.parquet").write_bytes(archived(spark, tmp_path))
    assert scan.scan_files(run, subject) > 0


def planted(spark, root: Path) -> dict:
    """Files of each kind of published metadata that have the key, by path."""
    lake = Lake(spark, root, stored(SPEC, partition_by=("id",)))
    lake.land("load/1.csv", f"id,name,at\n{LONG_KEY},x,2026-01-01\n")
    lake.done("full_load")
    report = Report("tests_erase/0", "test", "tests", "things", "erase", "pyspark")
    publication.begin_again(replace(lake.tables, report=report))  # as an erase does
    home = Path(lake.tables.home[len("file://") :])
    named = [
        file
        for folder in PUBLISHED
        for file in sorted(folder(lake.tables.current.path).iterdir())
        if file.name[0] != "." and has_text(spark, file, LONG_KEY)
    ]
    assert {kind_of(file.name) for file in named} == KINDS
    found = {
        f"{f.parent.relative_to(home)}/planted-{f.name}": f.read_bytes() for f in named
    }
    settings = json.loads(iceberg_file(lake.tables.current.path).read_text())
    settings["properties"]["comment"] = LONG_KEY
    return {
        **found,
        "iceberg/current/metadata/v99.metadata.json": json.dumps(settings).encode(),
        "current/.hoodie/timeline/history/planted.parquet": archived(spark, root),
    }


def archived(spark, root: Path) -> bytes:
    """A file of archived commits; its columns are like those of a checkpoint by name."""
    row = [("20260101000000000", bytearray(LONG_KEY.encode()))]
    table = spark.createDataFrame(row, "instantTime string, metadata binary")
    table.coalesce(1).write.parquet(f"file://{root}/archived")
    (file,) = (root / "archived").glob("*.parquet")
    return file.read_bytes()


KINDS = {"manifest", "manifest list", "Delta log", "checkpoint"}


def kind_of(name: str) -> str:
    if name.endswith(".avro"):
        return "manifest list" if name.startswith("snap-") else "manifest"
    return "checkpoint" if name.endswith(".parquet") else "Delta log"


@pytest.mark.nightly
def test_a_manifest_that_nobody_can_read_is_not_vouched_for(spark, tmp_path):
    lake = loaded(spark, tmp_path)
    run, subject = lake.tables, Subjects(("other-key",), (("other-key",),))
    assert scan.scan_files(run, subject) > 0
    folder = iceberg_folder(run.current.path)
    (folder / "half-m0.avro").write_bytes(b"Obj\x01")
    with pytest.raises(KeysNotErased, match="half-m0.avro"):
        scan.scan_files(run, subject)


def test_an_erase_of_a_table_whose_folders_are_named_by_its_key_is_refused(
    spark, tmp_path
):
    lake = loaded(spark, tmp_path, stored(SPEC, partition_by=("id",)))
    before = lake.files()
    report = lake.run("erase", request_uri=ask(lake, {"id": CANARY}))
    assert report.error["type"] == "NotErasable"
    assert "folders are named by the key" in report.error["message"]
    assert lake.files() == before
