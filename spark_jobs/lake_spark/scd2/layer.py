"""What tells current from history, and in which ways a row can differ."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable, Dict, Optional, Tuple

from pyspark.sql import Column, DataFrame

INSERTED, CHANGED, REMOVED, SAME = "inserted", "changed", "removed", "same"
"""What happens to a row of a table: its lake_action."""


@dataclass(frozen=True)
class Layer:
    """What tells current from history.

    `desired` are the rows of events, `of_alone` the same of events that are the only
    ones of their keys. `is_open` is the column that marks rows which are true now; `broken` names
    promises and the SQL that is true for rows which break them; `checked` adds
    what that SQL needs, `checked_alone` does so for the only rows of their keys.
    `witnesses` are columns of the desired rows that are for the checks alone.
    `completed` gives checked rows, right before the commit, what is made but once;
    `on_removed` is shown them where rows are removed.
    """

    name: str
    record_key: Tuple[str, ...]
    desired: Callable[[DataFrame], DataFrame]
    of_alone: Callable[[DataFrame], DataFrame]
    is_open: Column
    broken: Dict[str, str] = field(default_factory=dict)
    checked: Callable[[DataFrame], DataFrame] = lambda rows: rows
    checked_alone: Callable[[DataFrame], DataFrame] = lambda rows: rows
    witnesses: Tuple[str, ...] = ()
    completed: Optional[Callable[[DataFrame], DataFrame]] = None
    on_removed: Callable[[DataFrame], None] = lambda changes: None
