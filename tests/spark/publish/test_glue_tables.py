"""The entries of published tables in Glue: made, brought up to date, never overwritten."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Callable, Optional

import pytest
from pyspark.sql.types import IntegerType, MapType, StringType, StructType

from lake_spec.model import ReadableAs
from lake_spark.errors import ForeignTable, NotPublished
from lake_spark.publish import glue_tables
from lake_spark.tables import catalog


class EntityNotFoundException(Exception):
    """Glue's word for what is not there."""


class AlreadyExistsException(Exception):
    """Glue's word for what is there."""


class ConcurrentModificationException(Exception):
    """Glue's word for an entry that has another version by now."""


class Glue:
    """A catalogue that counts versions; `others` write before so many of our updates."""

    exceptions = SimpleNamespace(
        EntityNotFoundException=EntityNotFoundException,
        AlreadyExistsException=AlreadyExistsException,
        ConcurrentModificationException=ConcurrentModificationException,
    )

    def __init__(self, others: int = 0) -> None:
        self.tables: dict = {}
        self.before_update = lambda: None
        self.databases: list = []
        self.switched_off: list = []
        self.others = others

    def get_database(self, *, Name: str) -> None:
        if Name not in self.databases:
            raise EntityNotFoundException(Name)

    def create_database(self, *, DatabaseInput: dict) -> None:
        self.databases.append(DatabaseInput["Name"])

    def get_table(self, *, DatabaseName: str, Name: str) -> dict:
        if (DatabaseName, Name) not in self.tables:
            raise EntityNotFoundException(Name)
        return {"Table": {**self.tables[DatabaseName, Name], "CatalogId": "1"}}

    def create_table(self, *, DatabaseName: str, TableInput: dict) -> None:
        named = (DatabaseName, TableInput["Name"])
        self.tables[named] = {**TableInput, "VersionId": "0"}

    def update_table(
        self, *, DatabaseName: str, TableInput: dict, VersionId: str, SkipArchive: bool
    ) -> None:
        named = (DatabaseName, TableInput["Name"])
        self.before_update()
        if self.others:
            self.others -= 1
            number = int(self.tables[named]["VersionId"]) + 1
            self.tables[named] = {**self.tables[named], "VersionId": str(number)}
        if self.tables[named]["VersionId"] != VersionId:
            raise ConcurrentModificationException(VersionId)
        self.tables[named] = {**TableInput, "VersionId": str(int(VersionId) + 1)}

    def batch_get_table_optimizer(self, *, Entries: list) -> dict:
        return {"TableOptimizers": []}

    def create_table_optimizer(self, *, DatabaseName, TableName, Type, **_) -> None:
        self.switched_off.append((DatabaseName, TableName, Type))

    def delete_table(self, *, DatabaseName: str, Name: str) -> None:
        del self.tables[DatabaseName, Name]


KIND = MapType(StringType(), IntegerType())
RUN = SimpleNamespace(
    home="s3://l/moma/artists",
    environment=SimpleNamespace(region="eu-central-1"),
    spec=SimpleNamespace(
        domain="moma", name="artists", description="Artists", owner="museum"
    ),
)


HUDI, PLACE = "s3://l/moma/artists/history", "s3://l/moma/artists/iceberg/history"
"""Where the rows are, and where readers of Iceberg look for the table."""


def location(version: int) -> str:
    return f"{PLACE}/metadata/v{version}.metadata.json"


def form(version: int, newest: Optional[Callable[[], int]] = None) -> SimpleNamespace:
    """A published table at a version, or at what is the newest when it is asked."""
    return SimpleNamespace(
        schema=StructType()
        .add("Id", "integer", metadata={"comment": "Number of the work"})
        .add("tags", KIND),
        table=SimpleNamespace(path=HUDI),
        location=PLACE,
        glue_partition_keys=lambda: (),
        glue_properties=lambda: {
            "table_type": "ICEBERG",
            "metadata_location": location(newest() if newest else version),
        },
    )


@pytest.fixture
def register(monkeypatch):
    """Register a version in a catalogue."""

    def of(glue, version, newest=None):
        monkeypatch.setattr(catalog, "glue_client", lambda *_: glue)
        glue_tables.register(RUN, "history", ReadableAs.ICEBERG, form(version, newest))
        return glue.tables["moma_iceberg", "artists_history"]

    return of


