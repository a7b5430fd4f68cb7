"""Check specs and print every mistake of every file, with what to do.

Each line ends with the id of its rule; `explain ID` explains it. It starts nothing. Exit
code 0 without mistakes, else 1.

Examples:
  ./run_locally.sh validate
  ./run_locally.sh validate dags/tables/moma
  ./run_locally.sh validate dags/tables/moma/artists.yml
"""

from __future__ import annotations

import os
import re
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Iterable, Iterator

from lake_check.parsing.discovery import DEFAULTS, DOMAIN_FILE, ENDING
from lake_check.parsing.product_sql import ENDING as SQL
from lake_desk.notes import Note
from lake_desk.products.plans import check
from lake_spec.diagnostics.diagnostic import Diagnostic
from lake_spec.diagnostics.suggestions import nearest

from lake_local.errors import BadRequest
from lake_local.workspace.project import Project, find


def add_arguments(parser: ArgumentParser) -> None:
    """Add the paths of specs."""
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        type=Path,
        help="a folder of domains, a domain's folder or a file: only its mistakes"
        " (default: --tables, else dags/tables, with clusters and environments)",
    )


def run(args: Namespace) -> int:
    """Print each mistake on a line of its own, then how many there are."""
    project = find()
    tables = args.tables or project.tables
    for path in args.paths:
        _require(path)
    if args.paths:
        files, faults, notes = _of_paths(args.paths, tables, project)
    else:
        files, faults, notes = _check(tables, project)
    for each in (*faults, *notes):
        print(each)
    print(f"{_count(files, 'file')}: {_count(len(faults), 'mistake')}")
    return 1 if faults else 0


Result = tuple[int, list[Diagnostic], list[Note]]
"""The number of files, their mistakes, and warnings and notes on products."""


def _check(tables: Path, project: Project) -> Result:
    return check(
        tables,
        clusters=project.dags / "clusters",
        environments=project.dags / "environments",
    )


def _of_paths(paths: Iterable[Path], tables: Path, project: Project) -> Result:
    """Return how many files the paths name, with the mistakes and notes of these only.

    Rules across files are still checked against all the files around them.
    """
    by_root: dict[Path, list[Path]] = {}
    for path in paths:
        by_root.setdefault(_root_of(path, tables, project), []).append(path)
    files: set[Path] = set()
    faults: list[Diagnostic] = []
    notes: list[Note] = []
    for root, chosen in by_root.items():
        is_whole = any(_same(path, root) for path in chosen)
        number, found, noted = _check(root, project)
        if is_whole and len(by_root) == 1:
            return number, found, noted
        files.update(file for path in chosen for file in _files_of(path))
        faults += [x for x in found if is_whole or _is_below(x.file, chosen)]
        notes += [x for x in noted if is_whole or _is_below(x.file, chosen)]
    return len(files), faults, notes


def _root_of(path: Path, tables: Path, project: Project) -> Path:
    """Return the folder of domains with which a path is checked."""
    absolute = path.absolute()
    settings = (project.dags / "clusters", project.dags / "environments")
    if any(absolute == each or each in absolute.parents for each in settings):
        return tables
    if path.is_dir():
        return _parent(path) if _is_domain(absolute, tables) else path
    folder = _parent(path)
    is_of_all = path.name == DEFAULTS and not _is_domain(folder.absolute(), tables)
    return folder if is_of_all else _parent(folder)


def _parent(path: Path) -> Path:
    """Return the folder that a path is in, relative if the path is."""
    return path.parent if path.name not in ("", "..") else path.absolute().parent


def _is_domain(folder: Path, tables: Path) -> bool:
    """Return whether a folder is a domain, perhaps one that lacks its `_domain.yml`."""
    if (folder / DOMAIN_FILE).exists() or folder.parent == tables.absolute():
        return True
    return any(not x.name.startswith("_") for x in folder.glob(f"*{ENDING}")) and not (
        any(folder.glob(f"*/{DOMAIN_FILE}"))
    )


def _files_of(path: Path) -> Iterator[Path]:
    found = path.rglob(f"*{ENDING}") if path.is_dir() else (path,)
    return (each.resolve() for each in found)


def _is_below(file: str, chosen: Iterable[Path]) -> bool:
    """Return whether a file is chosen, by itself, by a folder or by its product's spec."""
    place = Path(file).resolve()
    return any(
        place == each or each in place.parents or _is_sql_of(place, each)
        for each in map(Path.resolve, chosen)
    )


def _is_sql_of(file: Path, spec: Path) -> bool:
    """Return whether a spec names a SQL file next to it."""
    if file.suffix != SQL or spec.suffix != ENDING or spec.parent != file.parent:
        return False
    text = spec.read_text(encoding="utf-8", errors="replace")
    return re.search(rf"(?<!\w){re.escape(file.name)}", text) is not None


def _same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


def _require(path: Path) -> None:
    """Raise BadRequest for a path that does not exist, with the nearest one."""
    if path.is_dir() or path.is_file() and path.suffix == ENDING:
        return
    if path.exists():
        raise BadRequest(
            f"validate {path}: not a spec. Write a folder of specs, or a file that ends in"
            f" {ENDING}."
        )
    found = _nearest(path)
    hint = (
        f"Did you mean '{found}'?"
        if found
        else "Write a folder of domains, a domain's folder or a spec file."
    )
    raise BadRequest(f"validate {path}: no such file or folder. {hint}")


def _nearest(path: Path) -> Path | None:
    """Return the existing path that is most similar to one that does not exist."""
    there = Path(path.anchor) if path.is_absolute() else Path()
    for part in path.parts[1:] if path.is_absolute() else path.parts:
        if part == ".." or (there / part).exists():
            there = there / part
            continue
        names = os.listdir(there or ".") if there.is_dir() else []
        # A table may be named without its ending.
        name = f"{part}{ENDING}" if f"{part}{ENDING}" in names else nearest(part, names)
        if not name:
            return None
        there = there / name
    return there


def _count(number: int, thing: str) -> str:
    return f"{number or 'no'} {thing}{'' if number == 1 else 's'}"
