"""What current and history have in common: rows that follow from events."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Dict, Tuple

from pyspark.sql import Column, DataFrame

INSERTED, CHANGED, REMOVED, SAME = "inserted", "changed", "removed", "same"
"""What happens to a row of a table: its lake_action."""


class Layer(ABC):
    """A table that follows from the events of each key: current or history."""

    name: str
    record_key: Tuple[str, ...]
    witnesses: Tuple[str, ...] = ()
    """Columns of the desired rows that are for the checks alone."""
    makes_once: bool = False
    """Whether `completed` makes what must not be made twice."""

    @abstractmethod
    def desired(self, events: DataFrame) -> DataFrame:
        """Give the rows of events."""

    @abstractmethod
    def desired_of_single_events(self, events: DataFrame) -> DataFrame:
        """Give the same rows of events that are the only ones of their keys."""

    @property
    @abstractmethod
    def is_open(self) -> Column:
        """Return the column that marks rows which are true now."""

    @property
    @abstractmethod
    def broken(self) -> Dict[str, str]:
        """Return promises, and the SQL that is true for rows which break them."""

    @property
    def also_counted(self) -> Dict[str, str]:
        """Return names of more counts of rows, and the SQL that is true for those of each."""
        return {}

    def checked(self, rows: DataFrame) -> DataFrame:
        """Add what the SQL of `broken` needs."""
        return rows

    def checked_single_events(self, rows: DataFrame) -> DataFrame:
        """Add the same to the only rows of their keys."""
        return rows

    def completed(self, changes: DataFrame) -> DataFrame:
        """Give checked rows, right before the commit, what is made but once."""
        return changes

    def on_removed(self, changes: DataFrame) -> None:
        """Look at the rows of a commit that removes some."""
