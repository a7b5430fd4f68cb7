"""Rules on products alone; next to the tables that they read: lake_desk/products."""

from __future__ import annotations

import re
from typing import Iterator

from lake_check.rules.rule_set import RuleSet
from lake_spec.diagnostics.diagnostic import Problem, got
from lake_spec.diagnostics.suggestions import did_you_mean
from lake_spec.model import Column, ProductTable
from lake_spec.model.names import NAME

PRODUCT = RuleSet()

_OF_SOURCE_COLUMNS = ("source", "format", "dropped", "on_type_mismatch")
_SQL_NAME = re.compile(rf"{NAME.pattern}\.sql")
_TABLE = re.compile(rf"{NAME.pattern}\.{NAME.pattern}")


def is_sql_name(name: str) -> bool:
    """Return whether a spec can name a SQL file so: never a path."""
    return bool(_SQL_NAME.fullmatch(name))


@PRODUCT.rule("source")
def product_has_one_definition(spec: ProductTable) -> Iterator[Problem]:
    """Refuse a product with neither `sql` nor `from`, or with both.

    Fix: Write `sql` with the file of a SELECT, or `from` with a table; `where`, `derive`
    and `deduplicate` go with `from`, `unknown` with `sql`.
    """
    source = spec.source
    if (source.sql is None) == (source.from_ is None):
        message = (
            "has neither `sql` nor `from`"
            if source.sql is None
            else "has both `sql` and `from`"
        )
        hint = "Write `sql` with a file, or `from` with a table."
        yield Problem(("source",), None, message, hint)
        return
    other = "from" if source.sql else "sql"
    for name in ("where", "derive", "deduplicate") if source.sql else ("unknown",):
        value = getattr(source, name)
        if value not in (None, ()):
            hint = f"It goes with `{other}` only: write it into the SQL, or remove it."
            if other == "sql":
                hint = "It goes with `sql` only, for tables that it joins: remove it."
            yield Problem(("source", name), None, f"has `{name}`", hint)


@PRODUCT.rule("source")
def product_sql_is_a_file_next_to_it(spec: ProductTable) -> Iterator[Problem]:
    """Refuse a SQL file that is not named as a file next to the spec.

    Fix: Write the name of the file without a folder: a-z, 0-9 and _, with `.sql`.
    """
    sql = spec.source.sql
    if sql is not None and not is_sql_name(sql):
        hint = f"Write the name of a file next to the spec, as in {spec.name}.sql."
        yield got(("source", "sql"), sql, hint)


@PRODUCT.rule("source")
def product_from_names_a_table(spec: ProductTable) -> Iterator[Problem]:
    """Refuse `from` that is not the full name of a table.

    Fix: Write domain and table, as in `from: clinic.encounters`.
    """
    table = spec.source.from_
    if table is not None and not _TABLE.fullmatch(table):
        hint = f"Write domain and table, as in {spec.domain}.{table.split('.')[-1]}."
        yield got(("source", "from"), table, hint)


@PRODUCT.rule("source", "columns")
def product_derives_declared_columns(spec: ProductTable) -> Iterator[Problem]:
    """Refuse a derived column that `columns` does not declare.

    Fix: Declare the column with its type under `columns`.
    """
    declared = [name for name, _ in spec.columns]
    for name, _ in spec.source.derive if declared else ():
        if name not in declared:
            hint = f"{did_you_mean(name, declared)}Declare it under `columns`."
            message = f"{name!r} is not a declared column"
            yield Problem(("source", "derive", name), name, message, hint)


@PRODUCT.rule("columns")
def product_declares_its_columns(spec: ProductTable) -> Iterator[Problem]:
    """Refuse a product that does not declare its columns with their types.

    Fix: List every column that the SELECT makes under `columns`, each with its type.
    """
    if not spec.columns:
        hint = "List the columns that it makes, each with its type."
        yield Problem(("columns",), None, "missing", hint)


@PRODUCT.rule("columns")
def product_columns_have_types_only(spec: ProductTable) -> Iterator[Problem]:
    """Refuse settings of source columns in a product, which reads no files.

    Fix: Remove the setting; a column of a product has a type alone.
    """
    for name, column in spec.columns:
        for setting in _OF_SOURCE_COLUMNS:
            value = getattr(column, setting)
            if value != getattr(Column("int"), setting):
                hint = "Remove it: a product reads no files; write it into its SQL."
                yield got(("columns", name, setting), value, hint)
