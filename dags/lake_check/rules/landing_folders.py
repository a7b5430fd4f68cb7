"""Whose a landing folder is: the first folder of its path is the domain that owns it."""

from __future__ import annotations

from typing import Callable, Iterable, Iterator, Optional

from lake_check.rules.rule_set import rule
from lake_spec.diagnostics.diagnostic import Problem, got
from lake_spec.diagnostics.suggestions import did_you_mean
from lake_spec.facts.landing_folders import is_granted, is_own
from lake_spec.facts.pull_folders import pulls_of
from lake_spec.model import DomainSpec, EnvironmentSpec, FileTable
from lake_spec.model import names

PATH = ("source", "path")


@rule
def landing_roots_have_tables(
    environment: EnvironmentSpec, domains: Iterable[DomainSpec]
) -> Iterator[Problem]:
    """Refuse a landing root for a table that is not there, or that is pulled: what is
    pulled is written into landing, and a landing root is only read.

    Fix: Correct the name, or leave out the tables that are pulled.
    """
    of_domain = {each.name: each for each in domains}
    for name, root in environment.landing_roots:
        for position, user in enumerate(root.used_by):
            path = ("landing_roots", name, "used_by", position)
            domain = of_domain.get(user.partition(".")[0])
            if domain is None:
                continue  # of another folder, or misspelt, which its own rule reports
            tables = {
                each.full_name: each
                for each in domain.tables
                if isinstance(each, FileTable)
            }
            if "." in user and user not in tables:
                hint = f"{did_you_mean(user, tables)}Name a table that has files."
                yield Problem(path, user, f"unknown table {user!r}", hint)
            for table in tables.values():
                if user in (domain.name, table.full_name) and pulls_of(table):
                    hint = (
                        f"{table.full_name} is pulled, so its files are written below "
                        "`landing`: leave it out, naming the other tables one by one."
                    )
                    yield got(path, user, hint)


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
