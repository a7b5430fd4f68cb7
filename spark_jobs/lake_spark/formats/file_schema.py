"""The columns that a landing file gives, and how Spark gets to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Dict, Optional, Tuple

from lake_spec.model.column_type import ColumnType
from lake_spec.text.sql_text import sql_identifier


@dataclass(frozen=True)
class Shape:
    """A file's columns in its own order: (name, type) each.

    Where its records wrap the rows, `wrapped` are the records' own columns and
    `unwrap` the SQL that makes `columns` of them. `left_out` are columns and fields that
    are not read, because no SQL can say their names. `sources` keeps what was found of
    a spec's names (column_names.py). `tells_absent`: the rows say which fields their
    records lack (absent_fields.py). `of_messages`: each record is a message of a topic
    (sources/messages.py).
    """

    columns: Tuple[Tuple[str, ColumnType], ...]
    wrapped: Tuple[Tuple[str, ColumnType], ...] = ()
    unwrap: Tuple[str, ...] = ()
    left_out: Tuple[str, ...] = ()
    tells_absent: bool = False
    of_messages: bool = False
    sources: Dict[int, Any] = field(
        init=False, default_factory=dict, compare=False, repr=False
    )

    @cached_property
    def names(self) -> Tuple[str, ...]:
        """Return the column names as the file spells them."""
        return tuple(name for name, _ in self.columns)

    @property
    def read_as(self) -> Tuple[Tuple[str, ColumnType], ...]:
        """Return the columns that Spark is to read."""
        return self.wrapped or self.columns

    def type_of(self, name: str) -> ColumnType:
        """Return the type of a column of this file."""
        return self._kinds[name]

    @cached_property
    def _kinds(self) -> Dict[str, ColumnType]:
        return dict(self.columns)


class Fields:
    """What is side by side at a place of a record, by names without case."""

    def __init__(self, place: str, kinds: Dict[str, ColumnType]) -> None:
        self.kinds = kinds
        self._place = place
        self._spelled = {name.lower(): name for name in kinds}

    def kind(self, name: str) -> Optional[ColumnType]:
        """Return the type of a field; None if there is no such field."""
        return self.kinds.get(self._spelled.get(name.lower(), ""))

    def sql(self, name: str) -> Optional[str]:
        """Return the SQL of a field; None if there is no such field."""
        if name.lower() not in self._spelled:
            return None
        spelled = sql_identifier(self._spelled[name.lower()])
        return f"{self._place}.{spelled}" if self._place else spelled

    def below(self, name: str) -> Optional["Fields"]:
        """Return the fields of a struct; None if there is no such field."""
        kind, sql = self.kind(name), self.sql(name)
        if kind is None or sql is None or kind.name != "struct":
            return None
        return Fields(sql, dict(zip(kind.fields, kind.inner)))
