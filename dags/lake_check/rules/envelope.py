"""Rules on change files whose rows are wrapped."""

from __future__ import annotations

from typing import Iterator

from lake_check.rules.rule_set import RuleSet
from lake_spec.diagnostics.diagnostic import Problem, got
from lake_spec.model import Csv, FeedTable
from lake_spec.model.envelopes import columns_of, source_column

ENVELOPE = RuleSet()


@ENVELOPE.rule("source", "source.format")
def envelope_format_has_fields(spec: FeedTable) -> Iterator[Problem]:
    """Refuse an envelope in CSV files, whose fields cannot contain rows.

    Fix: Write the format of the files: json, avro or parquet.
    """
    if spec.envelope is not None and isinstance(spec.source.format, Csv):
        hint = "Fields of CSV cannot hold rows: choose json, avro or parquet."
        yield got(("source", "format", "type"), "csv", hint)


@ENVELOPE.rule("source", "columns")
def enveloped_tables_declare_columns(spec: FeedTable) -> Iterator[Problem]:
    """Refuse an envelope without declared columns: events lack some types.

    Fix: Declare the columns of the source's table under `columns`.
    """
    if spec.envelope is not None and not spec.columns:
        yield Problem(
            ("columns",),
            None,
            "missing",
            "Events do not carry the types of all values: declare the columns of the "
            "source's table.",
        )


@ENVELOPE.rule("source", "columns")
def envelope_column_names_are_free(spec: FeedTable) -> Iterator[Problem]:
    """Refuse a column with the name of one of the envelope's columns.

    Fix: Give the column another name, with its name in the source under `source`.
    """
    if spec.envelope is None:
        return
    declared = dict(spec.columns)
    for name in columns_of(spec.envelope):
        column = declared.get(name)
        if column is not None and source_column(name) not in column.source:
            hint = (
                "The envelope has a column of that name. Give yours another name, as "
                f"in {name}_of_row: {{type: {column.type}, source: [{name}]}}."
            )
            yield got(("columns", name), name, hint)
