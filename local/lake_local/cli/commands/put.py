"""Land files, as a source system would, and put requests to erase.

An address that ends in a file name gives one file that name; any other is the
folder that the files go to.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path, PurePosixPath

from lake_spec.contract.erase_request import folder_of
from lake_spec.model import EnvironmentSpec

from lake_local.cli.commands.scope import home_of, specs_of_args
from lake_local.errors import BadRequest
from lake_local.stack import objects, session

NAME = "put"
HELP = "land files at s3://lake/landing/..., put requests at s3://lake/runs/erase/..."


def add_arguments(parser: ArgumentParser) -> None:
    """Files, then where to."""
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path)
    parser.add_argument("to", metavar="s3://lake/...")


def run(args: Namespace) -> int:
    """Upload each file; those that lie there already are said to."""
    specs = specs_of_args(args)
    targets = targets_of(args.files, args.to, specs.environment)
    with session.opened(home_of(args), specs, who=NAME) as opened:
        s3 = opened.aws("s3")
        for file, url in targets:
            new = objects.put_file(s3, file, url)
            print(f"{'landed' if new else 'is there already'}  {url}")
    return 0


def targets_of(
    files: list[Path], to: str, environment: EnvironmentSpec
) -> list[tuple[Path, str]]:
    """Each file with its address; BadRequest for what cannot be put there."""
    objects.split(to)
    landing, requests = environment.landing, folder_of(environment.runs)
    if not to.startswith((f"{landing}/", f"{requests}/")):
        raise BadRequest(
            f"{to}: landing files go below {landing}/, requests to erase below"
            f" {requests}/."
        )
    for file in files:
        if not file.is_file():
            raise BadRequest(f"{file}: there is no such file.")
    if len(files) == 1 and not to.endswith("/") and PurePosixPath(to).suffix:
        return [(files[0], to)]
    return [(file, f"{to.rstrip('/')}/{file.name}") for file in files]
