"""Rename a table, or move it to another domain: its spec's file, and what the lake keeps.

The new spec says what the table was called (`formerly`), so that it goes on with its log,
current, history, surrogate keys, bookmarks, checks and list of erased keys: nothing is
copied. Other specs that name it are left to you, and listed.

Examples:
  ./run_locally.sh rename shop.orders shop.purchases --dry-run
  ./run_locally.sh rename shop.orders sales.orders
"""

from __future__ import annotations

import re
import shutil
import tempfile
from argparse import ArgumentParser, Namespace
from pathlib import Path

from lake_check.parsing.discovery import DOMAIN_FILE
from lake_desk.notes import file_of
from lake_desk.products.plans import check
from lake_spec.layout.glue_names import glue_names
from lake_spec.layout.table_folders import table_folder
from lake_spec.model import FileTable, ProductTable, TableSpec
from lake_spec.model import names

from lake_local.cli.commands.scope import specs_of_args
from lake_local.errors import BadRequest
from lake_local.workspace.specs import Specs


def add_arguments(parser: ArgumentParser) -> None:
    """Add both names."""
    parser.add_argument("old", metavar="DOMAIN.TABLE")
    parser.add_argument("new", metavar="NEW_DOMAIN.NEW_TABLE")
    parser.add_argument(
        "--dry-run", action="store_true", help="print what would change; write nothing"
    )


def run(args: Namespace) -> int:
    """Move the spec and print what goes along; 1 where other specs must follow."""
    specs = specs_of_args(args)
    table, new = specs.table(args.old), args.new
    moves = _moves(specs, table, new)
    for old, to in moves:
        print(f"{old} becomes {to}")
    print(*_along(specs, table, new), sep="\n")
    faults = _faults(specs.tables, table, new, moves)
    for each in faults:
        print(each)
    if faults:
        print(f"Correct these {len(faults)} line(s) too: they name {args.old}.")
    if args.dry_run:
        print("Nothing was written.")
    else:
        _write(specs.tables, table, new, moves)
    return 1 if faults else 0


Moves = list[tuple[Path, Path]]
"""Files below the folder of tables: from, to."""


def _moves(specs: Specs, table: TableSpec, new: str) -> Moves:
    """Return which files move. Raises BadRequest for a name that cannot be taken."""
    domain, _, name = new.partition(".")
    if any(list(names.name(("name",), part)) for part in (domain, name)):
        raise BadRequest(f"{new!r} is no name of a table. Write domain.table.")
    if not (specs.tables / domain / DOMAIN_FILE).exists():
        raise BadRequest(
            f"there is no domain {domain!r}: write {specs.tables / domain / DOMAIN_FILE} "
            "first."
        )
    below = Path()  # the folder of tables, or a copy of it
    moves = [(file_of(table.full_name, below), file_of(new, below))]
    sql = table.source.sql if isinstance(table, ProductTable) else None
    if sql and domain != table.domain:
        moves.append((Path(table.domain) / sql, Path(domain) / sql))
    for _, to in moves:
        if (specs.tables / to).exists():
            raise BadRequest(f"{specs.tables / to} is there: choose another name.")
    return moves


def _along(specs: Specs, table: TableSpec, new: str) -> list[str]:
    home = table_folder(specs.environment.warehouse, table.stored_as)
    entries = ", ".join(f"{table.domain}.{each}" for each in glue_names(table))
    said = [
        f"{new} goes on in {home}: change log, current, history, surrogate keys, bookmarks.",
        "Its list of erased keys, results of checks and profile stay where they are too.",
        f"Its next run makes {new} known in the catalogue, and marks {entries} as renamed.",
    ]
    if isinstance(table, FileTable):
        said.append(f"Its landing files stay below {table.source.path}/.")
    if not new.startswith(f"{table.domain}."):
        domain = new.partition(".")[0]
        said.append(
            f"The role of {domain} needs the table's folders: deploy the stack `domains`. "
            f"Runs of {domain} wait for one of {table.domain} that is under way."
        )
    return said


def _faults(tables: Path, table: TableSpec, new: str, moves: Moves) -> list[str]:
    """Return what is wrong with the specs once it is renamed, tried on a copy."""
    before = {str(each) for each in check(tables)[1]}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tables"
        shutil.copytree(tables, copy)
        _write(copy, table, new, moves)
        after = [str(each).replace(str(copy), str(tables)) for each in check(copy)[1]]
    return [each for each in after if each not in before]


def _write(tables: Path, table: TableSpec, new: str, moves: Moves) -> None:
    for old, to in moves:
        (tables / old).rename(tables / to)
    spec = tables / moves[0][1]
    spec.write_text(_renamed(spec.read_text(encoding="utf-8"), table, new), "utf-8")


def _renamed(text: str, table: TableSpec, new: str) -> str:
    """Return the spec's text under its new name, with the one that it is stored under."""
    name = new.partition(".")[2]
    text = re.sub(r"(?m)^(name:\s*)\S+", rf"\g<1>{name}", text, count=1)
    if table.formerly is not None:
        return text
    line = f"formerly: {table.full_name}\n"
    found = re.search(r"(?m)^name:.*\n", text)
    at = found.end() if found else 0
    return text[:at] + line + text[at:]
