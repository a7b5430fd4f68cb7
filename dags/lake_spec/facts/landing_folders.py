"""Whose a landing folder is, and where it lies.

The first folder of its path is the domain that owns it. Below `landing` that is a folder;
a landing root of the environment takes its place, and is only read.
"""

from __future__ import annotations

from typing import Optional

from lake_spec.model import DomainSpec, EnvironmentSpec, FileTable, LandingRoot


def is_below(path: str, folder: str) -> bool:
    """Return whether a path is that folder, or below it."""
    return path == folder or path.startswith(f"{folder}/")


def landing_root(
    environment: EnvironmentSpec, table: FileTable
) -> Optional[LandingRoot]:
    """Return the landing root that a table's files lie in: its own, else that of the
    domain whose folder it reads; None for `landing` of the environment."""
    used = {
        name: root for _, root in environment.landing_roots for name in root.used_by
    }
    return used.get(user_of_root(environment, table))


def user_of_root(environment: EnvironmentSpec, table: FileTable) -> str:
    """Return the name that chooses a table's landing root: its own, if it is in some
    `used_by`, else that of the domain whose folder it reads."""
    names = {name for _, root in environment.landing_roots for name in root.used_by}
    owner = table.source.path.partition("/")[0]
    return table.full_name if table.full_name in names else owner


def landing_folder(environment: EnvironmentSpec, table: FileTable) -> str:
    """Return the folder of a table's landing files, an s3:// URI."""
    root, path = landing_root(environment, table), table.source.path
    if root is None:
        return f"{environment.landing}/{path}"
    below = path.partition("/")[2]
    return f"{root.uri}/{below}" if below else root.uri


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
