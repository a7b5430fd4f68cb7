"""A table next to the others of its domain, for rules on tables that name others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Iterator, List, Sequence, Set, Tuple

from lake_spec.diagnostics.diagnostic import Path, Problem
from lake_spec.diagnostics.suggestions import did_you_mean
from lake_spec.model import TableSpec

Found = Tuple[int, Problem]
"""A problem and the position of its table among those that were judged."""


@dataclass(frozen=True)
class NamedTable:
    """A table, the names of the others of its domain, and those that could be read.

    A name without a spec is of a table with faults of its own.
    """

    position: int
    spec: TableSpec
    names: List[str]
    tables: Dict[str, TableSpec]

    def missing(self, path: Path, name: str) -> Problem:
        """Report a name that no other table of the domain has."""
        hint = did_you_mean(name, self.names)
        listed = ", ".join(self.names) or "none"
        hint = f"{hint}Other tables of {self.spec.domain}: {listed}."
        return Problem(path, name, f"unknown table {name!r}", hint)


def missing_column(path: Path, table: TableSpec, name: str) -> Problem:
    """Report a name that no column of another table has."""
    declared = [column for column, _ in table.columns]
    hint = f"{did_you_mean(name, declared)}Its columns: {', '.join(declared)}."
    return Problem(path, name, f"{table.name} has no column {name!r}", hint)


def with_other_names(
    specs: Sequence[TableSpec], files: Set[Tuple[str, str]]
) -> Iterator[NamedTable]:
    """Pair each table with the others; `files` are (domain, name) of all tables."""
    tables: Dict[str, Dict[str, TableSpec]] = {}
    names: Dict[str, Set[str]] = {}
    for spec in specs:
        tables.setdefault(spec.domain, {})[spec.name] = spec
    for domain, name in files:
        names.setdefault(domain, set()).add(name)
    for position, spec in enumerate(specs):
        others = sorted(names.get(spec.domain, set()) - {spec.name})
        yield NamedTable(position, spec, others, tables[spec.domain])
