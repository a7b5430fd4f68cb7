"""Entries of others in the Glue catalogue, under the names of ours and beside them.

Needs pyspark, for the types of columns; no session is started.
"""

from __future__ import annotations

from copy import deepcopy
from types import SimpleNamespace
from typing import Any, Dict, Iterator

from lake_spark.errors import ForeignTable
from lake_spark.publish import glue_tables
from lake_spark.tables import catalog
from lake_spark.tables.entry_owner import FOLDER
from lake_spec.model import ReadableAs

from tests.neighbour.scene import Beside, Seen
from tests.spark.publish.test_glue_tables import Glue, form

HOME = "s3://l/moma/artists"
DAYS = [{"Values": ["2026-01-01"]}, {"Values": ["2026-01-02"]}]
THEIRS: Dict[str, Dict[str, Any]] = {
    "moma.artists": {"TableType": "VIRTUAL_VIEW", "ViewOriginalText": "SELECT 1"},
    "moma.artists_history": {
        "StorageDescriptor": {"Location": "s3://theirs/artists", "Columns": []},
        "PartitionKeys": [{"Name": "day", "Type": "string"}],
        "Parameters": {"team": "theirs"},
    },
    "moma.artists_changes": {"StorageDescriptor": {"Columns": []}},
    "moma.sculptures": {"StorageDescriptor": {"Location": f"{HOME}_old/current"}},
    "moma_iceberg.artists": {
        "StorageDescriptor": {"Location": "s3://theirs/iceberg"},
        "Parameters": {"table_type": "ICEBERG", "metadata_location": "s3://theirs/m"},
    },
    "moma_iceberg.artists_history": {"TableType": "VIRTUAL_VIEW"},
    "moma_delta.artists": {"StorageDescriptor": {"Location": f"{HOME}2/current"}},
}
"""Entries, each by database and name."""
ENTRIES_OF_BEFORE = (
    ("moma", "artists", "current"),
    ("moma", "artists_history", "history"),
    ("moma_iceberg", "artists_history", "history"),
)
"""Database, name and layer of entries whose location was Hudi's folder, also Iceberg's."""
LAYERS = {
    "artists": "current",
    "artists_history": "history",
    "artists_changes": "changes",
}


class Catalogue(Glue):
    """One in which entries have partitions too."""

    def __init__(self) -> None:
        super().__init__()
        self.partitions: Dict[tuple, list] = {}

    def update_table(
        self, *, VersionId: str = "", SkipArchive: bool = False, **more: Any
    ) -> None:
        there = self.tables[more["DatabaseName"], more["TableInput"]["Name"]]
        version = VersionId or there["VersionId"]
        super().update_table(VersionId=version, SkipArchive=SkipArchive, **more)

    def get_paginator(self, _: str) -> Any:
        return SimpleNamespace(paginate=self._paginate)

    def _paginate(self, *, DatabaseName: str, TableName: str, **_: Any) -> list:
        return [{"Partitions": self.partitions.get((DatabaseName, TableName), [])}]

    def batch_create_partition(self, **_: Any) -> Dict[str, Any]:
        return {}

    def batch_update_partition(self, **_: Any) -> Dict[str, Any]:
        return {}

    def batch_delete_partition(
        self, *, DatabaseName: str, TableName: str, PartitionsToDelete: list
    ) -> Dict[str, Any]:
        there = self.partitions[DatabaseName, TableName]
        for each in PartitionsToDelete:
            there.remove(each)
        return {}


def _run() -> Any:
    """The run of a table with all layers, which is published in both formats."""
    layers = tuple(LAYERS.values())
    storage = SimpleNamespace(
        formats=(ReadableAs.ICEBERG, ReadableAs.DELTA), type=None, partition_by=("day",)
    )
    spec = SimpleNamespace(
        domain="moma",
        name="artists",
        description="Artists",
        owner="museum",
        storage=storage,
    )
    environment = SimpleNamespace(region="eu-central-1")
    made = SimpleNamespace(home=HOME, layers=layers, spec=spec, environment=environment)
    made.table = lambda layer: SimpleNamespace(path=f"{HOME}/{layer}")
    return made


def _wanted(name: str, place: str) -> Dict[str, Any]:
    """What a run asks Glue for."""
    return {
        "Name": name,
        "Parameters": {"EXTERNAL": "TRUE", FOLDER: HOME},
        "PartitionKeys": [{"Name": "day", "Type": "string"}],
        "StorageDescriptor": {"Location": place, "Columns": []},
    }


def _catalogue(beside: Beside) -> Catalogue:
    glue = Catalogue()
    beside.patch.setattr(catalog, "glue_client", lambda *_: glue)
    return glue


