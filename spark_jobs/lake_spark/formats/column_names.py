"""Which column of a table takes which column of a file: contract section 5.

A declared column takes the newest of its source names that the file has. What no
declared column takes is undeclared: it is stored under its own name in lower case,
or as `source_<name>` where that name is not free.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Dict, FrozenSet, Optional, Tuple

from lake_spec.model import FileTable
from lake_spec.model.history_columns import added_columns
from lake_spec.model.names import RESERVED_PREFIXES
from lake_spark.formats.before_images import is_before, names_before
from lake_spark.formats.debezium import true_name
from lake_spark.formats.envelopes import is_of_envelope
from lake_spark.formats.file_schema import Shape
from lake_spark.formats.reader_columns import LEFT_OUT, sayable

SOURCE = "source_"
"""Before the name of an undeclared column whose own name is not free."""


def time_column(spec: FileTable) -> Optional[str]:
    """Return the source column that holds the snapshot's time, if there is one."""
    declared = spec.snapshot_time
    return declared.column if declared else None


@dataclass(frozen=True)
class Names:
    """The names of a table's columns, and of what is not free, without case."""

    spec: FileTable

    @cached_property
    def declared(self) -> Dict[str, Tuple[str, ...]]:
        """Return the source names of each declared column, newest first."""
        return {name: each.source or (name,) for name, each in self.spec.columns}

    @cached_property
    def claimed(self) -> FrozenSet[str]:
        """Return source names that are known: columns, operation, time, or ignored ones."""
        operation = self.spec.operation
        told = operation.columns if operation else (time_column(self.spec),)
        words = {name for name in told if name not in self.declared}
        names = {name for sources in self.declared.values() for name in sources}
        ignored = set(getattr(self.spec.source, "ignore_columns", ()))
        return frozenset(name.lower() for name in names | ignored | words if name)

    @cached_property
    def _given(self) -> FrozenSet[str]:
        """Return the columns that the lake adds, or takes from reference tables."""
        added = {name for _, name in added_columns(self.spec)}
        given = {ours for each in self.spec.enrich for _, ours in each.given}
        return frozenset(name.lower() for name in added | given)

    def is_moved(self, name: str) -> bool:
        """Return whether an undeclared column of this name gets another."""
        is_read_from_others = name in self.declared and name not in self.claimed
        is_own = name.startswith(RESERVED_PREFIXES) or name in self._given
        return is_own or is_read_from_others

    @cached_property
    def _deepest(self) -> int:
        return max([_depth(name) for name in {*self._given, *self.declared}] or [0])

    def stored(self, name: str) -> str:
        """Return the table's column for an undeclared column of a file.

        It depends on nothing but the name and the spec, and no two names have one
        column: `valid_from` is stored as `source_valid_from`, and a column of that name
        as `source_source_valid_from`. Names that the table has otherwise are left out.
        """
        low = name.lower()
        depth = _depth(low)
        root = low[depth * len(SOURCE) :]
        moved = (n for n in range(depth + 1) if self.is_moved(SOURCE * n + root))
        first = next(moved, None)
        if first is None:
            return low
        others = [SOURCE * n + root for n in range(first, self._deepest + 1)]
        last = max(
            (_depth(n) for n in others if n in self.declared or self.is_moved(n)),
            default=first,
        )
        return SOURCE * (last - first + 1) + low


def _depth(name: str) -> int:
    """Return how many times `source_` precedes a name."""
    depth = 0
    while name.startswith(SOURCE, depth * len(SOURCE)):
        depth += 1
    return depth


def sources(spec: FileTable, shape: Shape) -> Dict[str, str]:
    """Return the file's column, as it spells it, of each of the table's that it has."""
    known = shape.sources.get(id(spec))
    if known is None or known[0] is not spec:
        known = shape.sources[id(spec)] = (spec, _sources(spec, shape))
    return known[1]


def _sources(spec: FileTable, shape: Shape) -> Dict[str, str]:
    names, spelled = Names(spec), _spelled(spec, shape)
    found: Dict[str, str] = {}
    for column, candidates in names.declared.items():
        if column in spec.path_columns:
            continue
        said = [sayable(each).lower() for each in candidates]
        raw = next((spelled[each] for each in said if each in spelled), "")
        if raw:
            found[column] = raw
    for raw in undeclared(spec, shape):
        found.setdefault(names.stored(true_name_in(spec, raw)), raw)
    return found


def _spelled(spec: FileTable, shape: Shape) -> Dict[str, str]:
    """Return the file's names by how a spec may write them, in lower case."""
    spelled = {name.lower(): name for name in shape.names}
    if spec.envelope is not None:
        for name in shape.names:
            spelled.setdefault(true_name(name).lower(), name)
    return spelled


def source_before(spec: FileTable, shape: Shape, name: str) -> Optional[str]:
    """Return the file's column with a column's value before an update, if it has one."""
    spelled = _spelled(spec, shape)
    known = (spelled.get(each.lower()) for each in names_before(spec, name))
    return next(filter(None, known), None)


def column_of_deletes(spec: FileTable, shape: Shape) -> Optional[str]:
    """Return the file's column that tells deletes by its value, if it has one."""
    told = spec.operation.deleted_when if spec.operation else None
    if told is None:
        return None
    own = sources(spec, shape).get(told.column)
    return own or _spelled(spec, shape).get(told.column.lower())


def undeclared(spec: FileTable, shape: Shape) -> Tuple[str, ...]:
    """Return the file's columns that the spec says nothing of, as the file spells them."""
    claimed = Names(spec).claimed
    return tuple(
        name
        for name in shape.names
        if true_name_in(spec, name).lower() not in claimed
        and not is_of_envelope(name, shape, spec)
        and not is_before(spec, name)
        and not name.startswith(LEFT_OUT)
    )


def true_name_in(spec: FileTable, name: str) -> str:
    """Return the name that the source's column has."""
    return true_name(name) if spec.envelope is not None else name
