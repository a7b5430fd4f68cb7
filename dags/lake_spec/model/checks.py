"""Checks of whole tables: what must hold of all rows together, before a commit.

Rules (`Rule`) test one row at a time, while it is ingested; a check tests the rows of a
layer as they will be after the commit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Optional, Tuple, Union

from lake_spec.model.choices import Aggregate, CheckedLayer, Every, Severity
from lake_spec.model.limits import Limits, SHARE
from lake_spec.model.spec_field import setting


def _name() -> Any:
    return setting(
        "Name in reports and results; if left out, the kind and its columns.",
        None,
        example="orders-arrive",
    )


def _layer() -> Any:
    return setting(
        "Rows to check; those that are marked as deleted are left out.",
        CheckedLayer.CURRENT,
    )


def _severity(default: Severity = Severity.FAIL) -> Any:
    return setting(
        "Effect of a failed check.",
        default,
    )


def _every() -> Any:
    return setting(
        "How often to check.",
        Every.RUN,
    )


class _Titled:
    """A check in words."""

    name: Optional[str]

    @property
    def title(self) -> str:
        """The check in words, by which its results are found again."""
        return self.name or self.subject

    @property
    def subject(self) -> str:
        """What it measures, in words, whatever its name is."""
        raise NotImplementedError


@dataclass(frozen=True)
class Unique(_Titled):
    """No two rows have the same values in these columns; rows with a null are left out."""

    kind: ClassVar[str] = "unique"
    columns: Tuple[str, ...] = setting("Columns.", example=["email"])
    name: Optional[str] = _name()
    layer: CheckedLayer = _layer()
    severity: Severity = _severity()
    every: Every = _every()

    @property
    def subject(self) -> str:
        return f"unique({', '.join(self.columns)})"


@dataclass(frozen=True)
class RowCount(_Titled):
    """The number of rows is within limits, or near that of the previous run."""

    kind: ClassVar[str] = "row_count"
    at_least: Optional[int] = setting(
        "Smallest number of rows.", None, limits=Limits(0)
    )
    at_most: Optional[int] = setting("Largest number of rows.", None, limits=Limits(0))
    change: Optional[float] = setting(
        "Largest change since the previous commit, as a share of it: 0.2 is 20 percent.",
        None,
        example=0.2,
        limits=Limits(above=0),
    )
    name: Optional[str] = _name()
    layer: CheckedLayer = _layer()
    severity: Severity = _severity()
    every: Every = _every()

    @property
    def subject(self) -> str:
        return "row_count"


@dataclass(frozen=True)
class Freshness(_Titled):
    """The newest value of a time is not too old, also where a run finds nothing new."""

    kind: ClassVar[str] = "freshness"
    column: str = setting("Column with a date or timestamp.", example="updated_at")
    hours: float = setting(
        "Largest age of its newest value, in hours.", example=26, limits=Limits(above=0)
    )
    name: Optional[str] = _name()
    layer: CheckedLayer = _layer()
    severity: Severity = _severity(Severity.WARN)
    every: Every = _every()

    @property
    def subject(self) -> str:
        return f"freshness({self.column})"


@dataclass(frozen=True)
class References(_Titled):
    """Each value of a column is one of a column of another table's current rows."""

    kind: ClassVar[str] = "references"
    column: str = setting("Column; nulls are left out.", example="customer_id")
    to: str = setting(
        "Table of the same domain and its column; read at its newest commit.",
        example="customers.id",
    )
    name: Optional[str] = _name()
    layer: CheckedLayer = _layer()
    severity: Severity = _severity()
    every: Every = _every()

    @property
    def subject(self) -> str:
        return f"references({self.column} -> {self.to})"

    @property
    def table(self) -> str:
        """The name of the other table."""
        return self.to.partition(".")[0]

    @property
    def other(self) -> str:
        """The name of the other table's column."""
        return self.to.partition(".")[2]


@dataclass(frozen=True)
class Expression(_Titled):
    """A condition over the columns of one row is false for no row; null passes."""

    kind: ClassVar[str] = "expression"
    sql: str = setting(
        "Condition in Spark SQL, without subqueries and aggregates.",
        example="shipped_at >= ordered_at",
    )
    name: Optional[str] = _name()
    layer: CheckedLayer = _layer()
    severity: Severity = _severity()
    every: Every = _every()
    written: Optional[str] = setting(
        "The condition as Spark gets it, in a release.", None, given="release"
    )

    @property
    def subject(self) -> str:
        return f"expression({self.sql})"


@dataclass(frozen=True)
class NullShare(_Titled):
    """At most this share of the rows has no value in a column."""

    kind: ClassVar[str] = "null_share"
    column: str = setting("Column.", example="email")
    at_most: float = setting("Largest share.", example=0.05, limits=SHARE)
    name: Optional[str] = _name()
    layer: CheckedLayer = _layer()
    severity: Severity = _severity()
    every: Every = _every()

    @property
    def subject(self) -> str:
        return f"null_share({self.column})"


@dataclass(frozen=True)
class AcceptedRange(_Titled):
    """An aggregate of a column is within limits."""

    kind: ClassVar[str] = "accepted_range"
    column: str = setting("Column.", example="amount")
    aggregate: Aggregate = setting("Aggregate of its values.", example="avg")
    at_least: Optional[float] = setting("Smallest result.", None)
    at_most: Optional[float] = setting("Largest result.", None)
    name: Optional[str] = _name()
    layer: CheckedLayer = _layer()
    severity: Severity = _severity()
    every: Every = _every()

    @property
    def subject(self) -> str:
        return f"accepted_range({self.aggregate.value}({self.column}))"


@dataclass(frozen=True)
class Drift(_Titled):
    """The number of rows, or an aggregate of a column, is near that of earlier runs."""

    kind: ClassVar[str] = "drift"
    column: Optional[str] = setting(
        "Column; if left out, the number of rows is compared.", None, example="amount"
    )
    aggregate: Optional[Aggregate] = setting(
        "Aggregate of its values.", None, example="avg"
    )
    share: Optional[float] = setting(
        "Largest distance from the mean of the earlier runs, as a share of it.",
        None,
        example=0.3,
        limits=Limits(above=0),
    )
    sigma: Optional[float] = setting(
        "The same in standard deviations of the earlier runs.",
        None,
        example=4,
        limits=Limits(above=0),
    )
    runs: int = setting(
        "Number of earlier runs with a commit; with fewer than five (or than this, if it "
        "is less) nothing is compared.",
        14,
        limits=Limits(2, 100),
    )
    name: Optional[str] = _name()
    layer: CheckedLayer = _layer()
    severity: Severity = _severity(Severity.WARN)
    every: Every = _every()

    @property
    def subject(self) -> str:
        if self.column is None or self.aggregate is None:
            return "drift(row_count)"
        return f"drift({self.aggregate.value}({self.column}))"


Check = Union[
    Unique,
    RowCount,
    Freshness,
    References,
    Expression,
    NullShare,
    AcceptedRange,
    Drift,
]


def columns_of(check: Check) -> Tuple[str, ...]:
    """Return the columns that a check names; those of an expression are in its SQL."""
    column = getattr(check, "column", None)
    return getattr(check, "columns", (column,) if column else ())


def shown_column(check: Check) -> Optional[str]:
    """Return the column whose values can be seen in the result of a check; None if none."""
    if isinstance(check, Freshness):
        return check.column
    if not isinstance(check, (AcceptedRange, Drift)):
        return None
    return None if check.aggregate is Aggregate.COUNT_DISTINCT else check.column
