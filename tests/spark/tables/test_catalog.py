"""The Glue catalogue: its databases, and a commit that it does not hear of at once."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from pyspark.sql.types import StructType

from lake_spec.model import Column, Storage, TableType
from lake_spark.errors import ForeignTable
from lake_spark.tables import catalog
from lake_spark.tables.table_run import EarlierRounds
from tests.kinds import TABLE_TYPES
from tests.spark.lake import SNAPSHOTS, Lake, table
from tests.spark.stall import Stall

ORDERS = "U,1,10,2026-01-05,5,2026-01-05\nU,2,20,2026-01-15,7,2026-01-15\n"


class EntityNotFoundException(Exception):
    """Glue's word for what is not there."""


class AlreadyExistsException(Exception):
    """Glue's word for what is there."""


class Glue:
    """The databases that there are; `first` is made by another table meanwhile."""

    exceptions = SimpleNamespace(
        EntityNotFoundException=EntityNotFoundException,
        AlreadyExistsException=AlreadyExistsException,
    )

    def __init__(self, *names: str, first: str = "") -> None:
        self.names = list(names)
        self.first = first
        self.asked_to_make = 0

    def get_database(self, *, Name: str) -> None:
        if Name not in self.names:
            raise EntityNotFoundException(Name)

    def create_database(self, *, DatabaseInput: dict) -> None:
        self.asked_to_make += 1
        if DatabaseInput["Name"] == self.first:
            raise AlreadyExistsException(self.first)
        self.names.append(DatabaseInput["Name"])


@pytest.mark.parametrize(
    "glue, asked, names",
    [
        (Glue("moma"), 0, ["moma"]),
        (Glue("shop"), 1, ["shop", "moma"]),
        (Glue(first="moma"), 1, []),
    ],
    ids=["there", "missing", "made-meanwhile"],
)
def test_a_database_is_made_only_where_it_is_missing(glue, asked, names):
    catalog.database(glue, "moma", "The museum")
    assert (glue.asked_to_make, glue.names) == (asked, names)


@pytest.mark.parametrize(
    "commits, asked", [({}, 0), ({"current": "1"}, 1)], ids=["quiet", "commit"]
)
def test_a_quiet_round_of_a_continuous_run_asks_the_catalogue_nothing(
    monkeypatch, commits, asked
):
    glue = Glue()
    spec = SimpleNamespace(domain="moma", description="The museum")
    report = SimpleNamespace(commits=commits)
    run = SimpleNamespace(
        home="s3://l/t",
        environment=SimpleNamespace(region="eu-west-1"),
        earlier=EarlierRounds(is_registered=True),
        report=report,
        spec=spec,
        check_lease=lambda: None,
    )
    monkeypatch.setattr(catalog, "glue_client", lambda region: glue)
    monkeypatch.setattr(catalog, "registered_tables", lambda run: [])
    catalog.register(run)
    assert glue.asked_to_make == asked


class LosesReplies(Glue):
    """A catalogue that makes a table, and whose client then has to ask again."""

    def __init__(self, made: dict) -> None:
        super().__init__("moma")
        self.made = made
        self.tables: dict = {}

    def get_table(self, *, DatabaseName: str, Name: str) -> dict:
        if Name not in self.tables:
            raise EntityNotFoundException(Name)
        return {"Table": self.tables[Name]}

    def create_table(self, *, DatabaseName: str, TableInput: dict) -> None:
        self.tables[TableInput["Name"]] = self.made
        raise AlreadyExistsException(TableInput["Name"])

    def update_table(self, *, DatabaseName: str, TableInput: dict) -> None:
        self.tables[TableInput["Name"]] = TableInput


@pytest.mark.parametrize("owner", ["museum-data", "another"], ids=["ours", "old"])
def test_a_table_that_was_made_without_a_reply_is_registered(owner):
    wanted = {
        "Name": "artists",
        "Owner": "museum-data",
        "Parameters": {"EXTERNAL": "TRUE"},
        "StorageDescriptor": {"Location": "s3://l/moma/artists/current"},
    }
    glue = LosesReplies({**wanted, "Owner": owner, "CreateTime": "now"})
    spec = SimpleNamespace(domain="moma")
    run = SimpleNamespace(spec=spec, home="s3://l/moma/artists")
    catalog._table(glue, run, wanted, {})
    assert glue.tables["artists"]["Owner"] == "museum-data"