def test_an_entry_says_format_columns_and_the_newest_metadata(register):
    glue = Glue()
    made = register(glue, 1)
    assert glue.databases == ["moma_iceberg"]
    assert made["Parameters"]["table_type"] == "ICEBERG"
    assert made["Parameters"]["metadata_location"].endswith("/v1.metadata.json")
    assert made["Description"] == "Artists"
    assert made["PartitionKeys"] == []
    assert "previous_metadata_location" not in made["Parameters"]
    assert made["StorageDescriptor"]["Columns"] == [
        {"Name": "id", "Type": "int", "Comment": "Number of the work"},
        {"Name": "tags", "Type": "map<string,int>"},
    ]
    assert register(glue, 1)["VersionId"] == "0", "the same is not written again"
    then = register(glue, 2)
    assert then["VersionId"] == "1"
    assert then["Parameters"]["metadata_location"] == location(2)
    assert then["Parameters"]["previous_metadata_location"] == location(1)
    assert register(glue, 2)["VersionId"] == "1"


def test_of_two_writers_the_late_one_never_names_older_metadata(register):
    """The other one commits version 3 and its entry while this one writes of 2."""
    glue, committed = Glue(), [1]
    register(glue, 1)
    committed.append(2)

    def other():
        glue.before_update = lambda: None
        committed.append(3)
        register(glue, 3)

    glue.before_update = other
    found = register(glue, 2, newest=lambda: committed[-1])
    assert found["Parameters"]["metadata_location"] == location(3)


def test_partition_columns_of_a_delta_table_are_keys_and_not_columns():
    published = form(1)
    published.glue_partition_keys = lambda: ("Id",)
    made = glue_tables.entry(RUN, "artists", published)
    (key,) = made["PartitionKeys"]
    assert key == {"Name": "id", "Type": "int", "Comment": "Number of the work"}
    columns = made["StorageDescriptor"]["Columns"]
    assert columns == [{"Name": "tags", "Type": "map<string,int>"}]


def test_an_iceberg_table_has_a_location_without_rows_and_names_the_folder_that_has_them():
    made = glue_tables.entry(RUN, "artists", form(1))["StorageDescriptor"]
    assert made["Location"] == PLACE != HUDI
    assert made["AdditionalLocations"] == [HUDI]


def test_optimizers_are_switched_off_where_an_entry_is_new_or_was_at_another_place(
    register,
):
    glue = Glue()
    register(glue, 1)
    of_table = [("moma_iceberg", "artists_history")] * 3
    assert [each[:2] for each in glue.switched_off] == of_table
    register(glue, 2)
    assert len(glue.switched_off) == 3, "not at each commit"
    glue.tables["moma_iceberg", "artists_history"]["StorageDescriptor"] = {
        "Location": HUDI
    }
    register(glue, 3)
    assert len(glue.switched_off) == 6


@pytest.mark.parametrize(
    "place, noted, left",
    [
        (PLACE, None, 0),
        (HUDI, None, 0),  # of an earlier release
        ("s3://moved/table", "s3://l/moma/artists", 0),
        ("s3://other/table", None, 1),
    ],
)
def test_an_entry_is_removed_unless_it_is_of_others(
    monkeypatch, register, place, noted, left
):
    glue = Glue()
    made = register(glue, 1)
    made["StorageDescriptor"]["Location"] = place
    made["Parameters"]["lake.folder"] = noted or "s3://other"
    for _ in range(2):  # the second finds none where the first has removed it
        glue_tables.remove(RUN, "history", ReadableAs.ICEBERG, form(1))
    assert len(glue.tables) == left


def test_an_entry_of_others_is_refused_and_their_parameters_of_ours_stay(register):
    glue = Glue()
    made = register(glue, 1)
    made["Parameters"]["team"] = "theirs"
    made["Parameters"]["spark.sql.sources.provider"] = "of an earlier release"
    then = register(glue, 2)["Parameters"]
    assert then["team"] == "theirs" and "spark.sql.sources.provider" not in then
    glue.tables["moma_iceberg", "artists_history"]["TableType"] = "VIRTUAL_VIEW"
    with pytest.raises(ForeignTable, match="moma_iceberg.artists_history in the Glue"):
        register(glue, 3)


def test_an_entry_that_another_writer_changed_meanwhile_is_read_again(register):
    glue = Glue(others=1)
    register(glue, 1)
    assert register(glue, 2)["VersionId"] == "2"


def test_an_entry_that_others_change_all_the_time_fails_the_run_by_name(register):
    glue = Glue(others=9)
    register(glue, 1)
    with pytest.raises(NotPublished, match="moma_iceberg.artists_history"):
        register(glue, 2)
