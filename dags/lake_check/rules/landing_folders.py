"""Whose a landing folder is: the first folder of its path is the domain that owns it."""

from __future__ import annotations

from typing import Callable, Iterable, Iterator, Mapping, Optional

from lake_check.rules.rule_set import rule
from lake_spec.diagnostics.diagnostic import Problem, got
from lake_spec.diagnostics.suggestions import did_you_mean
from lake_spec.facts.landing_folders import (
    is_below,
    is_granted,
    is_own,
    landing_root,
    user_of_root,
)
from lake_spec.facts.pull_folders import pulls_of
from lake_spec.model import DomainSpec, EnvironmentSpec, FileTable, LandingRoot
from lake_spec.model import names

PATH = ("source", "path")


@rule
def landing_roots_have_tables(
    environment: EnvironmentSpec, domains: Iterable[DomainSpec]
) -> Iterator[Problem]:
    """Refuse a landing root for a table that is not there, for one that is pulled (what is
    pulled is written into landing, and a landing root is only read), and for one of several
    tables that read its folder.

    Fix: Correct the name, leave out the tables that are pulled, or name the others too.
    """
    of_domain = {each.name: each for each in domains}
    tables = {
        each.full_name: each
        for domain in of_domain.values()
        for each in domain.tables
        if isinstance(each, FileTable)
    }
    for name, root in environment.landing_roots:
        for position, user in enumerate(root.used_by):
            path = ("landing_roots", name, "used_by", position)
            domain = user.partition(".")[0]
            if domain not in of_domain:
                continue  # of another folder, or misspelt, which its own rule reports
            if "." in user and user not in tables:
                near = did_you_mean(
                    user, [n for n in tables if n.startswith(f"{domain}.")]
                )
                hint = f"{near}Name a table that has files."
                yield Problem(path, user, f"unknown table {user!r}", hint)
            for table in tables.values():
                hint = _why_not(environment, root, user, tables, table)
                if hint:
                    yield got(path, user, hint)


def _why_not(
    environment: EnvironmentSpec,
    root: LandingRoot,
    user: str,
    tables: Mapping[str, FileTable],
    table: FileTable,
) -> str:
    """Return what to do where a user of a root is wrong because of a table; else ""."""
    if user == user_of_root(environment, table) and pulls_of(table):
        return (
            f"{table.full_name} is pulled, so its files are written below `landing`: "
            "leave it out, naming the other tables one by one."
        )
    if user in tables and landing_root(environment, table) is not root:
        one, other = tables[user].source.path, table.source.path
        if is_below(one, other) or is_below(other, one):
            return (
                f"{table.full_name} reads {other!r}, and would look for it elsewhere: name "
                "it here too, or name the domain."
            )
    return ""


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