@pytest.mark.parametrize(
    "theirs",
    [
        {"TableType": "VIRTUAL_VIEW", "ViewOriginalText": "SELECT 1"},
        {"StorageDescriptor": {"Location": "s3://theirs/artists"}},
    ],
    ids=["view", "table"],
)
def test_an_entry_of_others_is_refused_and_left_as_it_is(theirs):
    wanted = {"Name": "artists", "Parameters": {}}
    glue = LosesReplies({})
    glue.tables["artists"] = dict(theirs)
    spec = SimpleNamespace(domain="moma")
    run = SimpleNamespace(spec=spec, home="s3://l/moma/artists")
    with pytest.raises(ForeignTable, match="moma.artists in the Glue catalogue is a"):
        catalog._table(glue, run, wanted, {})
    assert glue.tables == {"artists": theirs}


THINGS = SNAPSHOTS + """columns: {id: int, note: string}
key: [id]
storage: {buckets: 1}
"""


@pytest.mark.parametrize("stages", [("full_load",), ("full_load", "scd2")], ids=str)
def test_a_catalogue_that_is_down_after_a_commit_is_told_by_the_next_run(
    spark, tmp_path, monkeypatch, stages
):
    def down(run):
        raise ConnectionError("Glue does not answer")

    lake, registered = Lake(spark, tmp_path, table(THINGS)), []
    lake.land("2026-01-01.csv", "id,note\n1,a\n")
    lake.done(*stages[:-1])
    monkeypatch.setattr(catalog, "register", down)
    report = lake.run(stages[-1])
    assert report.state == "failed"
    assert report.error["message"] == "Glue does not answer"
    assert report.commits
    monkeypatch.setattr(catalog, "register", lambda run: registered.append(run))
    again = lake.run(stages[-1])
    assert (again.state, again.commits, len(registered)) == ("nothing_new", {}, 1)
    assert lake.living("note") == [(1, "a")]


class Catalogue(LosesReplies):
    """A catalogue in memory, with partitions; it counts what is asked to change."""

    def __init__(self) -> None:
        super().__init__({})
        self.partitions: dict = {}
        self.changes = 0

    def create_table(self, *, DatabaseName: str, TableInput: dict) -> None:
        self.update_table(DatabaseName=DatabaseName, TableInput=TableInput)

    def update_table(self, *, DatabaseName: str, TableInput: dict) -> None:
        self.changes += 1
        self.tables[TableInput["Name"]] = TableInput

    def get_paginator(self, name: str) -> SimpleNamespace:
        return SimpleNamespace(
            paginate=lambda TableName, **_: [
                {"Partitions": list(self.partitions.get(TableName, {}).values())}
            ]
        )

    def batch_create_partition(self, *, TableName, PartitionInputList, **_) -> dict:
        self.changes += 1
        mine = self.partitions.setdefault(TableName, {})
        mine.update({tuple(each["Values"]): each for each in PartitionInputList})
        return {}

    def batch_update_partition(self, *, TableName, Entries, **_) -> dict:
        self.changes += 1
        for each in Entries:
            values = tuple(each["PartitionValueList"])
            self.partitions[TableName][values] = each["PartitionInput"]
        return {}

    def folders(self, table: str) -> set:
        found = self.partitions[table].values()
        return {each["StorageDescriptor"]["Location"] for each in found}


PARTITIONED = SNAPSHOTS + """columns: {id: int, country: string, note: string}
key: [id]
storage: {buckets: 1, partition_by: [country]}
"""


@pytest.fixture
def catalogue(monkeypatch):
    """The catalogue of lakes in folders, whose addresses begin with s3: for this test."""
    found = Catalogue()

    monkeypatch.setattr(
        catalog, "register", lambda run: catalog.register_tables(found, run)
    )
    return found


