"""The commands by name, with what each does: a module is imported when it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Mapping, Sequence, Tuple, Union


@dataclass(frozen=True)
class Command:
    """A command of this package: a module of `cli/commands`.

    One that `keeps` may leave running what it started; one that `uses_aws` may call the
    account that the shell is signed in to, as `onboard` does for a secret.
    """

    name: str
    help: str
    keeps: bool = False
    uses_aws: bool = False

    @property
    def module(self) -> ModuleType:
        """Import the module: `add_arguments`, `run`, and its help as its docstring."""
        return import_module(f"lake_local.cli.commands.{self.name.replace('-', '_')}")


@dataclass(frozen=True)
class Program:
    """A program of another package, which parses its own arguments.

    `begins` are arguments that stand before those given: the program's own name of it.
    """

    name: str
    help: str
    package: str
    begins: Tuple[str, ...] = ()
    uses_aws: bool = False

    def run(self, argv: Sequence[str], script: str) -> int:
        """Run it; its help and its errors name the script."""
        main = import_module(f"{self.package}.__main__").main
        shown = script if self.begins else f"{script} {self.name}"
        code: int = main([*self.begins, *argv], prog=shown)
        return code


COMMANDS = (
    Command(
        "demo",
        "load a museum's artists twice and show their history (the default)",
        keeps=True,
    ),
    Command("up", "start Airflow and the AWS emulator, and leave them running"),
    Command("down", "stop everything that is running; the data stays"),
    Command("status", "print what is running: processes, clusters, leases, last runs"),
    Command(
        "put",
        "land files at s3://lake/landing/..., put requests at s3://lake/runs/erase/...",
    ),
    Command("run", "run a DAG and follow it to its end", keeps=True),
    Command("backfill", "run a DAG for past intervals of its schedule", keeps=True),
    Command("logs", "print the logs of a run's tasks and steps"),
    Command("validate", "check specs and print all mistakes"),
    Command("explain", "explain a message by its id: the cause, and what to do"),
    Command(
        "onboard",
        "write the specs of a database's tables, or of landing files",
        uses_aws=True,
    ),
    Command("suggest-rules", "propose quality rules for a table, from its profile"),
    Command("rename", "rename a table or move it to another domain, with its history"),
    Command("secret", "store the login of a database for runs on this machine"),
    Command(
        "connect", "capture a PostgreSQL database's changes into topics, until Ctrl-C"
    ),
    Command("show", "print rows of a table, now or at another time"),
    Command("sql", "answer a query over all tables, in a second"),
    Command("try-product", "try a product's SQL on the tables of this machine"),
    Command("test-product", "run the tests that stand beside a product's SQL"),
    Command("cost", "print cluster-minutes by run, table or domain"),
    Command(
        "site", "build the pages of the lake: tables, columns, lineage, runs, costs"
    ),
)

PROGRAMS = (
    Program(
        "estimate",
        "estimate the duration and cost of a table's runs",
        "lake_desk",
        ("estimate",),
    ),
    Program(
        "contract",
        "print a table's data contract (Open Data Contract Standard)",
        "lake_desk",
        ("contract",),
    ),
    Program(
        "compile", "write _compiled.json of every domain", "lake_desk", ("compile",)
    ),
    Program(
        "docs",
        "write the JSON Schemas and reference pages of the specs",
        "lake_desk",
        ("docs",),
    ),
    Program(
        "check",
        "list JSON Schemas and reference pages that are out of date",
        "lake_desk",
        ("check",),
    ),
    Program("infra", "print templates and parameters for CloudFormation", "lake_infra"),
    Program(
        "release",
        "build, plan and deploy releases to an account, or go back to one",
        "lake_release",
        uses_aws=True,
    ),
    Program(
        "acceptance",
        "prove that a deployment works, by a small run of its own",
        "lake_acceptance",
        uses_aws=True,
    ),
)

BY_NAME: Mapping[str, Union[Command, Program]] = {
    each.name: each for each in (*COMMANDS, *PROGRAMS)
}
