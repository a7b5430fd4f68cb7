"""The published tables in the Glue catalogue: in a database for each format.

An entry is replaced only if it is still the one that was read, by its version.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Callable, Dict, List, Tuple

from pyspark.sql.types import StructField

from lake_spec.layout.glue_names import glue_name
from lake_spec.model.choices import ReadableAs
from lake_spark.errors import NotPublished
from lake_spark.publish import glue_optimizers
from lake_spark.publish.format import Format
from lake_spark.publish.schema import COMMENT
from lake_spark.tables import catalog
from lake_spark.tables.entry_owner import (
    FOLDER,
    refuse_other,
    remove_ours,
    with_theirs,
)
from lake_spark.tables.table_run import TableRun

_LOCATION, _PREVIOUS = "metadata_location", "previous_metadata_location"
_TRIES = 3
_OUR_PARAMETERS = (_LOCATION, _PREVIOUS, "table_type", "spark.sql.sources.")


def register(
    run: TableRun, layer: str, kind: ReadableAs, form: Format, *, look: bool = False
) -> None:
    """Make the newest version of a table known.

    Glue's own optimizers are switched off for an Iceberg table that is new there, or at
    another place; where asked to `look`, for one that is known too.
    """
    if not run.home.startswith("s3://"):
        return  # a folder of a test has no catalogue
    glue = catalog.glue_client(run.environment.region)
    database, name = _named(run, layer, kind)
    catalog.database(glue, database, run.spec.description)
    for _ in range(_TRIES):
        done = _put(glue, database, name, run.home, lambda: entry(run, name, form))
        if done is Done.AGAIN:
            continue
        if kind is ReadableAs.ICEBERG and (look or done is Done.PLACED):
            glue_optimizers.switch_off(run, glue, database, name)
        return
    raise NotPublished(
        f"{database}.{name} in the Glue catalogue: another writer changed it "
        f"{_TRIES} times meanwhile. Start the run again."
    )


def remove(run: TableRun, layer: str, kind: ReadableAs, form: Format) -> None:
    """Remove the entry of a table; leave one of its name that is at another place."""
    if not run.home.startswith("s3://"):
        return
    glue = catalog.glue_client(run.environment.region)
    remove_ours(glue, [_named(run, layer, kind)], run.home)


def entry(run: TableRun, name: str, form: Format) -> Dict[str, Any]:
    """Return what Glue receives of a table, in the shape of its API."""
    columns = [_column(field) for field in form.schema.fields]
    keys = [key.lower() for key in form.glue_partition_keys()]
    return {
        "Name": name,
        "Description": run.spec.description,
        "Owner": run.spec.owner,
        "TableType": "EXTERNAL_TABLE",
        "PartitionKeys": [
            each for key in keys for each in columns if each["Name"] == key
        ],
        "Parameters": {
            "EXTERNAL": "TRUE",
            FOLDER: run.home,
            **form.glue_properties(),
        },
        "StorageDescriptor": {
            "Columns": [each for each in columns if each["Name"] not in keys],
            "Location": form.location,
            # Lake Formation lends rights on these folders, in which the rows are.
            "AdditionalLocations": _places_of_rows(form),
            "SerdeInfo": {"Parameters": {"path": form.location}},
        },
    }


def _places_of_rows(form: Format) -> List[str]:
    return [] if form.location == form.table.path else [form.table.path]


def _column(field: StructField) -> Dict[str, str]:
    found = {"Name": field.name.lower(), "Type": field.dataType.simpleString()}
    comment = field.metadata.get(COMMENT)
    return {**found, "Comment": comment} if comment else found


def _named(run: TableRun, layer: str, kind: ReadableAs) -> Tuple[str, str]:
    return kind.database_of(run.spec.domain), glue_name(run.spec.name, layer)


class Done(Enum):
    """What became of an entry."""

    PLACED = "made, or led to another place"
    KEPT = "brought up to date where it was not"
    AGAIN = "left to another writer, who was first"


def _put(
    glue: Any, database: str, name: str, home: str, wanted: Callable[[], Dict[str, Any]]
) -> Done:
    """Make or replace an entry, unless another writer is first.

    What is wanted is looked up after the entry was read: a writer that was first has put
    its metadata before, so what replaces its entry is not older.
    """
    there = glue.exceptions
    try:
        found = glue.get_table(DatabaseName=database, Name=name)["Table"]
    except there.EntityNotFoundException:
        try:
            glue.create_table(DatabaseName=database, TableInput=wanted())
        except there.AlreadyExistsException:
            return Done.AGAIN
        return Done.PLACED
    refuse_other(found, (database, name), home)
    then = with_theirs(wanted(), found, _OUR_PARAMETERS)
    if catalog.same(found, then):
        return Done.KEPT
    before = found.get("Parameters", {}).get(_LOCATION)
    if before and _LOCATION in then["Parameters"]:
        then["Parameters"][_PREVIOUS] = before
    try:
        glue.update_table(
            DatabaseName=database,
            TableInput=then,
            VersionId=found["VersionId"],
            SkipArchive=True,
        )
    except there.ConcurrentModificationException:
        return Done.AGAIN
    place = found.get("StorageDescriptor", {}).get("Location")
    is_placed = place != then["StorageDescriptor"]["Location"]
    return Done.PLACED if is_placed else Done.KEPT
