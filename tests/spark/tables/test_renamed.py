"""A renamed or moved table goes on as what it was: nothing is loaded again, nobody comes back.

The table `tests.things` becomes `tests.parts`, or `moved.parts`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from lake_spec.model.choices import ReadableAs
from lake_spec.state.lease import Lease, lease_uri
from lake_spark.stages import renamed
from lake_spark.tables.entry_owner import FOLDER
from tests.spark.erasing import erased
from tests.spark.lake import Lake, table

SPEC = """
source:
  kind: feed
  path: tests/things
  load: "load/**"
  changes: "changes/**"
  format: {type: csv}
  operation: {column: op}
columns: {id: int, note: string, seq: int, at: timestamp}
key: [id]
order_by: [at, seq]
history: {surrogate_key: {kind: increasing}}
checks: [{kind: unique, columns: [note]}]
profile: weekly
storage: {buckets: 1}
"""
LOAD = "id,note,seq,at\n1,a,1,2026-01-01\n2,b,1,2026-01-01\n"
NEW = "op,id,note,seq,at\nU,2,b2,2,2026-01-02\nU,3,c,1,2026-01-02\nU,1,back,9,2026-01-09\n"


def called(lake: Lake, name: str) -> Lake:
    """The same lake, its table under another name."""
    domain, _, table_name = name.partition(".")
    spec = replace(
        lake.spec, domain=domain, name=table_name, formerly=lake.spec.full_name
    )
    return Lake(lake.spark, lake.root, spec)


@pytest.fixture
def things(spark, tmp_path):
    """Loaded, and the first key erased, whose row a file brings back later."""
    lake = Lake(spark, tmp_path, table(SPEC))
    lake.land("load/1.csv", LOAD, at="2026-02-01")
    lake.done("full_load", "scd2")
    erased(lake, {"id": 1})
    return lake


def versions(lake: Lake):
    rows = lake.tables.history.read().orderBy("id", "valid_from")
    return [(r.id, r.note, r.version_key, r.is_current) for r in rows.collect()]


@pytest.mark.parametrize(
    "name", [pytest.param("tests.parts", marks=pytest.mark.nightly), "moved.parts"]
)
def test_history_goes_on_and_an_erased_key_stays_away(things, name):
    ((_, _, first, _),) = versions(things)
    commits = things.tables.current.last_instant("run")
    parts = called(things, name)
    parts.land("changes/1.csv", NEW, at="2026-02-02")
    parts.done("incremental", "scd2", "maintenance")
    assert parts.verify().error is None
    assert [row.id for row in parts.current.orderBy("id").collect()] == [2, 3]
    found = versions(parts)
    assert [(*each[:2], each[3]) for each in found] == [
        (2, "b", False),
        (2, "b2", True),
        (3, "c", True),
    ]
    assert found[0][2] == first and len({each[2] for each in found}) == 3
    assert parts.tables.current.keeps(commits)
    own = [each.name for each in (things.root / "warehouse").glob("*/parts")]
    assert own == []
    for kind in ("checks", "profiles"):
        names = [f.name for f in (things.root / "runs" / kind).rglob("*.json")]
        assert names == ["things.json"], kind
    note = json.loads((things.root / "warehouse/tests/things/name.json").read_text())
    assert note["name"] == name


@pytest.mark.nightly
def test_a_release_of_before_goes_on_with_it_and_the_new_one_after_that(things):
    parts = called(things, "tests.parts")
    parts.done("incremental", "scd2")
    things.land("changes/1.csv", NEW, at="2026-02-02")
    things.done("incremental", "scd2")
    parts.done("incremental", "scd2")
    assert parts.verify().error is None
    assert parts.current.count() == 2


@pytest.mark.nightly
def test_a_new_name_with_rows_of_its_own_is_refused(things):
    parts = called(things, "tests.parts")
    other = Lake(things.spark, things.root, replace(parts.spec, formerly=None))
    other.done("full_load")
    report = parts.run("incremental")
    assert report.error["type"] == "TwoTables"
    for words in ("warehouse/tests/parts/", "warehouse/tests/things/", "tests.things"):
        assert words in report.error["message"]


@pytest.mark.nightly
def test_a_moved_table_waits_for_a_run_of_its_former_domain(things):
    parts = called(things, "moved.parts")
    uri = lease_uri(things.environment.runs, "tests")
    for holder, kind in (("tests_incremental/1", "FormerDomainBusy"), (None, None)):
        text = json.dumps(Lease(holder, 7).to_data())
        things.store.write(uri, text.encode())
        report = parts.run("incremental")
        assert (report.error or {}).get("type") == kind
    things.store.write(uri, json.dumps(Lease("tests_erase/2", 8).to_data()).encode())
    assert parts.run("incremental").error is None, "it is its own domain's table now"


class Missing(Exception):
    """Glue's word for what is not there."""


class Glue:
    """Entries by database and name."""

    exceptions = SimpleNamespace(EntityNotFoundException=Missing)

    def __init__(self, **entries):
        self.entries = {tuple(name.split("__")): each for name, each in entries.items()}

    def get_table(self, *, DatabaseName, Name):
        try:
            return {"Table": self.entries[DatabaseName, Name]}
        except KeyError:
            raise Missing(Name) from None

    def update_table(self, *, DatabaseName, TableInput, VersionId):
        assert VersionId == "3"
        assert not {"DatabaseName", "CreateTime", "VersionId"} & {*TableInput}
        self.entries[DatabaseName, TableInput["Name"]] = TableInput

    def delete_table(self, *, DatabaseName, Name):
        del self.entries[DatabaseName, Name]


def entry(name, home):
    ours = {"Name": name, "Description": "old", "Parameters": {FOLDER: home, "a": "b"}}
    return {**ours, "DatabaseName": "tests", "CreateTime": 1, "VersionId": "3"}


def test_old_names_in_the_catalogue_lead_to_the_new_ones(spark, tmp_path):
    spec = table(SPEC)
    spec = replace(
        spec, storage=replace(spec.storage, readable_as=(ReadableAs.ICEBERG,))
    )
    parts = called(Lake(spark, tmp_path, spec), "moved.parts")
    run, home = parts.tables, parts.tables.home
    iceberg = ReadableAs.ICEBERG.database_of("tests")
    glue = Glue(
        tests__things=entry("things", home),
        tests__things_history=entry("things_history", home),
        tests__things_changes=entry("things_changes", "s3://of/others"),
        **{f"{iceberg}__things": entry("things", home)},
    )
    renamed._retire(glue, run)
    found = glue.entries
    assert found["tests", "things"]["Description"].startswith("Renamed to moved.parts.")
    history = found["tests", "things_history"]
    assert history["Parameters"] == {
        FOLDER: home,
        "a": "b",
        renamed.RENAMED: "moved.parts_history",
    }
    assert found["tests", "things_changes"]["Description"] == "old"
    assert (iceberg, "things") not in found