def under_names_of_ours(beside: Beside) -> Iterator:
    """Views and tables of others by the names that a run registers and publishes."""
    glue, run = _catalogue(beside), _run()
    for name, entry in THEIRS.items():
        database, _, table = name.partition(".")
        glue.create_table(
            DatabaseName=database, TableInput={**deepcopy(entry), "Name": table}
        )
    glue.partitions["moma", "artists_history"] = list(DAYS)

    def seen() -> Seen:
        entries = {
            ".".join(named): deepcopy(each) for named, each in glue.tables.items()
        }
        days = list(glue.partitions["moma", "artists_history"])
        return {
            **{name: entries.get(name) for name in THEIRS},
            **{f"partition {each['Values'][0]}": each in days for each in DAYS},
        }

    yield seen
    beside.refuses(
        "before the first commit", ForeignTable, catalog.refuse_names_of_others, run
    )
    for name, layer in LAYERS.items():
        wanted = _wanted(name, f"{HOME}/{layer}")
        beside.refuses(name, ForeignTable, catalog._table, glue, run, wanted, {})
    for layer, kind in (
        ("current", ReadableAs.ICEBERG),
        ("history", ReadableAs.ICEBERG),
        ("current", ReadableAs.DELTA),
    ):
        where = (run, layer, kind, form(1))
        beside.refuses(f"publish {layer}", ForeignTable, glue_tables.register, *where)
        beside.does(f"no longer publish {layer}", glue_tables.remove, *where)
    yield None


def on_entries_of_ours(beside: Beside) -> Iterator:
    """Parameters that others gave to entries of ours."""
    glue, run = _catalogue(beside), _run()
    note = {"team.note": "of another tool", "classification.owner": "theirs"}
    for name, place in (("artists", "current"), ("artists_history", "history")):
        entry = _wanted(name, f"{HOME}/{place}")
        there = {**entry, "Parameters": {**entry["Parameters"], **note}}
        glue.create_table(DatabaseName="moma", TableInput=there)
    published = {
        **_wanted("artists_history", f"{HOME}/iceberg/history"),
        "Parameters": dict(note),
    }
    glue.create_table(DatabaseName="moma_iceberg", TableInput=published)

    def seen() -> Seen:
        return {
            f"{'.'.join(named)}: {name}": entry["Parameters"].get(name)
            for named, entry in glue.tables.items()
            for name in note
        }

    yield seen
    for name, layer in list(LAYERS.items())[:2]:
        wanted = _wanted(name, f"{HOME}/{layer}")
        wanted["Description"] = "of today"
        beside.does(f"register {name}", catalog._table, glue, run, wanted, {})
        is_new = glue.tables["moma", name].get("Description") == "of today"
        beside.expects(f"{name} was not brought up to date", is_new)
    where = (run, "history", ReadableAs.ICEBERG, form(1))
    beside.does("publish", glue_tables.register, *where)
    yield None


def of_the_release_before(beside: Beside) -> Iterator:
    """Our entries without the parameter of the folder, Iceberg's at Hudi's own folder."""
    glue, run = _catalogue(beside), _run()
    theirs = ("moma", "sculptures")
    for database, name, layer in ENTRIES_OF_BEFORE:
        entry = {**_wanted(name, f"{HOME}/{layer}"), "Parameters": {"team.note": "t"}}
        glue.create_table(DatabaseName=database, TableInput=entry)
    other = {**deepcopy(THEIRS["moma.sculptures"]), "Name": theirs[1]}
    glue.create_table(DatabaseName=theirs[0], TableInput=other)
    yield lambda: {
        **{
            f"{database}.{name}: a note": glue.tables[database, name]["Parameters"].get(
                "team.note"
            )
            for database, name, _ in ENTRIES_OF_BEFORE
        },
        "moma.sculptures": deepcopy(glue.tables[theirs]),
    }
    for _ in range(2):
        beside.does("the look", catalog.refuse_names_of_others, run)
        for database, name, layer in ENTRIES_OF_BEFORE:
            if database == "moma":
                wanted = _wanted(name, f"{HOME}/{layer}")
                beside.does(name, catalog._table, glue, run, wanted, {})
        where = (run, "history", ReadableAs.ICEBERG, form(1))
        beside.does("publish", glue_tables.register, *where)
        for database, name, _ in ENTRIES_OF_BEFORE:
            entry = glue.tables[database, name]
            marks = (entry["Parameters"].get(FOLDER), entry["VersionId"])
            beside.expects(f"{database}.{name}: {marks}", marks == (HOME, "1"))
        off = glue.switched_off
        is_off = 0 < len(off) == len(set(off))
        beside.expects(f"switched off, each once: {off}", is_off)
    yield None


SCENES = (under_names_of_ours, on_entries_of_ours, of_the_release_before)
