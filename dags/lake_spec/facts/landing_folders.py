"""Whose a landing folder is: the first folder of its path is the domain that owns it."""

from __future__ import annotations

from typing import Optional

from lake_spec.model import DomainSpec, FileTable


def is_below(path: str, folder: str) -> bool:
    """Return whether a path is that folder, or below it."""
    return path == folder or path.startswith(f"{folder}/")


def is_own(table: FileTable) -> bool:
    """Return whether the table's landing files are in the folder of its domain.

    Or in that of the domain which it was moved from: they went along.
    """
    owners = (table.domain, table.stored_domain)
    return any(is_below(table.source.path, owner) for owner in owners)


def is_granted(table: FileTable, owner: Optional[DomainSpec]) -> bool:
    """Return whether the domain that owns the folder lets this table read it."""
    return owner is not None and any(
        table.domain in grant.to and is_below(table.source.path, grant.folder)
        for grant in owner.landing_grants
    )
