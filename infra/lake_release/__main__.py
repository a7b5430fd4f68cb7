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
from lake_release.mwaa import MINUTES, Airflow
from lake_release.target import Target
from lake_spec.diagnostics.errors import LakeError

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


def _built(args: argparse.Namespace) -> Built:
    return build(
        args.environment, args.output, project=args.project, wheels=args.wheels
    )


def _deployment(args: argparse.Namespace) -> Deployment:
    environment = load_environment(
        args.environment, args.project / "dags" / "environments"
    )
    target = Target.of(environment, args.dags_bucket)
    airflow = None
    if not args.only_s3:
        client = client_of("mwaa", target.region)
        airflow = Airflow(client, target.airflow, minutes=args.minutes, say=_say)
    s3 = client_of("s3", target.region)
    return Deployment(
        target,
        s3,
        airflow=airflow,
        checkout=Checkout(args.project),
        by=_who(args.project),
        take_over=getattr(args, "take_over", ()),
        say=_say,
    )


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
