"""The specs of a command: the folder of tables and the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from lake_check.parsing.discovery import TESTS_ENDING
from lake_check.parsing.loader import environment_file, load_domain, load_environment
from lake_desk.products.plans import with_plans
from lake_spec.diagnostics.errors import LakeError
from lake_spec.model import DomainSpec, EnvironmentSpec, TableSpec

from lake_local.errors import BadRequest, unknown
from lake_local.workspace.dags_folder import domains_in, generate
from lake_local.workspace.project import Project

ENVIRONMENT = "local"


@dataclass(frozen=True)
class Specs:
    """A tables folder and the environment of its tables."""

    project: Project
    tables: Path
    environment: EnvironmentSpec
    environment_file: str

    @property
    def are_the_projects(self) -> bool:
        """Return whether these are the specs that ship with the project."""
        return self.tables == self.project.tables

    def dags_folder(self, generated: Path) -> Path:
        """Return the DAGs folder of these specs; for tables elsewhere than the project's it
        is generated there. Raises BadRequest where a file of others has its place."""
        if self.are_the_projects:
            return self.project.dags
        return generate(generated, project_dags=self.project.dags, tables=self.tables)

    def of_running(self, tables: Path) -> Specs:
        """Return the same environment with the running tables."""
        return replace(self, tables=tables)

    def domain_names(self) -> list[str]:
        """List the names of the domains, also of those with mistakes."""
        return domains_in(self.tables)

    def domains(self) -> list[DomainSpec]:
        """List every domain. Raises BadRequest with the mistakes of the first wrong one."""
        return [self.domain(name) for name in self.domain_names()]

    def planned_domains(self) -> list[DomainSpec]:
        """List every domain with the plans of its products, as a release has them.

        Raises BadRequest with the mistakes.
        """
        domains = self.domains()
        try:
            return with_plans(domains, self.tables)
        except LakeError as error:
            raise _mistakes("the products", error) from error

    def domain(self, name: str) -> DomainSpec:
        """Return one domain. Raises BadRequest with its mistakes, or the nearest name."""
        names = domains_in(self.tables)
        if name not in names:
            raise BadRequest(unknown("domain", name, names))
        try:
            return load_domain(name, self.tables, self.environment)
        except LakeError as error:
            raise _mistakes(f"the specs of {name}", error) from error

    def table(self, full_name: str) -> TableSpec:
        """Return the table `domain.table`. Raises BadRequest with the nearest name."""
        name = full_name.split(".", 1)[0]
        if name not in domains_in(self.tables):
            raise BadRequest(unknown("table", full_name, table_names(self.tables)))
        for table in self.domain(name).tables:
            if table.full_name == full_name:
                return table
        raise BadRequest(unknown("table", full_name, table_names(self.tables)))


def table_names(tables: Path) -> list[str]:
    """Return the tables that a folder of specs has, by the names of their files alone."""
    found = (each for each in tables.glob("[a-z]*/[a-z]*.y*ml"))
    return [
        f"{each.parent.name}.{each.stem}"
        for each in found
        if not each.name.endswith(TESTS_ENDING)
    ]


def _mistakes(of: str, error: LakeError) -> BadRequest:
    return BadRequest(
        f"{of} have mistakes:\n{error}\nFix them, then check again:"
        " ./run_locally.sh validate"
    )


def asked_environment(project: Project, given: str = "") -> str:
    """Return the file of the given environment, else of LAKE_ENVIRONMENT, else ""."""
    given = given or os.environ.get("LAKE_ENVIRONMENT") or ""
    folder = project.dags / "environments"
    return str(environment_file(given, folder)) if given else ""


def specs_of(project: Project, tables: Path | None, given: str = "") -> Specs:
    """Return the specs in `tables`, or those that ship with the project.

    `given` is the environment's name or file; without it LAKE_ENVIRONMENT is.
    """
    asked = asked_environment(project, given) or asked_environment(project, ENVIRONMENT)
    file = Path(asked)
    environment = load_environment(file.stem, file.parent)
    chosen = tables.expanduser().resolve() if tables else project.tables
    if tables:
        domains_in(chosen)
    return Specs(project, chosen, environment, str(file))
