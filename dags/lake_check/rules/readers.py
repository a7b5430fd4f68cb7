"""Rules on who may read a domain: alone, and next to the domain's tables."""

from __future__ import annotations

from typing import Mapping, Iterator, List, Sequence

from lake_check.rules.rule_set import RuleSet, rule
from lake_spec.diagnostics.diagnostic import Path, Problem, got
from lake_spec.diagnostics.suggestions import did_you_mean
from lake_spec.model import DomainSpec, TableSpec
from lake_spec.model import names

READERS = RuleSet()


@READERS.rule("readers")
def readers_name_tables_and_columns(spec: DomainSpec) -> Iterator[Problem]:
    """Refuse readers whose tables or columns are no names.

    Fix: Write names, and list the tables that have the columns.
    """
    for position, reader in enumerate(spec.readers):
        top = ("readers", position)
        for place, table in enumerate(reader.tables):
            yield from names.name((*top, "tables", place), table)
        for place, column in enumerate(reader.columns):
            yield from names.source_name((*top, "columns", place), column)
        if reader.columns and not reader.tables:
            hint = "List the tables that have these columns in `tables`."
            yield got((*top, "columns"), list(reader.columns), hint)


@rule
def readers_name_what_exists(
    domain: DomainSpec, files: Sequence[str]
) -> Iterator[Problem]:
    """Refuse tables of readers that are not among `files`, and columns not in a table.

    Fix: Correct the name, or remove it from `readers`.
    """
    tables = {table.name: table for table in domain.tables}
    for position, reader in enumerate(domain.readers):
        for place, name in enumerate(reader.tables):
            path = ("readers", position, "tables", place)
            if name not in files:
                yield _unknown(path, "table", name, sorted(files))
        for place, column in enumerate(reader.columns):
            path = ("readers", position, "columns", place)
            for name in reader.tables:
                known = _columns(tables, name)
                if known and column not in known:
                    yield _unknown(path, f"column of {name}", column, known)


@rule
def grants_name_tables(domain: DomainSpec, files: Sequence[str]) -> Iterator[Problem]:
    """Refuse a table grant of tables that are not among `files`.

    Fix: Correct the name, or remove it from `table_grants`.
    """
    for position, grant in enumerate(domain.table_grants):
        for place, name in enumerate(grant.tables):
            if name not in files:
                path = ("table_grants", position, "tables", place)
                yield _unknown(path, "table", name, sorted(files))


def _columns(tables: Mapping[str, TableSpec], name: str) -> List[str]:
    """Return the columns of a table, as far as its spec declares them."""
    table = tables.get(name)
    if table is None or not table.columns:
        return []
    given = [name for each in table.enrich for _, name in each.given]
    return [*(column for column, _ in table.columns), *given]


def _unknown(path: Path, what: str, name: str, known: Sequence[str]) -> Problem:
    hint = f"{did_you_mean(name, known)}Choose from: {', '.join(known) or 'none'}."
    return Problem(path, name, f"unknown {what}: {name!r}", hint)