def test_after_each_commit_partitions_are_the_folders(spark, tmp_path, catalogue):
    lake = Lake(spark, tmp_path, table(PARTITIONED))
    runs = [
        "id,country,note\n1,AT,a\n2,CH,b\n",
        "id,country,note\n1,A:T/x,a\n2,CH,b\n3,,c\n",
    ]
    for number, rows in enumerate(runs, 1):
        lake.land(f"2026-01-0{number}.csv", rows)
        lake.done("full_load" if number == 1 else "incremental", "scd2")
        for name, layer in (("things", "current"), ("things_history", "history")):
            home = tmp_path / "warehouse" / "tests" / "things" / layer
            folders = {f"file://{f}" for f in home.iterdir() if "=" in f.name}
            assert catalogue.folders(name) == folders
            assert len(folders) >= 2
    values = {each[0] for each in catalogue.partitions["things"]}
    assert {"AT", "CH", "A:T/x"} <= values
    assert "things_changes" not in catalogue.partitions
    before = catalogue.changes
    lake.done("scd2")
    assert catalogue.changes == before


def test_spark_reads_the_schema_from_the_properties(spark, tmp_path, catalogue):
    many = ", ".join(f"a_column_with_a_long_name_{n}: string" for n in range(70))
    text = PARTITIONED.replace("note: string", f"note: string, {many}")
    lake = Lake(spark, tmp_path, table(text))
    head = ",".join(f"a_column_with_a_long_name_{n}" for n in range(70))
    lake.land("2026-01-01.csv", f"id,country,note,{head}\n1,AT,a{',x' * 70}\n")
    lake.done("full_load")
    found = catalogue.tables["things"]["Parameters"]
    name = "spark.sql.sources.schema"
    count = int(found[f"{name}.numParts"])
    parts = [found[f"{name}.part.{n}"] for n in range(count)]
    assert count >= 2 and max(map(len, parts)) == 4000
    schema = StructType.fromJson(json.loads("".join(parts)))
    stored = lake.tables.current.read_stored().schema
    assert sorted(schema.names) == sorted(stored.names)
    # As Spark orders the columns of a partitioned table.
    assert schema.names[-1] == "country"
    assert schema["id"].dataType == stored["id"].dataType
    assert (found[f"{name}.numPartCols"], found[f"{name}.partCol.0"]) == (
        "1",
        "country",
    )


@pytest.mark.nightly
@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_a_product_has_the_entries_of_its_current_alone(
    spark, tmp_path, catalogue, kind
):
    stall = Stall(spark, tmp_path, ["enriched"])
    storage = Storage(type=kind, buckets=1, partition_by=("segment",))
    segment = Column("string", description="Segment at the time of the order")
    columns = {**dict(stall.lakes["enriched"].spec.columns), "segment": segment}
    described = tuple(columns.items())
    lake = stall.redefine("enriched", storage=storage, columns=described)
    stall.take(orders=ORDERS, customer="U,10,new,n,2026-01-01\n")
    catalogue.tables.clear()
    lake.done("product")
    merged = ["enriched_ro"] if kind is TableType.MERGE_ON_READ else []
    assert sorted(catalogue.tables) == ["enriched", *merged]
    wanted = catalogue.tables["enriched"]
    assert [each["Name"] for each in wanted["PartitionKeys"]] == ["segment"]
    assert wanted["PartitionKeys"][0]["Comment"] == "Segment at the time of the order"
    assert set(catalogue.partitions["enriched"]) == {("new",), ("Unknown",)}
    stall.take(customer="U,20,late,n,2026-01-02\n")
    lake.done("product")
    assert ("late",) in catalogue.partitions["enriched"]
    before = catalogue.changes
    lake.done("product")
    assert catalogue.changes == before


DESCRIBED = SNAPSHOTS + """columns:
  id: int
  note: {type: string, description: What was said}
key: [id]
storage: {buckets: 1}
"""


def test_columns_have_their_descriptions_as_comments(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(DESCRIBED))
    lake.land("2026-01-01.csv", "id,note\n1,a\n")
    lake.done("full_load")
    run = lake.tables
    wanted = catalog.table_input(run, "things", run.current, "snapshot")
    columns = wanted["StorageDescriptor"]["Columns"]
    assert {each["Name"]: each["Comment"] for each in columns if "Comment" in each} == {
        "note": "What was said"
    }
