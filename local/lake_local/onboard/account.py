"""The AWS of an environment: the emulator, or the caller's own account."""

from __future__ import annotations

from argparse import Namespace
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Iterator, Tuple

import boto3
from botocore.config import Config

from lake_spec.model import Connection, EnvironmentSpec
from lake_spec.model.json_codec import to_data

from lake_local.airflow.settings import shut_out_real_accounts
from lake_local.onboard.spec_text import flow, scalar
from lake_local.onboard.summary import FirstRun
from lake_local.stack import session
from lake_local.workspace.command_line import short
from lake_local.workspace.project import find
from lake_local.workspace.specs import ENVIRONMENT, Specs, specs_of
from lake_local.workspace.state_dir import StateDirectory

Clients = Callable[[str], Any]
_CONFIG = Config(connect_timeout=5, read_timeout=20, retries={"max_attempts": 2})


def environment_of(args: Namespace) -> EnvironmentSpec:
    """Return the environment that is named, or that of the given file."""
    return _specs(args).environment


def first_run_of(args: Namespace, environment: EnvironmentSpec) -> FirstRun:
    """Return how rows get to the first run of the onboarded tables."""
    is_local = environment.name == ENVIRONMENT
    usual = str(find().dags / "environments" / f"{ENVIRONMENT}.yml")
    file = _specs(args).environment_file
    is_named = args.environment and is_local and file != usual
    files = args.files if args.files and "://" not in args.files else ""
    return FirstRun(
        home=StateDirectory.at(args.state_dir),
        is_local=is_local,
        variable=short(Path(file)) if is_named else "",
        files=Path(files).expanduser() if files else None,
        landing=environment.landing,
    )


def _specs(args: Namespace) -> Specs:
    return specs_of(find(), None, args.environment or "")


def tables_folder(args: Namespace) -> Path:
    """Return the folder of domains for the specs."""
    return (args.out or args.tables or find().tables).expanduser().resolve()


def only(args: Namespace) -> Tuple[str, ...]:
    """Return names and patterns of the chosen tables; none for all."""
    return tuple(each.strip() for each in args.only.split(",") if each.strip())


@contextmanager
def clients(args: Namespace, environment: EnvironmentSpec) -> Iterator[Clients]:
    """Return clients of AWS by service; the emulator's for the environment `local`."""
    if environment.name == ENVIRONMENT:
        shut_out_real_accounts()
        home = StateDirectory.at(args.state_dir)
        home.check()
        with session.opened(home, _specs(args), who="onboard") as opened:
            yield opened.aws
        return

    def client(service: str) -> Any:
        return boto3.client(service, region_name=environment.region, config=_CONFIG)

    yield client


def entry(name: str, connection: Connection) -> str:
    """Format the connection as a line under `connections` of an environment."""
    settings = {"kind": connection.kind, **to_data(connection, with_defaults=False)}
    return f"{scalar(name)}: {flow(settings)}"
