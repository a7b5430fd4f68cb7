"""Products: tables that are made of other tables by a declared transformation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Optional, Tuple, Union

from lake_spec.model.choices import ColumnUse, Keep, Layer
from lake_spec.model.spec_field import setting


@dataclass(frozen=True)
class Deduplicate:
    """The one row to keep of those with equal values."""

    by: Tuple[str, ...] = setting(
        "Columns whose values are equal in the rows.", example=["id"]
    )
    order_by: Tuple[str, ...] = setting(
        "Columns that order these rows; the key decides among equal ones.",
        example=["started_at"],
    )
    keep: Keep = setting("Row to keep, in this order.", Keep.LAST)


@dataclass(frozen=True)
class ProductInput:
    """One use of a table in a product's SQL, which reads it as a view of its own."""

    view: str = setting("Name of the view.", example="input_0")
    table: str = setting("Table, as `domain.table`.", example="crm.customer")
    layer: Layer = setting("Layer of the table.", example="current")
    key: Tuple[str, ...] = setting("Key columns of the table.", example=["customer_id"])
    logs: Tuple[str, ...] = setting(
        "Tables whose change logs name its changed keys: itself, or the two of a "
        "dimension; none for a product.",
        (),
    )
    is_plain: bool = setting("Whether it is plain Parquet, without Hudi.", False)
    stored_as: Optional[str] = setting(
        "Name that its folder has, where that is not the table's.", None
    )

    @property
    def folder_of(self) -> str:
        """`domain.table`, as its folder is named."""
        return self.stored_as or self.table

    @property
    def is_product(self) -> bool:
        """True if the table is a product, which has no change log."""
        return not self.logs


@dataclass(frozen=True)
class Equality:
    """A column of a view that equals one of another view."""

    column: str = setting("Column of the joined view.", example="customer_id")
    other: str = setting("Column of the other view.", example="buyer_id")


@dataclass(frozen=True)
class Lookup:
    """The way from an input to the rows of the driver that it is joined with.

    It leads over `other`, itself the driver or another lookup's view.
    """

    view: str = setting("View of the input.", example="input_1")
    other: str = setting(
        "View that it is joined with: the driver, or that of another lookup.",
        example="input_0",
    )
    on: Tuple[Equality, ...] = setting(
        "Equal columns; those of `view` are its whole key.",
        example=[{"column": "customer_id", "other": "buyer_id"}],
    )


@dataclass(frozen=True)
class ColumnOrigin:
    """A column of an input that a column of a product is made of."""

    column: str = setting("Column of the product.", example="email")
    view: str = setting("View of the input.", example="input_0")
    source: str = setting("Column of the input.", example="email")
    how: ColumnUse = setting("What becomes of its values.", example="copied")


@dataclass(frozen=True)
class TimeJoin:
    """A LEFT JOIN of a history by time, and the column that tells rows without a match."""

    table: str = setting("Table, as `domain.table`.", example="crm.customer")
    column: str = setting(
        "Column of the SQL that is true where a row has no match.",
        example="lake_without_match_0",
    )


@dataclass(frozen=True)
class ProductPlan:
    """What a step does for a product, compiled from its SQL for a release."""

    sql: str = setting("Spark SQL over the views of `inputs`.", example="SELECT 1")
    inputs: Tuple[ProductInput, ...] = setting("Tables that it reads.", example=[])
    digest: str = setting(
        "Hash of the SQL and the inputs; another one rebuilds the product.",
        example="0f3a",
    )
    driver: str = setting("View of the first table of FROM.", example="input_0")
    driver_columns: Tuple[str, ...] = setting(
        "Columns of the driver that are read where it is built in part; none: all.", ()
    )
    unit: Tuple[str, ...] = setting(
        "Columns of the driver by whose values it can be built in part, unless it is "
        "built whole all the same; none: only whole.",
        (),
    )
    unit_columns: Tuple[str, ...] = setting(
        "The product's columns that show them, in the same order.", ()
    )
    lookups: Tuple[Lookup, ...] = setting(
        "Ways to the driver of the other inputs, each after the one that it leads over; "
        "none if it is built whole.",
        (),
    )
    whole_because: str = setting("Reason why it can only be built whole.", "")
    time_joins: Tuple[TimeJoin, ...] = setting(
        "LEFT JOINs by time whose rows without a match are counted.", ()
    )
    columns: Optional[Tuple[ColumnOrigin, ...]] = setting(
        "Columns of the inputs that its columns are made of; if left out, unknown.",
        None,
    )

    @property
    def is_row_by_row(self) -> bool:
        """True if its rows are made of one table's, each by the values of one row."""
        if len(self.inputs) != 1 or not self.unit:
            return False
        return set(self.unit) == set(self.input(self.driver).key)

    def input(self, view: str) -> ProductInput:
        """Return the input of that view. Raises StopIteration if there is none."""
        return next(each for each in self.inputs if each.view == view)


@dataclass(frozen=True)
class Product:
    """A declared transformation of other tables. No files of its own."""

    kind: ClassVar[str] = "product"
    sql: Optional[str] = setting(
        "File with the SELECT that makes the rows, next to the spec; or `from`.",
        None,
        example="enriched_orders.sql",
    )
    from_: Optional[str] = setting(
        "Table whose current is transformed, as `domain.table`; or `sql`.",
        None,
        example="clinic.encounters",
    )
    where: Optional[str] = setting(
        "Condition of the rows of `from`, as SQL.",
        None,
        example="reason_code IS NOT NULL",
    )
    derive: Tuple[Tuple[str, str], ...] = setting(
        "Columns that are computed from those of `from`, each by an SQL expression; the "
        "others have the same name there.",
        (),
        example={"year": "year(started_at)"},
    )
    deduplicate: Optional[Deduplicate] = setting(
        "Row of `from` to keep of several, after `where`.", None
    )
    unknown: Tuple[Tuple[str, Tuple[Tuple[str, Union[int, str]], ...]], ...] = setting(
        "Values of a joined table's columns where a LEFT JOIN finds no row of it, by "
        "table.",
        (),
        example={"crm.customer": {"segment": "Unknown"}},
    )
    reads: Tuple[str, ...] = setting(
        "Tables that it reads, as `domain.table`; derived from `sql` or `from`.",
        (),
        given="sql",
    )
    plan: Optional[ProductPlan] = setting(
        "Compiled transformation, in a release.", None, given="release"
    )
