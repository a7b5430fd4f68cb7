"""The tables in the Glue catalogue with their partitions, registered through boto3.

Nothing is changed where the catalogue already says the same: every update makes
a version, and Glue keeps a limited number.
"""

from __future__ import annotations

from typing import Any, Dict, List, Sequence, Tuple

from pyspark.sql.types import StructType

from lake_spec.hudi.options import READ_OPTIMIZED
from lake_spec.layout.glue_names import RO, glue_name
from lake_spec.model import TableType
from lake_spark.storage.committed_table import CommittedTable
from lake_spark.storage.hudi_table import HudiTable
from lake_spark.storage.parquet_table import ParquetTable
from lake_spark.tables.entry_owner import (
    FOLDER,
    refuse_other,
    refuse_others,
    with_theirs,
)
from lake_spark.tables.glue_partitions import (
    Partitions,
    Values,
    partition_input,
    values_of,
)
from lake_spark.tables.plain_catalog import entry_of
from lake_spark.tables.table_run import Table, TableRun

_HADOOP = "org.apache.hudi.hadoop."
_INPUT = {
    "snapshot": _HADOOP + "HoodieParquetInputFormat",
    "realtime": _HADOOP + "realtime.HoodieParquetRealtimeInputFormat",
}
_OUTPUT = "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat"
_SERDE = "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"

_OUR_PARAMETERS = ("spark.sql.sources.", "projection.", "storage.location.template")
"""Parameters of entries that no one else sets, by how their names begin."""

REGISTERED = ("changes", "current", "history")
"""The layers that the catalogue knows."""

LONGEST_PROPERTY = 4000
"""Characters of a property's value, as of Spark and of Hudi's sync."""


def register(run: TableRun) -> None:
    """Make database and tables known, or bring their columns up to date."""
    if not run.home.startswith("s3://"):
        return  # a folder of a test has no catalogue
    if run.earlier.is_registered and not run.report.commits:
        return
    run.check_lease()
    glue = glue_client(run.environment.region)
    database(glue, run.spec.domain, run.spec.description)
    register_tables(glue, run)


def register_tables(glue: Any, run: TableRun) -> None:
    """Make the layers of a table known that have a commit."""
    for name, table, query in registered_tables(run):
        if not table.has_data():
            continue
        wanted = table_input(run, name, table, query)
        if isinstance(table, ParquetTable):
            _table(glue, run, entry_of(table, wanted), {})
        else:
            _table(glue, run, wanted, partition_inputs(table, wanted))


def refuse_names_of_others(run: TableRun) -> None:
    """Raise ForeignTable where the catalogue has another table or view of a name of ours.

    Looked at before the first commit: later ones find what they registered.
    """
    if not run.home.startswith("s3://"):
        return
    labels = [label for label, _, _ in registered_tables(run)]
    published = [
        glue_name(run.spec.name, each) for each in REGISTERED if each in run.layers
    ]
    names = [(run.spec.domain, label) for label in labels]
    for kind in run.spec.storage.formats:
        database = kind.database_of(run.spec.domain)
        names += [(database, label) for label in published]
    refuse_others(glue_client(run.environment.region), names, run.home)


def glue_client(region: str) -> Any:
    """Make a client of Glue in the region."""
    import boto3

    return boto3.client("glue", region_name=region)


def registered_tables(run: TableRun) -> List[Tuple[str, Table, str]]:
    """List the tables to register: name, table and its query type."""
    merged = run.spec.storage.type is TableType.MERGE_ON_READ
    tables = []
    for layer in REGISTERED:
        if layer not in run.layers:
            continue
        label, table = glue_name(run.spec.name, layer), run.table(layer)
        is_merged = merged and layer != "changes"
        tables.append((label, table, "realtime" if is_merged else "snapshot"))
        if is_merged:
            tables.append((label + RO, table, "snapshot"))
    return tables


