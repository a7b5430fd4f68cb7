"""A subject's rows taken out of a table's Hudi tables, each by one commit."""

from __future__ import annotations

from typing import Dict, Iterator, Tuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lake_spec.hudi.options import Operation
from lake_spec.model import TableType
from lake_spark.erasure import quarantine
from lake_spark.erasure.subjects import Subjects
from lake_spark.landing.ingested_files import LogContents
from lake_spark.materialize import difference, layers
from lake_spark.scd2.current import CurrentLayer
from lake_spark.scd2.events import mark_events, Roles
from lake_spark.scd2.history import HistoryLayer
from lake_spark.schema.columns import typed
from lake_spark.schema.spark_types import with_types
from lake_spark.storage.commit_values import CommitValue
from lake_spark.storage.hudi_table import HudiTable, without_hudi_columns
from lake_spark.tables.table_run import FileRun, HUDI_LAYERS, table_columns


def begun(run: FileRun) -> Iterator[Tuple[str, HudiTable]]:
    """Yield every Hudi table that a table of the lake has, by the name of its folder.

    Also one whose first write was killed: it has no row, and files with rows.
    """
    for name in HUDI_LAYERS:
        table = run.hudi(name)
        if table.exists():
            yield name, table


def tables(run: FileRun) -> Iterator[Tuple[str, HudiTable]]:
    """Return those of them that have a commit."""
    return ((name, table) for name, table in begun(run) if table.has_data())


def held(run: FileRun, subjects: Subjects) -> Dict[str, int]:
    """Count the rows of the subjects that each Hudi table has."""
    counts = {}
    for name, table in tables(run):
        counts[name] = _rows(run, name, table, subjects).count()
    return counts


def _rows(run: FileRun, name: str, table: HudiTable, subjects: Subjects) -> DataFrame:
    if name == "quarantine":
        return quarantine.of(run, subjects, table.read())
    return subjects.of(table.read())


def erase(run: FileRun, subjects: Subjects) -> None:
    """Take the subjects' rows out of the log first, then out of what is made of it.

    Files of a table that had none of them are not touched.
    """
    for name, table in tables(run):
        if name in ("current", "history"):
            _from_derived(run, table, name, subjects)
        else:
            rows = without_hudi_columns(_rows(run, name, table, subjects))
            metadata = run.commit_metadata()
            run.report.commits[name] = table.write(rows, Operation.DELETE, metadata)


def _from_derived(
    run: FileRun, table: HudiTable, name: str, subjects: Subjects
) -> None:
    """Remove the keys as if the log had touched them and had no event of theirs."""
    columns = table_columns(run.spec, run.log)
    names = [each for each, _ in columns]
    none = with_types(run.log.read().where(F.lit(False)), typed(columns))
    roles = Roles.of(run.spec, names)
    events = layers.complete_events(
        mark_events(none, roles), run.spec, roles, LogContents()
    )
    built = table.value(CommitValue.LOG_INSTANT)
    keys = subjects.table(run.spark)
    layer = (
        CurrentLayer(run.spec, names)
        if name == "current"
        else HistoryLayer(run.spec, names)
    )
    affected = difference.AffectedEvents(events, keys, built, built)
    layers.write(run, layer, affected, said={CommitValue.ERASED: "true"})


def is_merged(run: FileRun, name: str) -> bool:
    """Return whether a table's rows may be in log files."""
    merged = run.spec.storage.type is TableType.MERGE_ON_READ
    return merged and name in ("current", "history", "surrogate_keys")
