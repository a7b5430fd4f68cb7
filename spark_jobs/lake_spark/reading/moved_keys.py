"""Updates of rows that had another key before: a delete of that key, and a create.

Contract section 6. Both are rows of the change log with the record's order, time and
place, so each stands among the events of its own key where the update stood.
"""

from __future__ import annotations

from typing import List, Optional

from pyspark.sql import DataFrame

from lake_spec.model import FileTable
from lake_spec.text.sql_text import sql_identifier
from lake_spark.changelog.schema import DELETE, LogColumn, UPSERT, log_columns
from lake_spark.schema.columns import Columns

IS_MOVED = f"lake_before IS NOT NULL AND lake_op IN ('{UPSERT}', '{DELETE}')"
"""SQL: whether a row had another key before what its record says."""

_TWICE = f"explode(if({IS_MOVED}, array(true, false), array(false))) AS lake_is_old"
_OF_CREATE = f"CASE WHEN lake_op = '{UPSERT}' THEN lake_old_key END"


def as_events(spec: FileTable, rows: DataFrame, columns: Columns) -> DataFrame:
    """Return good rows as rows of the change log: two for each whose key changed."""
    return rows.selectExpr("*", _TWICE).selectExpr(*_columns(spec, columns))


def _columns(spec: FileTable, columns: Columns) -> List[str]:
    of_delete = {
        LogColumn.KEY.value: LogColumn.OLD_KEY.value,
        LogColumn.OP.value: f"'{DELETE}'",
        LogColumn.UNAVAILABLE.value: "CAST(NULL AS string)",
    }
    kept = {*spec.order_by, spec.effective_at}
    for name, kind in columns:
        if name in spec.key:
            of_delete[name] = f"lake_before.{sql_identifier(name)}"
        elif name not in kept:
            of_delete[name] = f"CAST(NULL AS {kind})"
    names = [name for name in log_columns(columns) if name != LogColumn.OLD_KEY]
    of_log = f"if(lake_is_old, lake_old_key, {_OF_CREATE}) AS {LogColumn.OLD_KEY}"
    return [*(_column(name, of_delete.get(name)) for name in names), of_log]


def _column(name: str, of_delete: Optional[str]) -> str:
    column = sql_identifier(name)
    if of_delete is None:
        return column
    return f"if(lake_is_old, {of_delete}, {column}) AS {column}"
