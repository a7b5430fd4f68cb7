"""Whose a landing folder is: the first folder of its path is the domain that owns it."""

from __future__ import annotations

from typing import Callable, Iterator, Optional

from lake_spec.contract.pull_folders import pulls_of
from lake_spec.diagnostics.diagnostic import Problem
from lake_spec.model import DomainSpec, TableSpec
from lake_spec.rules import names
from lake_spec.rules.rule_set import rule

PATH = ("source", "path")


def is_below(path: str, folder: str) -> bool:
    """Return whether a path is that folder, or below it."""
    return path == folder or path.startswith(f"{folder}/")


def is_own(table: TableSpec) -> bool:
    """Return whether the table's landing files are in the folder of its domain.

    Or in that of the domain which it was moved from: they went along.
    """
    if not table.has_files:
        return True
    owners = (table.domain, table.stored_domain)
    return any(is_below(table.landed.path, owner) for owner in owners)


def is_granted(table: TableSpec, owner: Optional[DomainSpec]) -> bool:
    """Return whether the domain that owns the folder lets this table read it."""
    return owner is not None and any(
        table.domain in grant.to and is_below(table.landed.path, grant.folder)
        for grant in owner.landing_grants
    )


@rule
def landing_folder_is_own(
    table: TableSpec, domain: Callable[[str], Optional[DomainSpec]]
) -> Iterator[Problem]:
    """Refuse a landing folder that belongs to another domain.

    Fix: Write a path below the domain's own folder, or grant the folder with
    `landing_grants` in the other domain's _domain.yml.
    """
    if is_own(table) or list(names.relative_path(PATH, table.landed.path)):
        return
    path, owner = table.landed.path, table.landed.path.partition("/")[0]
    if pulls_of(table):
        message = f"{path!r} is not below the domain's own landing folder"
        hint = f"What is pulled is landed: write {table.domain}/..."
        yield Problem(PATH, path, message, hint)
    elif not is_granted(table, domain(owner)):
        message = f"{path!r} is not below the domain's own landing folder"
        hint = (
            f"Write {table.domain}/..., or grant the folder to this domain by "
            f"landing_grants in {owner}/_domain.yml."
        )
        yield Problem(PATH, path, message, hint)
