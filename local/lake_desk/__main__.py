"""`python -m lake_desk validate|compile|docs|check|estimate|contract`: for desk and CI."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import List, Optional

from lake_check.parsing import compiled_domains
from lake_check.parsing.loader import (
    domain_names,
    load_domain,
    load_environment,
    load_table,
)
from lake_desk.docgen import pages
from lake_desk.estimate import command as estimate_command
from lake_desk.export.data_contract import data_contract
from lake_desk.products.plans import check, with_plans
from lake_desk.yaml_writer import yaml_text
from lake_spec.diagnostics.errors import LakeError
from lake_spec.lineage.sensitivity import ColumnSensitivity
from lake_spec.model import ProductTable

DAGS = Path(__file__).resolve().parents[2] / "dags"
DOCS = DAGS.parent / "docs"


def main(argv: Optional[List[str]] = None, prog: str = "python -m lake_desk") -> int:
    """Run one command; 0 if all is well, 1 if there is something to fix."""
    args = _parser(prog).parse_args(argv)
    try:
        status: int = args.command(args)
        return status
    except LakeError as error:
        print(error, file=sys.stderr)
        return 1


def validate(args: argparse.Namespace) -> int:
    """Print every fault of every file, then how many there are."""
    files, diagnostics, notes = check(
        args.tables,
        clusters=args.clusters or _sibling(args.tables, "clusters"),
        environments=args.environments or _sibling(args.tables, "environments"),
    )
    for each in (*diagnostics, *notes):
        print(each)
    print(f"{files} files, {len(diagnostics)} faults")
    return 1 if diagnostics else 0


def compile_domains(args: argparse.Namespace) -> int:
    """Write the compiled form of every domain, or of none."""
    texts = {
        args.tables
        / name
        / compiled_domains.FILE: compiled_domains.compile_domain(args.tables, name)
        for name in domain_names(args.tables)
    }
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
        print(path)
    return 0


def docs(args: argparse.Namespace) -> int:
    """Write the schemas and reference pages."""
    for path in pages.write(args.docs):
        print(path)
    return 0


def check_docs(args: argparse.Namespace) -> int:
    """Name the schemas and reference pages that are not those of the model."""
    stale = pages.outdated(args.docs)
    for path in stale:
        print(f"{path}: out of date. Run `./run_locally.sh docs`.")
    return 1 if stale else 0


def contract(args: argparse.Namespace) -> int:
    """Print the data contract of a table as YAML, in the Open Data Contract Standard."""
    environment = known = None
    if args.environment:
        folder = args.environments or _sibling(args.tables, "environments")
        environment = load_environment(args.environment, folder)
    domain, table = load_table(args.table, args.tables, environment)
    # Plans say which columns its SQL reads, also of other domains.
    if isinstance(table, ProductTable):
        domains = [load_domain(each, args.tables) for each in domain_names(args.tables)]
        planned = with_plans(domains, args.tables)
        known = ColumnSensitivity(each for of in planned for each in of.tables)
    found = data_contract(domain, table.name, environment, known=known)
    print(yaml_text(found), end="")
    return 0


def _sibling(tables: Path, name: str) -> Path:
    """Return the folder next to the tables, or the project's own if it is missing."""
    folder = tables.parent / name
    return folder if folder.is_dir() else DAGS / name


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=prog, description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, command: object, words: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=words, description=words)
        added.set_defaults(command=command)
        return added

    one = add("validate", validate, "print all diagnostics of all specs")
    _add_tables(one)
    one.add_argument("--clusters", type=Path, metavar="DIR")
    one.add_argument("--environments", type=Path, metavar="DIR")
    _add_tables(add("compile", compile_domains, "write _compiled.json of every domain"))
    for name, command, words in (
        ("docs", docs, "write the JSON Schemas and reference pages"),
        ("check", check_docs, "list generated pages that are out of date"),
    ):
        page = add(name, command, words)
        page.add_argument("docs", type=Path, nargs="?", default=DOCS, metavar="DIR")
    words = "estimate the duration and cost of a table's runs: docs/estimates.md"
    one = add("estimate", estimate_command.run, words)
    estimate_command.add_arguments(one, DAGS / "tables")
    words = "print a table's data contract (Open Data Contract Standard) as YAML"
    one = add("contract", contract, words)
    one.add_argument("table", metavar="DOMAIN.TABLE")
    one.add_argument("--tables", type=Path, default=DAGS / "tables", metavar="DIR")
    words = "environment whose storage the contract names; default: none"
    one.add_argument("--environment", metavar="NAME", help=words)
    one.add_argument("--environments", type=Path, metavar="DIR")
    return parser


def _add_tables(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "tables", type=Path, nargs="?", default=DAGS / "tables", metavar="DIR"
    )


if __name__ == "__main__":
    sys.exit(main())
