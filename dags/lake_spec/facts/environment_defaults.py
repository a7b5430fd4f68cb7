"""Settings of tables that an environment gives where their specs leave them out."""

from __future__ import annotations

from dataclasses import replace

from lake_spec.model import DomainSpec, EnvironmentSpec


def with_environment_defaults(
    domain: DomainSpec, environment: EnvironmentSpec
) -> DomainSpec:
    """Return the domain as it is in an environment.

    A table without `storage.readable_as` has the formats of the environment; one with
    an empty list has none, and so has one of plain Parquet.
    """
    tables = tuple(
        (
            replace(
                table,
                storage=replace(table.storage, readable_as=environment.readable_as),
            )
            if table.storage.readable_as is None and not table.storage.is_plain
            else table
        )
        for table in domain.tables
    )
    return replace(domain, tables=tables)
