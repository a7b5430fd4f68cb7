"""Print what CloudFormation is given, made from the specs."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Iterable, Iterator, Optional, Sequence

from lake_check.parsing.loader import load_environment, load_lake
from lake_desk.products.plans import with_plans
from lake_infra.domains import domains_template, printed
from lake_infra.inline_policies import check_inline_policies
from lake_infra.parameters import parameters
from lake_infra.policies import policies
from lake_infra.readers import readers_template
from lake_infra.resource_names import check_catalogue, check_deployable
from lake_infra.settings import settings
from lake_infra.shared_airflow import layer_template
from lake_infra.template import LAYERS
from lake_infra.terraform import terraform_files
from lake_spec.diagnostics.errors import LakeError
from lake_spec.model import DomainSpec, EnvironmentSpec

DAGS = Path(__file__).resolve().parents[2] / "dags"


def main(argv: Optional[Sequence[str]] = None, prog: str = "lake_infra") -> int:
    """Print what was asked for; 1 where the specs do not allow it."""
    args = _parser(prog).parse_args(argv)
    try:
        print(args.command(args))
    except LakeError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _parameters(args: argparse.Namespace) -> str:
    """Format `Name=value` words, for --parameter-overrides."""
    environment, domains = _specs(args)
    known = parameters(_template(args), environment, domains)
    return " ".join(f"{name}={value}" for name, value in known.items())


def _print_template(args: argparse.Namespace) -> str:
    return printed(_template(args))


def _policies(args: argparse.Namespace) -> str:
    return json.dumps(policies(*_loaded(args)), indent=1)


def _terraform(args: argparse.Namespace) -> str:
    """Write what infra/terraform takes into a folder; return the names of the files."""
    environment, domains = _specs(args)
    files = terraform_files(environment, domains)
    args.folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (args.folder / name).write_text(text, encoding="utf-8")
    return "\n".join(str(args.folder / name) for name in files)


def _settings(args: argparse.Namespace) -> str:
    return settings(args.environment, sys.stdin.read())


def _template(args: argparse.Namespace) -> dict[str, Any]:
    if args.layer == "domains":
        return domains_template(*_specs(args))
    if args.layer == "readers":
        return readers_template(*_specs(args))
    return layer_template(_specs(args)[0], args.layer)


Specs = tuple[EnvironmentSpec, list[DomainSpec]]


def _specs(args: argparse.Namespace) -> Specs:
    environment, domains = _loaded(args)
    check_deployable(environment, domains)
    check_inline_policies(environment, domains)
    folder = args.dags / "environments"
    names = sorted(each.stem for each in folder.glob("*.yml"))
    check_catalogue(environment, list(_readable(names, folder)))
    return environment, domains


def _readable(names: Iterable[str], folder: Path) -> Iterator[EnvironmentSpec]:
    """Yield the environments that can be read; of the others `validate` says why not."""
    for name in names:
        try:
            yield load_environment(name, folder)
        except LakeError:
            continue


def _loaded(args: argparse.Namespace) -> Specs:
    environment = load_environment(args.environment, args.dags / "environments")
    lake = load_lake(args.dags / "tables", environment=environment)
    # Rights follow what products read: only what the other domain grants.
    return environment, with_plans(list(lake.domains.values()), args.dags / "tables")


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=prog, description=__doc__)
    parser.add_argument("--dags", type=Path, default=DAGS, help=argparse.SUPPRESS)
    commands = parser.add_subparsers(required=True)
    asked = commands.add_parser("parameters", help="of a layer, as words")
    asked.add_argument("environment")
    asked.add_argument("layer", choices=LAYERS)
    asked.set_defaults(command=_parameters)
    asked = commands.add_parser(
        "template", help="of a layer, as the environment takes it, as JSON"
    )
    asked.add_argument("environment")
    asked.add_argument("layer", choices=LAYERS)
    asked.set_defaults(command=_print_template)
    asked = commands.add_parser(
        "settings", help="of what `aws cloudformation describe-stacks` prints"
    )
    asked.add_argument("environment")
    asked.set_defaults(command=_settings)
    asked = commands.add_parser(
        "terraform", help="write what infra/terraform takes into a folder"
    )
    asked.add_argument("environment")
    asked.add_argument("folder", type=Path)
    asked.set_defaults(command=_terraform)
    asked = commands.add_parser("policies", help="that a deployment gives, as JSON")
    asked.add_argument("environment")
    asked.set_defaults(command=_policies)
    return parser


if __name__ == "__main__":
    sys.exit(main())
