"""Rows of the quarantine that are a subject's: they have their raw record alone."""

from __future__ import annotations

from typing import Tuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lake_spec.model import FileTable
from lake_spec.text.sql_text import sql_identifier, sql_literal
from lake_spark.erasure.subjects import Subjects
from lake_spark.reading.row_expressions import from_text
from lake_spark.scd2.events import KEY
from lake_spark.schema.columns import any_null
from lake_spark.schema.key_text import key_text
from lake_spark.tables.table_run import FileRun, table_columns

_FIELDS = (
    "transform_keys(from_json(lake_raw, 'map<string,string>'), (k, v) -> lower(k))"
)


def of(run: FileRun, subjects: Subjects, rows: DataFrame) -> DataFrame:
    """Return the rows whose raw record has a subject's key, or names it as words.

    Words are looked for where the record has no key that can be read.
    """
    spec, kinds = run.spec, dict(table_columns(run.spec, run.log))
    columns = [(name, kinds[name]) for name in spec.key]
    values = [
        f"{from_text(spec, name, kind, _text(spec, name))} AS {sql_identifier(name)}"
        for name, kind in columns
    ]
    named = [name for name in rows.columns if name not in spec.key]
    typed = rows.withColumn("lake_fields", F.expr(_FIELDS)).selectExpr(*named, *values)
    has_key = f"NOT ({any_null(spec.key)})"
    keyed = typed.withColumn(
        KEY, F.expr(f"CASE WHEN {has_key} THEN {key_text(columns)} END")
    )
    is_named = F.udf(subjects.named_in(), "boolean")
    by_words = keyed.where(F.col(KEY).isNull() & is_named("lake_raw"))
    return subjects.of(keyed).unionByName(by_words).select(*named)


def _text(spec: FileTable, name: str) -> str:
    """Return an expression: the raw record's text of a key column."""
    declared = dict(spec.columns).get(name)
    sources: Tuple[str, ...] = (declared.source if declared else ()) or (name,)
    found = [f"lake_fields[{sql_literal(each.lower())}]" for each in sources]
    return f"coalesce({', '.join(found)})"
