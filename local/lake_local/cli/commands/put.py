"""Land files, as a source system would, or put requests to erase, or certificates.

An address that ends in a file name gives one file that name; any other is a folder for
the files. Of a folder all files are put, under their paths in it, without hidden ones
(.name). Each line names the table that reads the file; a warning names files that no
table reads.

Examples:
  ./run_locally.sh put orders_2026-01-31.csv.gz s3://lake/landing/sales/orders/
  ./run_locally.sh put exports/orders s3://lake/landing/sales/orders/
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path, PurePosixPath
from typing import Iterable, Iterator

from lake_spec.model import DomainSpec, EnvironmentSpec
from lake_spec.state.erase_request import folder_of

from lake_local.cli.commands.scope import home_of, specs_of_args
from lake_local.errors import BadRequest
from lake_local.stack import objects, session
from lake_local.text import progress
from lake_local.workspace.landing import SIGN, Landing
from lake_local.workspace.specs import Specs

NAME = "put"
MOST_WARNINGS = 5
"""Files that are named with one reason; of more only the number is printed."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the files, then their target."""
    parser.add_argument("files", metavar="FILE_OR_DIR", nargs="+", type=Path)
    parser.add_argument("to", metavar="s3://lake/...")


def run(args: Namespace) -> int:
    """Upload each file and print which table reads it; warn of files that none reads."""
    specs = specs_of_args(args)
    targets = targets_of(args.files, args.to, specs.environment)
    landing = Landing.of(specs.environment, _domains(specs))
    targets.sort(key=lambda target: _is_sign(landing, target[1]))
    with session.opened(home_of(args), specs, who=NAME) as opened:
        s3 = opened.aws("s3")
        for file, url in targets:
            new = objects.put_file(s3, file, url)
            state = "landed" if new else "unchanged"
            print(f"{state}  {url}{_read_by(landing, url)}")
    for line in warnings(landing, [url for _, url in targets]):
        progress(line)
    return 0


def targets_of(
    files: list[Path], to: str, environment: EnvironmentSpec
) -> list[tuple[Path, str]]:
    """Return each file with its address. Raises BadRequest for a wrong one."""
    objects.split(to)
    if len(files) == 1 and files[0].is_file() and to in _certificates(environment):
        return [(files[0], to)]
    landing, requests = environment.landing, folder_of(environment.runs)
    roots = [f"{root.uri}/" for _, root in environment.landing_roots]
    if not to.startswith((f"{landing}/", f"{requests}/", *roots)):
        raise BadRequest(
            f"{to}: not a folder for landing files or requests to erase. Write an address"
            f" below {' or '.join([f'{landing}/', *roots])} (landing files) or"
            f" {requests}/ (requests), or `ca` of a"
            " connection."
        )
    is_name = not to.endswith("/") and PurePosixPath(to).suffix
    if len(files) == 1 and is_name and files[0].is_file():
        return [(files[0], to)]
    folder = to.rstrip("/")
    found = [(each, f"{folder}/{path}") for each, path in _listed(files)]
    double = _double(url for _, url in found)
    if double:
        raise BadRequest(
            f"{double}: several of the files would get this address. Put their folders one"
            " at a time, each to a folder of its own."
        )
    return found


def _certificates(environment: EnvironmentSpec) -> set[str]:
    """List the files that connections name as `ca`."""
    return {each.ca for _, each in environment.connections if each.ca}


def warnings(landing: Landing, urls: Iterable[str]) -> Iterator[str]:
    """List warnings about files that no table reads, or whose names have no time."""
    by_reason: dict[str, list[str]] = {}
    for url in urls:
        if not landing.has(url):
            continue
        is_read = landing.readers(url)
        reason = landing.without_time(url) if is_read else landing.unread(url)
        if reason:
            head = "" if is_read else "no table reads "
            by_reason.setdefault(f"{head}{{}}: {reason}", []).append(url)
    for reason, found in by_reason.items():
        shown = ", ".join(found[:MOST_WARNINGS])
        more = len(found) - MOST_WARNINGS
        shown += f" and {more:,} more" if more > 0 else ""
        yield "WARNING: " + reason.replace("{}", shown, 1)


def _listed(files: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """List each file, also those of folders, with its path at the target."""
    for file in files:
        if file.is_file():
            yield file, file.name
        elif file.is_dir():
            inside = [(x, x.relative_to(file)) for x in sorted(file.rglob("*"))]
            seen = [(x, path) for x, path in inside if x.is_file() and _is_seen(path)]
            if not seen:
                raise BadRequest(
                    f"{file}: the folder has no files that are not hidden (.name). Put a"
                    " folder with files."
                )
            yield from ((x, path.as_posix()) for x, path in seen)
        else:
            raise BadRequest(
                f"{file}: no such file or folder. Write the path of an existing one; the"
                " target s3://... comes last."
            )


def _is_seen(path: Path) -> bool:
    return not any(part.startswith(".") for part in path.parts)


def _double(urls: Iterable[str]) -> str:
    seen: set[str] = set()
    for url in urls:
        if url in seen:
            return url
        seen.add(url)
    return ""


def _domains(specs: Specs) -> Iterator[DomainSpec]:
    """List the domains whose specs are valid; warn of the others."""
    for name in specs.domain_names():
        try:
            yield specs.domain(name)
        except BadRequest:
            progress(
                f"WARNING: the specs of {name} have mistakes, so whether its tables read"
                " these files is unknown. List them: ./run_locally.sh validate"
            )


def _read_by(landing: Landing, url: str) -> str:
    found = [f"{each.table} as {each.role}" for each in landing.readers(url)]
    return f"  read by {', '.join(found)}" if found else ""


def _is_sign(landing: Landing, url: str) -> bool:
    """Return whether a file marks others as complete, and so is put after them."""
    return any(each.role == SIGN for each in landing.readers(url))
