"""Whose a landing folder is: the first folder of its path is the domain that owns it."""

from __future__ import annotations

from typing import Callable, Iterator, Optional

from lake_check.rules.rule_set import rule
from lake_spec.diagnostics.diagnostic import Problem
from lake_spec.facts.landing_folders import is_granted, is_own
from lake_spec.facts.pull_folders import pulls_of
from lake_spec.model import DomainSpec, FileTable
from lake_spec.model import names

PATH = ("source", "path")


@rule
def landing_folder_is_own(
    table: FileTable, domain: Callable[[str], Optional[DomainSpec]]
) -> Iterator[Problem]:
    """Refuse a landing folder that belongs to another domain.

    Fix: Write a path below the domain's own folder, or grant the folder with
    `landing_grants` in the other domain's _domain.yml.
    """
    if is_own(table) or list(names.relative_path(PATH, table.source.path)):
        return
    path, owner = table.source.path, table.source.path.partition("/")[0]
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
