"""The sensitivity of the columns of a step's domain, found once for all of its tables."""

from __future__ import annotations

from threading import Lock
from typing import Tuple

from lake_spec.lineage.sensitivity import ColumnSensitivity
from lake_spec.model import TableSpec


class DomainSensitivity:
    """Knows the columns of the domain that it was asked about last.

    Of a thousand tables it takes seconds, and the tables of a step are side by side.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._tables: Tuple[TableSpec, ...] = ()
        self._found = ColumnSensitivity(())

    def of(self, tables: Tuple[TableSpec, ...], spec: TableSpec) -> ColumnSensitivity:
        """Return what is known of the columns of the domain, at least of the table."""
        tables = tables or (spec,)
        with self._lock:
            if self._tables is not tables:
                self._tables, self._found = tables, ColumnSensitivity(tables)
            return self._found


SENSITIVITY = DomainSensitivity()
"""That of the domain of this step."""
