"""The published tables in the Glue catalogue: in a database for each format.

An entry is replaced only if it is still the one that was read, by its version.
"""

from __future__ import annotations

from typing import Any, Dict

from lake_spec.model.choices import ReadableAs
from lake_spark.errors import NotPublished
from lake_spark.publish.format import Format
from lake_spark.tables import catalog
from lake_spark.tables.table_run import TableRun

_NAMES = {"changes": "{}_changes", "current": "{}", "history": "{}_history"}
_TRIES = 3


def database_of(domain: str, kind: ReadableAs) -> str:
    """Return the database of a domain's tables in that format."""
    return f"{domain}_{kind.value}"


def register(run: TableRun, layer: str, kind: ReadableAs, form: Format) -> None:
    """Make the newest version of a table known."""
    if not run.home.startswith("s3://"):
        return  # a folder of a test has no catalogue
    glue = catalog.glue_client(run.environment.region)
    database = database_of(run.spec.domain, kind)
    wanted = entry(run, _NAMES[layer].format(run.spec.name), form)
    catalog.database(glue, database, run.spec.description)
    for _ in range(_TRIES):
        if _put(glue, database, wanted):
            return
    raise NotPublished(
        f"{database}.{wanted['Name']} in the Glue catalogue: another writer changed it "
        f"{_TRIES} times meanwhile. Start the run again."
    )


def entry(run: TableRun, name: str, form: Format) -> Dict[str, Any]:
    """Return what Glue receives of a table, in the shape of its API."""
    columns = [
        {"Name": field.name.lower(), "Type": field.dataType.simpleString()}
        for field in form.schema.fields
    ]
    return {
        "Name": name,
        "Description": run.spec.description,
        "Owner": run.spec.owner,
        "TableType": "EXTERNAL_TABLE",
        "Parameters": {"EXTERNAL": "TRUE", **form.glue_properties()},
        "StorageDescriptor": {
            "Columns": columns,
            "Location": form.table.path,
            "SerdeInfo": {"Parameters": {"path": form.table.path}},
        },
    }


def _put(glue: Any, database: str, wanted: Dict[str, Any]) -> bool:
    """Make or replace an entry; return False where another writer was first."""
    there = glue.exceptions
    try:
        found = glue.get_table(DatabaseName=database, Name=wanted["Name"])["Table"]
    except there.EntityNotFoundException:
        try:
            glue.create_table(DatabaseName=database, TableInput=wanted)
        except there.AlreadyExistsException:
            return False
        return True
    if catalog.same(found, wanted):
        return True
    try:
        glue.update_table(
            DatabaseName=database,
            TableInput=wanted,
            VersionId=found["VersionId"],
            SkipArchive=True,
        )
    except there.ConcurrentModificationException:
        return False
    return True
