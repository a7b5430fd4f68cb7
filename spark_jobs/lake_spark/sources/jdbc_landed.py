"""Rows of a pull by a cursor, compared with what earlier pulls landed.

Rows that were landed as they are now are left out. Rows of a load that only have a
column more than it had go to the load.
"""

from __future__ import annotations

from datetime import datetime, timezone
from functools import reduce
from operator import and_
from typing import Any, Iterable, List, Optional, Tuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lake_spec.model import Engine, Feed, FileTable, JdbcChanges
from lake_spec.text.schema_json import plain_schema
from lake_spark.landing.files import list_landing
from lake_spark.sources.jdbc_bookmark import Landed, Value
from lake_spark.sources.staging_folder import folder_at
from lake_spark.sources.write_files import FORMAT
from lake_spark.tables.table_run import FileRun


def lands_in_load(spec: FileTable) -> bool:
    """Return whether rows of a load that are read again are landed as its rows."""
    changes, source = spec.changes_from, spec.source
    if not isinstance(changes, JdbcChanges) or not isinstance(source, Feed):
        return False
    if source.load_from is None or spec.engine is Engine.STREAMER:
        return False
    load = (source.load_from.connection, source.load_from.table)
    return load == (changes.connection, changes.table)


def columns_of(run: FileRun, pulls: Iterable[Landed]) -> Tuple[str, ...]:
    """Return the columns that pulls landed."""
    names: List[str] = []
    for each in pulls:
        schema = _schema(run, each)
        names += schema.names if schema is not None else []
    return tuple(dict.fromkeys(names))


def less(
    rows: DataFrame,
    run: FileRun,
    pulls: Iterable[Landed],
    cursor: str,
    start: Value,
) -> DataFrame:
    """Return the rows that those pulls did not land as they are now."""
    for each in pulls:
        earlier = _landed(rows, run, each)
        if earlier is None:
            continue
        names = [name for name in rows.columns if name in earlier.columns]
        column = next((n for n in names if n.lower() == cursor.lower()), None)
        if column and earlier.schema[column].dataType.typeName() != "string":
            earlier = earlier.where(F.col(_quoted(column)) >= F.lit(_literal(start)))
        rows = rows.join(earlier, _are_equal(rows, earlier), "left_anti")
    return rows


def split(
    rows: DataFrame, run: FileRun, loads: Iterable[Landed]
) -> Tuple[Optional[DataFrame], DataFrame]:
    """Return the rows that those loads landed with fewer columns, and the others."""
    again, others = None, rows
    for each in loads:
        earlier = _landed(rows, run, each, with_fewer=True)
        if earlier is None:
            continue
        found = others.join(earlier, _are_equal(others, earlier), "left_semi")
        again = found if again is None else again.unionByName(found)
        others = others.join(earlier, _are_equal(others, earlier), "left_anti")
    return again, others


def _are_equal(rows: DataFrame, earlier: DataFrame) -> Column:
    """Return the condition that rows have the same values in the columns of both."""
    pairs: List[Column] = [
        rows[_quoted(name)].eqNullSafe(earlier[_quoted(name)])
        for name in rows.columns
        if name in earlier.columns
    ]
    return reduce(and_, pairs)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _literal(value: Value) -> Any:
    return value.replace(tzinfo=timezone.utc) if isinstance(value, datetime) else value


def _schema(run: FileRun, pull: Landed) -> Optional[StructType]:
    """Return the columns that a pull landed; None if it is not there any more."""
    facts = folder_at(run, pull.path).facts()
    if facts is None:
        return None
    said = plain_schema(facts["schema"], f"{run.landing}/{pull.path}")
    return StructType.fromJson(said)


def _landed(
    rows: DataFrame, run: FileRun, pull: Landed, *, with_fewer: bool = False
) -> Optional[DataFrame]:
    """Return what a pull landed, where it is there and can be compared with rows of now.

    It can where it has the same columns, or more: a row read again without a column
    that the source no longer has is not another row, and would only lose its value.
    Else its rows land once more. `with_fewer` asks for a pull that has fewer instead.
    """
    schema = _schema(run, pull)
    if schema is None:
        return None
    kinds = {each.name: each.dataType for each in schema}
    now = {each.name: each.dataType for each in rows.schema}
    common = [name for name in now if name in kinds]
    gone, new = set(kinds) - set(now), set(now) - set(kinds)
    if any(kinds[n] != now[n] for n in common) or not common:
        return None
    if bool(new and not gone) is not with_fewer:
        return None
    files = list_landing(run.store, run.landing, [f"{pull.path}/*"])
    if not files:
        return None
    reader = run.spark.read.schema(schema).options(**FORMAT)
    reader = reader.option("__globPaths__", "false")
    return reader.format(run.spec.source.format.type).load([f.uri for f in files])
