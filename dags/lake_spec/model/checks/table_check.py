"""What a kind of check brings: its settings, what it measures, its limits and its words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import datetime
from enum import Enum
from typing import Any, Callable, ClassVar, Dict, Iterator, Optional, Sequence, Tuple

from lake_spec.diagnostics.diagnostic import Path, Problem
from lake_spec.model.checks.judgement import Judgement, number
from lake_spec.model.checks.measures import Measure, Value, one_value
from lake_spec.model.choices import CheckedLayer, Every, Severity
from lake_spec.model.column_type import ColumnType
from lake_spec.model.spec_field import setting

Json = Dict[str, Any]


class Needs(str, Enum):
    """What the type of a column must be, so that it can be measured."""

    NUMBER = "a number"
    TIME = "a date or timestamp"
    SINGLE = "single values"

    def has(self, kind: ColumnType) -> bool:
        """Return whether a type is such."""
        if self is Needs.NUMBER:
            return kind.is_numeric
        return kind.is_time if self is Needs.TIME else not kind.is_nested


def check_name() -> Any:
    """Define the setting `name` of a check."""
    return setting(
        "Name in reports and results; if left out, the kind and its columns.",
        None,
        example="orders-arrive",
    )


def checked_layer() -> Any:
    """Define the setting `layer` of a check."""
    return setting(
        "Rows to check; those that are marked as deleted are left out.",
        CheckedLayer.CURRENT,
    )


def severity_of(default: Severity = Severity.FAIL) -> Any:
    """Define the setting `severity` of a check."""
    return setting("Effect of a failed check.", default)


def how_often() -> Any:
    """Define the setting `every` of a check."""
    return setting("How often to check.", Every.RUN)


class TableCheck(ABC):
    """A kind of check: all that the rest of the project asks of one.

    A subclass is a frozen dataclass; its fields are its settings in a spec.
    """

    kind: ClassVar[str]
    compares_commits: ClassVar[bool] = False
    """Whether it may compare commits: a failed one is not checked again without a commit."""
    changes_with_time: ClassVar[bool] = False
    """Whether it can fail although no row changed."""
    reads_all_columns: ClassVar[bool] = False
    """Whether it may read columns that it does not name."""
    counts_rows: ClassVar[bool] = False
    """Whether its number is one of rows that break it."""

    name: Optional[str]
    layer: CheckedLayer
    severity: Severity
    every: Every

    @property
    def title(self) -> str:
        """The check in words, by which its results are found again."""
        return self.name or self.subject

    @property
    @abstractmethod
    def subject(self) -> str:
        """What it measures, in words, whatever its name is."""

    @property
    def column_places(self) -> Tuple[Tuple[Path, str], ...]:
        """The columns that it names, each with its place among the settings."""
        return ()

    @property
    def named_columns(self) -> Tuple[str, ...]:
        """The columns that it names."""
        return tuple(name for _, name in self.column_places)

    @property
    def shown_column(self) -> Optional[str]:
        """The column of which its number is a value; None if it shows no value."""
        return None

    @property
    def shows_one_value(self) -> bool:
        """Whether its number is the value of one row, as a greatest one is."""
        return False

    @property
    def other_table(self) -> Optional[str]:
        """The table of the domain that it reads besides its own."""
        return None

    @property
    def needs(self) -> Optional[Needs]:
        """What the types of its columns must be; None for any."""
        return None

    @property
    def operation(self) -> str:
        """What it does with a column, for messages."""
        return self.kind

    def problems(self) -> Iterator[Problem]:
        """List what is wrong with its settings, whatever the table is."""
        return iter(())

    @abstractmethod
    def measures(self, kind: Callable[[str], str]) -> Tuple[Measure, ...]:
        """Return what it has to know of the rows; `kind` gives the type of a column."""

    def value(self, found: Sequence[Value], now: datetime) -> Value:
        """Return the number that it compares, of the values of its measures."""
        return one_value(found)

    @abstractmethod
    def judged(self, value: Value, earlier: Sequence[float]) -> Judgement:
        """Compare a number with its limits.

        Args:
            value: None if no row has a value.
            earlier: the numbers of the same check in earlier commits, oldest first.
        """

    def failure(self, value: Value, bounds: str) -> str:
        """Say that it failed: its rule, its number and its limits."""
        is_named = self.title != self.subject
        words = f"{self.title}: {self.subject}" if is_named else self.subject
        if self.counts_rows:
            return f"{number(value)} row(s) break {words}"
        shown = "no value" if value is None else number(float(value))
        return f"{words} is {shown} ({bounds})"

    def quality(self) -> Optional[Json]:
        """Return it as a quality check of the Open Data Contract Standard.

        As text where the standard has no metric for it; None where it is none of them.
        """
        return {"type": "text", "dimension": "accuracy"}

    def service_level(self, table: str) -> Optional[Json]:
        """Return it as a service level of the standard; None where it is none."""
        return None
