"""Build, plan and deploy releases of an environment, or go back to one."""

from __future__ import annotations

import argparse
import getpass
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Optional, Sequence

import boto3

from lake_check.parsing.loader import load_environment
from lake_release.built import PROJECT, Built, build
from lake_release.commits import Checkout
from lake_release.deployment import Deployment
from lake_release.errors import AWS_ERRORS, ReleaseError, as_release_error
from lake_release.host import Host
from lake_release.mwaa import MINUTES, Airflow
from lake_release.removal import Removal
from lake_release.shared_files import join, leave
from lake_release.target import Target
from lake_spec.diagnostics.errors import LakeError
from lake_spec.model import EnvironmentSpec

OUTPUT = PROJECT / ".local" / "build" / "releases"


def main(argv: Optional[Sequence[str]] = None, prog: str = "infra/release.py") -> int:
    """Do what was asked for; 1 with the reason where it cannot be done."""
    args = _parser(prog).parse_args(argv)
    try:
        args.command(args)
    except (ReleaseError, LakeError) as error:
        print(error, file=sys.stderr)
        return 1
    except AWS_ERRORS as error:
        print(as_release_error(error, "a call of AWS"), file=sys.stderr)
        return 1
    return 0


def _build(args: argparse.Namespace) -> None:
    built = _built(args)
    print(f"release {built.id} in {built.folder}")


def _plan(args: argparse.Namespace) -> None:
    built = _built(args)
    for line in _deployment(args).plan(built):
        print(line)


def _deploy(args: argparse.Namespace) -> None:
    built = _built(args)
    deployment = _deployment(args)
    for line in deployment.plan(built):
        print(line)
    deployment.deploy(built, older=args.older)
    if args.require_proof:
        deployment.check_proven()


def _rollback(args: argparse.Namespace) -> None:
    _deployment(args).rollback(args.to)


def _status(args: argparse.Namespace) -> None:
    for line in _deployment(args).status():
        print(line)


def _join(args: argparse.Namespace) -> None:
    for line in join(
        _host(args),
        args.to,
        project=args.project,
        runs=_environment(args).runs,
        plugin=args.plugin,
        wheels=args.wheels,
    ):
        print(line)


def _remove(args: argparse.Namespace) -> None:
    host, target = _host(args), _target(args)
    s3 = client_of("s3", target.region)
    Removal(target, s3, airflow=_airflow(args, target), host=host, say=_say).run()
    for line in leave(host, args.to):
        print(line)


def _built(args: argparse.Namespace) -> Built:
    return build(
        args.environment, args.output, project=args.project, wheels=args.wheels
    )


def _deployment(args: argparse.Namespace) -> Deployment:
    target = _target(args)
    return Deployment(
        target,
        client_of("s3", target.region),
        airflow=None if args.only_s3 else _airflow(args, target),
        host=_host(args) if target.is_shared else None,
        checkout=Checkout(args.project),
        by=_who(args.project),
        take_over=getattr(args, "take_over", ()),
        say=_say,
    )


def _environment(args: argparse.Namespace) -> EnvironmentSpec:
    return load_environment(args.environment, args.project / "dags" / "environments")


def _target(args: argparse.Namespace) -> Target:
    return Target.of(_environment(args), args.dags_bucket)


def _airflow(args: argparse.Namespace, target: Target) -> Airflow:
    client = client_of("mwaa", target.region)
    return Airflow(client, target.airflow, minutes=args.minutes, say=_say)


def _host(args: argparse.Namespace) -> Host:
    """Return the Airflow of others. Raises ReleaseError for one of its own, and where it
    is not to be asked."""
    target = _target(args)
    if not target.is_shared:
        raise ReleaseError(
            f"environments/{target.environment}.yml has no `airflow`: its Airflow is the "
            "one of the layer mwaa, which goes with its stack (docs/deploy.md)."
        )
    if args.only_s3:
        raise ReleaseError(
            f"--only-s3: {target.airflow} is of others, and has to be asked what is "
            "theirs. Leave the option out."
        )
    s3 = client_of("s3", target.region)
    return Host(target, s3, _airflow(args, target), args.project)


def client_of(service: str, region: str) -> Any:
    """Create a client of a service in a region."""
    return boto3.client(service, region_name=region)


def _say(line: str) -> None:
    print(line, flush=True)


def _who(project: Path) -> str:
    """Return who deploys, and the commit of the tree."""
    done = subprocess.run(
        ["git", "-C", str(project), "describe", "--always", "--dirty"],
        capture_output=True,
        text=True,
    )
    commit = done.stdout.strip() or "no commit"
    return f"{os.environ.get('GITHUB_ACTOR') or getpass.getuser()} {commit}"


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=prog, description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")
    for command, words in (
        (_build, "build the release of this checkout"),
        (_plan, "build it, and list what deploying it would change"),
        (_deploy, "build it, list what it changes, and deploy it"),
        (_rollback, "roll back to the previous release"),
        (_status, "list the releases that were deployed"),
        (_join, "write what an Airflow of others installs, with ours in it"),
        (_remove, "take all releases out of an Airflow of others"),
    ):
        asked = commands.add_parser(command.__name__.lstrip("_"), help=words)
        asked.set_defaults(command=command)
        _options(asked, builds=command in (_build, _plan, _deploy))
        if command is not _build:
            _places(asked)
        if command is _deploy:
            asked.add_argument(
                "--older",
                action="store_true",
                help="allow a commit that was not made on top of the deployed one",
            )
            asked.add_argument(
                "--require-proof",
                action="store_true",
                help="exit with 1 if nobody could try the release, which then stays",
            )
        if command in (_plan, _deploy, _rollback):
            asked.add_argument(
                "--take-over",
                metavar="KEY",
                action="append",
                default=[],
                help=(
                    "replace this object of somebody else's in Airflow's bucket, which "
                    "a refusal named; once for each"
                ),
            )
        if command is _join:
            asked.add_argument("--to", type=Path, required=True, metavar="DIR")
            asked.add_argument(
                "--plugin", action="store_true", help="join the pages of the lake too"
            )
            asked.add_argument(
                "--wheels", type=Path, help="a folder of wheels for plugins.zip"
            )
        if command is _remove:
            asked.add_argument(
                "--to",
                type=Path,
                metavar="DIR",
                help="write what they install without ours into this folder",
            )
        if command is _rollback:
            asked.add_argument(
                "--to", metavar="RELEASE", help="default: the previous one"
            )
    return parser


def _options(parser: argparse.ArgumentParser, *, builds: bool) -> None:
    parser.add_argument("environment", help="a file of dags/environments/")
    parser.add_argument("--project", type=Path, default=PROJECT, help=argparse.SUPPRESS)
    if builds:
        parser.add_argument(
            "--output", type=Path, default=OUTPUT, help="default: .local/build/releases"
        )
        parser.add_argument(
            "--wheels", type=Path, help="a folder of wheels for plugins.zip"
        )


def _places(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dags-bucket", help="default: lake-<environment>-airflow-<account>"
    )
    parser.add_argument(
        "--only-s3",
        action="store_true",
        help="skip MWAA, for an environment without one",
    )
    parser.add_argument(
        "--minutes",
        type=float,
        default=MINUTES,
        help=(
            "for all waiting; must be shorter than the credentials' lifetime; "
            "default: %(default)s"
        ),
    )


if __name__ == "__main__":
    sys.exit(main())
