"""Former names of tables: under which they are stored, and which nobody else may have."""

from __future__ import annotations

from typing import Dict, Iterator, Sequence

from lake_check.rules.landing_folders import PATH
from lake_check.rules.rule_set import rule
from lake_check.rules.table import TABLE
from lake_check.rules.table_names import Found
from lake_spec.diagnostics.diagnostic import got, Problem
from lake_spec.facts.landing_folders import is_below
from lake_spec.model import FileTable, TableSpec
from lake_spec.model import names

AT = ("formerly",)


@TABLE.rule("formerly")
def former_name_is_one(spec: TableSpec) -> Iterator[Problem]:
    """Refuse a former name that is none of a table, or is the table's own.

    Fix: Write `domain.table`, the name under which the table was first loaded.
    """
    if spec.formerly is None:
        return
    domain, point, name = spec.formerly.partition(".")
    if not point or spec.formerly == spec.full_name:
        hint = "Write domain.table, the name under which the table was first loaded."
        yield got(AT, spec.formerly, hint)
        return
    for part in (domain, name):
        yield from names.name(AT, part)


@rule
def former_names_are_free(specs: Sequence[TableSpec]) -> Iterator[Found]:
    """Refuse a former name that another table has, or had: they would share a folder.

    Fix: Remove the spec of the old name, or leave out `formerly` where the table is
    another one. Of two tables only one can be the table that it was.
    """
    stored: Dict[str, TableSpec] = {each.full_name: each for each in specs}
    for position, spec in enumerate(specs):
        if spec.formerly is None:
            continue
        other = stored.setdefault(spec.formerly, spec)
        if other is not spec:
            hint = (
                f"{other.full_name} is stored there too: remove its spec, or the key "
                "formerly from the table that is another one."
            )
            yield position, got(AT, spec.formerly, hint)


@rule
def moved_landing_is_free(specs: Sequence[TableSpec]) -> Iterator[Found]:
    """Refuse landing files of the former domain that a table of it reads or keeps.

    Fix: Write the folder that the moved table had alone, or one of its own domain.
    """
    for position, spec in enumerate(specs):
        if not isinstance(spec, FileTable) or spec.stored_domain == spec.domain:
            continue
        if not is_below(spec.source.path, spec.stored_domain):
            continue
        if other := next(_with_files_there(spec, specs), None):
            hint = (
                f"{other.full_name} has its files there: write the folder that "
                f"{spec.formerly} had alone, or one below {spec.domain}/."
            )
            yield position, got(PATH, spec.source.path, hint)


def _with_files_there(
    moved: FileTable, specs: Sequence[TableSpec]
) -> Iterator[FileTable]:
    """Yield other tables of the former domain whose folder has that of the moved table,
    or is in it."""
    path = moved.source.path
    for each in specs:
        if each is moved or not isinstance(each, FileTable):
            continue
        if each.stored_domain == moved.stored_domain:
            own = each.source.path
            if is_below(path, own) or is_below(own, path):
                yield each
