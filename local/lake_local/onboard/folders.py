"""Writes specs of landing files, from a folder with a sub-folder per table."""

from __future__ import annotations

import time
from argparse import Namespace
from pathlib import Path
from typing import List

from lake_spec.model import EnvironmentSpec

from lake_local.errors import BadRequest
from lake_local.onboard import account, files, summary
from lake_local.onboard.plan import Planned
from lake_local.onboard.stores import LocalFolder, NoFiles, s3_folder
from lake_local.onboard.writing import write
from lake_local.text import progress

OF_DATABASES = ("way", "schema", "check", "kafka_connection", "topic_prefix", "no_tls")


def onboard(args: Namespace) -> int:
    """Read, plan, write, print; return the exit code of `validate`."""
    started = time.monotonic()
    given = [each for each in OF_DATABASES if getattr(args, each)]
    if given:
        words = "from" if given[0] == "way" else given[0].replace("_", "-")
        raise BadRequest(
            f"--{words} with --files: the option is for databases. Remove one of the two."
        )
    environment = account.environment_of(args)
    only = account.only(args)
    landing = _below_landing(args.files, environment)
    request = files.Request(args.domain, landing, only, args.owner)
    try:
        planned = _planned(args, environment, request)
    except NoFiles as error:
        raise BadRequest(f"--files {error}") from None
    if not planned:
        raise BadRequest(
            f"--only {args.only!r}: no folder in {args.files} matches. Correct it, or remove"
            " it to onboard all folders."
        )
    out = account.tables_folder(args)
    done = write(planned, out, args.domain, owner=args.owner, force=args.force)
    seconds = time.monotonic() - started
    first = account.first_run_of(args, environment)
    return summary.print_all(done, out, seconds, [], first)


def _planned(
    args: Namespace, environment: EnvironmentSpec, request: files.Request
) -> List[Planned]:
    progress(f"reading the files in {args.files}")
    if "://" not in args.files:
        return files.planned(LocalFolder(Path(args.files).expanduser()), request)
    with account.clients(args, environment) as clients:
        return files.planned(s3_folder(clients("s3"), args.files), request)


def _below_landing(folder: str, environment: EnvironmentSpec) -> str:
    """Return the folder's path below the landing area; "" if it is elsewhere."""
    root = f"{environment.landing}/"
    return folder.rstrip("/")[len(root) :] if folder.startswith(root) else ""
