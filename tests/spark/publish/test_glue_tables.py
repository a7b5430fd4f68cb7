"""The entries of published tables in Glue: made, brought up to date, never overwritten."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from pyspark.sql.types import IntegerType, MapType, StringType, StructType

from lake_spark.errors import NotPublished
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
        self.databases: list = []
        self.others = others

    def get_database(self, *, Name: str) -> None:
        if Name not in self.databases:
            raise EntityNotFoundException(Name)

    def create_database(self, *, DatabaseInput: dict) -> None:
        self.databases.append(DatabaseInput["Name"])

    def get_table(self, *, DatabaseName: str, Name: str) -> dict:
        if (DatabaseName, Name) not in self.tables:
            raise EntityNotFoundException(Name)
        return {"Table": self.tables[DatabaseName, Name]}

    def create_table(self, *, DatabaseName: str, TableInput: dict) -> None:
        named = (DatabaseName, TableInput["Name"])
        self.tables[named] = {**TableInput, "VersionId": "0"}

    def update_table(
        self, *, DatabaseName: str, TableInput: dict, VersionId: str, SkipArchive: bool
    ) -> None:
        named = (DatabaseName, TableInput["Name"])
        if self.others:
            self.others -= 1
            number = int(self.tables[named]["VersionId"]) + 1
            self.tables[named] = {**self.tables[named], "VersionId": str(number)}
        if self.tables[named]["VersionId"] != VersionId:
            raise ConcurrentModificationException(VersionId)
        self.tables[named] = {**TableInput, "VersionId": str(int(VersionId) + 1)}


KIND = MapType(StringType(), IntegerType())
RUN = SimpleNamespace(
    home="s3://l/moma/artists",
    environment=SimpleNamespace(region="eu-central-1"),
    spec=SimpleNamespace(
        domain="moma", name="artists", description="Artists", owner="museum"
    ),
)


def form(version: int) -> SimpleNamespace:
    """A published table at a version."""
    location = f"s3://l/moma/artists/history/metadata/v{version}.metadata.json"
    return SimpleNamespace(
        schema=StructType().add("Id", "integer").add("tags", KIND),
        table=SimpleNamespace(path="s3://l/moma/artists/history"),
        glue_properties=lambda: {
            "table_type": "ICEBERG",
            "metadata_location": location,
        },
    )


@pytest.fixture
def register(monkeypatch):
    """Register a version in a catalogue."""

    def of(glue, version):
        monkeypatch.setattr(catalog, "glue_client", lambda *_: glue)
        glue_tables.register(
            RUN, "history", SimpleNamespace(value="iceberg"), form(version)
        )
        return glue.tables["moma_iceberg", "artists_history"]

    return of


def test_an_entry_says_format_columns_and_the_newest_metadata(register):
    glue = Glue()
    made = register(glue, 1)
    assert glue.databases == ["moma_iceberg"]
    assert made["Parameters"]["table_type"] == "ICEBERG"
    assert made["Parameters"]["metadata_location"].endswith("/v1.metadata.json")
    assert made["StorageDescriptor"]["Columns"] == [
        {"Name": "id", "Type": "int"},
        {"Name": "tags", "Type": "map<string,int>"},
    ]
    assert register(glue, 1)["VersionId"] == "0", "the same is not written again"
    then = register(glue, 2)
    assert then["VersionId"] == "1"
    assert then["Parameters"]["metadata_location"].endswith("/v2.metadata.json")


def test_an_entry_that_another_writer_changed_meanwhile_is_read_again(register):
    glue = Glue(others=1)
    register(glue, 1)
    assert register(glue, 2)["VersionId"] == "2"


def test_an_entry_that_others_change_all_the_time_fails_the_run_by_name(register):
    glue = Glue(others=9)
    register(glue, 1)
    with pytest.raises(NotPublished, match="moma_iceberg.artists_history"):
        register(glue, 2)
