"""Values of reference tables, given to a feed's rows as they are ingested.

They are in the change log like values of the file: what was given stays given,
whatever becomes of the reference table, and a rebuild gives the same rows.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import List, Tuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lake_spec.model import Enrichment, FileTable
from lake_spark.changelog.not_sent import IS_ALL_BUT, is_missing
from lake_spark.changelog.schema import LogColumn
from lake_spark.errors import ReferenceNotBuilt, SettingsChanged
from lake_spark.scd2.current import mark_of, not_deleted
from lake_spark.schema.columns import Columns
from lake_spark.schema.promotion import merged, stored_type, widens
from lake_spark.storage.hudi_table import without_hudi_columns
from lake_spark.tables.table_run import FileRun


def with_given(run: FileRun, columns: Columns) -> List[Tuple[str, str]]:
    """Return the table's columns and those that its reference tables give."""
    found = dict(columns)
    for each in run.spec.enrich:
        declared = dict(run.of_table(each.table).spec.columns)
        for theirs, ours in each.given:
            now = stored_type(declared[theirs].type)
            known = stored_type(found.get(ours, now.text))
            if not widens(known, now) and not widens(now, known):
                raise SettingsChanged(
                    f"{run.spec.full_name}: source.enrich gives {ours!r} as {now.text}, but"
                    f" the change log has {known.text}. Give it another name by `rename`, or"
                    " restore the old type."
                )
            found[ours] = merged(known, now, promote=True).text
    return list(found.items())


def enriched(run: FileRun, rows: DataFrame, columns: Columns) -> DataFrame:
    """Return the rows with the values of the reference tables as these are now.

    As many rows as before: a row finds one row of a table at most, or no value.
    """
    for each in run.spec.enrich:
        reference = run.of_table(each.table).of_kind(FileTable)
        rows = _joined(rows, each, reference_rows(reference), columns)
    return rows


def reference_rows(run: FileRun) -> DataFrame:
    """Return the living rows of a reference table.

    Raise ReferenceNotBuilt if it was never built.
    """
    if not run.current.has_data():
        raise ReferenceNotBuilt(
            f"{run.spec.full_name} has no current table yet, so there are no values to add."
            f" Load it first (./run_locally.sh run {run.spec.domain}_full_load --param"
            f" tables={run.spec.name})."
        )
    return not_deleted(without_hudi_columns(run.current.read()), mark_of(run.spec))


def _joined(
    rows: DataFrame, each: Enrichment, reference: DataFrame, columns: Columns
) -> DataFrame:
    """Return a left join by the key of the reference table."""
    kinds = dict(columns)
    keys = [F.col(theirs).alias(f"lake_by_{ours}") for ours, theirs in each.by]
    values = [
        F.col(theirs).cast(kinds[ours]).alias(f"lake_given_{ours}")
        for theirs, ours in each.given
    ]
    same = [F.col(ours) == F.col(f"lake_by_{ours}") for ours, _ in each.by]
    joined = rows.join(reference.select(*keys, *values), same, "left")
    given = {ours: F.col(f"lake_given_{ours}") for _, ours in each.given}
    given[LogColumn.UNAVAILABLE] = _unsent(each)
    return joined.withColumns(given).select(*rows.columns)


def _unsent(each: Enrichment) -> Column:
    """Return the names of values not sent, with those that hang on one of them."""
    hang = reduce(or_, [F.expr(is_missing(ours)) for ours, _ in each.by])
    given = [F.lit(ours) for _, ours in each.given]
    more = F.concat_ws(",", LogColumn.UNAVAILABLE, *given)
    is_all_but = F.coalesce(F.expr(IS_ALL_BUT), F.lit(False))
    return F.when(hang != is_all_but, more).otherwise(F.col(LogColumn.UNAVAILABLE))
