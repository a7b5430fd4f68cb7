"""Rules across tables: what no file can be judged for alone."""

from __future__ import annotations

from typing import Callable, Dict, Iterator, List, Sequence

from lake_check.rules.former_names import former_names_are_free, moved_landing_is_free
from lake_check.rules.rule_set import rule
from lake_check.rules.source import globs
from lake_check.rules.table_names import Found
from lake_spec.diagnostics.diagnostic import got
from lake_spec.layout.glue_names import QUARANTINE, glue_names
from lake_spec.model import FileTable, TableSpec


@rule
def tables_share_no_files(specs: Sequence[TableSpec]) -> Iterator[Found]:
    """Refuse two tables that read the same landing files.

    Fix: Give each table its own `source.path` or its own glob.
    """
    first: Dict[str, int] = {}
    for position, spec in enumerate(specs):
        if not isinstance(spec, FileTable):
            continue
        for path, glob in globs(spec):
            place = f"{spec.source.path}/{glob}"
            other = first.setdefault(place, position)
            if other != position:
                hint = (
                    f"Table {specs[other].full_name} reads the same files ({place}): "
                    "give each table its own files."
                )
                yield position, got(path, glob, hint)


@rule
def catalogue_names_are_free(specs: Sequence[TableSpec]) -> Iterator[Found]:
    """Refuse a table named like the history, changes, quarantine or `_ro` of another.

    Fix: Choose another name for the table, and rename its file.
    """
    taken = {
        (spec.domain, name): spec
        for spec in specs
        for name in (*glue_names(spec), spec.name + QUARANTINE)
        if name != spec.name
    }
    for position, spec in enumerate(specs):
        other = taken.get((spec.domain, spec.name))
        if other is not None:
            hint = f"Table {other.full_name} uses that name: choose another."
            yield position, got(("name",), spec.name, hint)


ACROSS: List[Callable[[Sequence[TableSpec]], Iterator[Found]]] = [
    tables_share_no_files,
    catalogue_names_are_free,
    former_names_are_free,
    moved_landing_is_free,
]
