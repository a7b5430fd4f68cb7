"""Ids of diagnostics of a product's SQL, read next to the tables that it uses."""

from __future__ import annotations

from enum import Enum


class ProductId(str, Enum):
    """An id, with the cause and what to do below it."""

    UNREADABLE_SQL = "unreadable-sql"
    """The SQL file of a product does not exist, is too large or is not UTF-8.

    Fix: Create the file next to the spec, or correct its name under `source.sql`.
    """

    BAD_REFERENCE = "bad-reference"
    """Braces in a product's SQL are not one of the known references to tables.

    Fix: Write `{{ current('domain.table') }}`, `{{ history('domain.table') }}` or
    `{{ as_of(history('domain.table'), alias.column) }}`.
    """

    INVALID_SQL = "invalid-sql"
    """The SQL of a product cannot be parsed, or is not one SELECT.

    Fix: Correct the SQL in the line of the message; it is Spark's.
    """

    UNSUPPORTED_SQL = "unsupported-sql"
    """The SQL uses what a spec cannot have: a result that differs by run, a table in
    `where` or `derive`, or what its two readers, `validate` and Spark, may read in two ways.

    Fix: Remove or replace it as the message says.
    """

    UNKNOWN_INPUT = "unknown-input"
    """A product reads a table that does not exist, or one that declares no columns.

    Fix: Correct the name in the reference, or declare the table's columns.
    """

    NOT_GRANTED = "not-granted"
    """A product reads a table of another domain, which does not grant it.

    Fix: Ask the other domain's team for a `table_grants` entry in its _domain.yml.
    """

    UNKNOWN_COLUMN = "unknown-column"
    """The SQL uses a column that its table does not declare, or an unknown alias.

    Fix: Write one of the names in the message, or declare the column in the table's spec.
    """

    AMBIGUOUS_COLUMN = "ambiguous-column"
    """Several tables of the SQL have a column of this name.

    Fix: Write the alias of the table before the column, as in `o.customer_id`.
    """

    OUTPUT_COLUMNS = "output-columns"
    """The columns that the SELECT makes are not those that the spec declares.

    Fix: Declare the column under `columns`, or add it to the SELECT.
    """

    OUTPUT_TYPE = "output-type"
    """A column of the SELECT has another type than the spec declares.

    Fix: Correct the type under `columns`, or cast the expression.
    """

    COMPARED_TYPES = "compared-types"
    """A join compares columns of different types.

    Fix: Cast one of the two, or correct the type in the spec of its table.
    """

    BAD_AS_OF = "bad-as-of"
    """A join by time is not written as one, or its column is not a time.

    Fix: Join it by JOIN or LEFT JOIN with ON, at a date or timestamp column of a table
    before it.
    """

    BAD_UNKNOWN = "bad-unknown"
    """`source.unknown` names a table or column without such a join, or a value of
    another type.

    Fix: Name a table that the SQL joins by LEFT JOIN, one of its columns and a value of
    that column's type.
    """

    INVALID_PRODUCT_TEST = "invalid-product-test"
    """A test of a product has another form, or names a table or column that is not there.

    Fix: Correct it as the message says; docs/products.md has an example.
    """

    PRODUCT_CYCLE = "product-cycle"
    """Products read each other in a circle, so none could be built first.

    Fix: Remove one of the references that the message lists.
    """

    LOWERED_SENSITIVITY = "lowered-sensitivity"
    """A column of a product declares less than the column that its values come from. A
    warning: the specs can be used.

    Fix: Remove `sensitivity` or write that of the message. If nothing of the values is
    left, make the column by a count; a total or a mean may declare what it is.
    """

    BAD_CONDITION = "bad-condition"
    """The SQL of a check is not a condition over the columns of one row.

    Fix: Write a comparison of columns, as in `shipped_at >= ordered_at`, without
    subqueries, aggregates and windows.
    """