def table_input(
    run: TableRun, name: str, table: CommittedTable, query: str
) -> Dict[str, Any]:
    """Return what Glue receives of a table, in the shape of its API.

    Of plain Parquet, what it would receive if the table were one of Hudi.
    """
    is_log = name == glue_name(run.spec.name, "changes")
    partitions = [] if is_log else list(run.spec.storage.partition_by)
    stored = table.stored_schema()
    columns = {each.name: each.dataType.simpleString() for each in stored}
    read_optimized = str(name.endswith(RO)).lower()
    return {
        "Name": name,
        "Description": run.spec.description,
        "Owner": run.spec.owner,
        "TableType": "EXTERNAL_TABLE",
        "PartitionKeys": [_column(run, n, columns[n]) for n in partitions],
        "Parameters": {
            "EXTERNAL": "TRUE",
            FOLDER: run.home,
            "spark.sql.sources.provider": "hudi",
            **spark_schema(stored, partitions),
        },
        "StorageDescriptor": {
            "Columns": [
                _column(run, n, k) for n, k in columns.items() if n not in partitions
            ],
            "Location": table.path,
            "InputFormat": _INPUT[query],
            "OutputFormat": _OUTPUT,
            "SerdeInfo": {
                "SerializationLibrary": _SERDE,
                "Parameters": {"path": table.path, READ_OPTIMIZED: read_optimized},
            },
        },
    }


def spark_schema(schema: StructType, partitions: Sequence[str]) -> Dict[str, str]:
    """Return the properties by which Spark knows a table's schema, as Hudi's sync does.

    Without them Spark makes a schema of the catalogue's columns and Hive's types.
    """
    ordered = [
        *(field for field in schema.fields if field.name not in partitions),
        *(schema[name] for name in partitions),
    ]
    text = StructType(ordered).json()
    parts = [
        text[first : first + LONGEST_PROPERTY]
        for first in range(0, len(text), LONGEST_PROPERTY)
    ]
    name = "spark.sql.sources.schema"
    properties = {f"{name}.numParts": str(len(parts))}
    properties.update({f"{name}.part.{n}": part for n, part in enumerate(parts)})
    if partitions:
        properties[f"{name}.numPartCols"] = str(len(partitions))
        properties.update({f"{name}.partCol.{n}": p for n, p in enumerate(partitions)})
    return properties


def partition_inputs(
    table: HudiTable, wanted: Dict[str, Any]
) -> Dict[Values, Dict[str, Any]]:
    """Return what Glue receives of each partition, by its values."""
    if not wanted["PartitionKeys"]:
        return {}
    folders, encoded = table.partitions()
    storage = wanted["StorageDescriptor"]
    found = {values_of(folder, encoded=encoded): folder for folder in folders}
    return {each: partition_input(each, found[each], storage) for each in found}


def _column(run: TableRun, name: str, kind: str) -> Dict[str, str]:
    declared = run.spec.column(name)
    column = {"Name": name.lower(), "Type": kind}
    if declared and declared.description:
        column["Comment"] = declared.description
    return column


def database(glue: Any, name: str, description: str) -> None:
    """Create it if it does not exist; else no right to create one is needed."""
    try:
        glue.get_database(Name=name)
        return
    except glue.exceptions.EntityNotFoundException:
        pass
    try:
        glue.create_database(DatabaseInput={"Name": name, "Description": description})
    except glue.exceptions.AlreadyExistsException:
        pass


def _table(
    glue: Any,
    run: TableRun,
    wanted: Dict[str, Any],
    partitions: Dict[Values, Dict[str, Any]],
) -> None:
    """Make it, or update it; a creation whose reply was lost has made it.

    Its partitions come after it is made, and before it is updated: where a run dies in
    between, the next one finds a table that differs, and repeats both.
    """
    registered = Partitions(glue, run.spec.domain, wanted["Name"])
    named = {"DatabaseName": run.spec.domain, "Name": wanted["Name"]}
    database = named["DatabaseName"]
    try:
        found = glue.get_table(**named)["Table"]
    except glue.exceptions.EntityNotFoundException:
        try:
            glue.create_table(DatabaseName=database, TableInput=wanted)
            found = wanted
        except glue.exceptions.AlreadyExistsException:
            found = glue.get_table(**named)["Table"]
    refuse_other(found, (database, wanted["Name"]), run.home)
    wanted = with_theirs(wanted, found, _OUR_PARAMETERS)
    is_same = all(same(found.get(name), value) for name, value in wanted.items())
    if wanted.get("PartitionKeys"):
        if not is_same:
            registered.update(partitions)
        registered.synchronise(partitions)
    if not is_same:
        glue.update_table(DatabaseName=database, TableInput=wanted)


def same(found: Any, wanted: Any) -> bool:
    """Return whether the catalogue says at least what we want it to say."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return all(same(found.get(name), value) for name, value in wanted.items())
    return bool(found == wanted)
