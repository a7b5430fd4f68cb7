"""The specs that a command works on: which folder, which environment."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from lake_spec.diagnostics.errors import LakeError
from lake_spec.model import DomainSpec, EnvironmentSpec, TableSpec
from lake_spec.parsing.loader import environment_file, load_domain, load_environment

from lake_local.errors import BadRequest, unknown
from lake_local.workspace.dags_folder import domains_in
from lake_local.workspace.project import Project

ENVIRONMENT = "local"


@dataclass(frozen=True)
class Specs:
    """A tables folder and the environment that its tables live in."""

    project: Project
    tables: Path
    environment: EnvironmentSpec
    environment_file: str

    @property
    def are_the_projects(self) -> bool:
        """Whether these are the specs that ship with the project."""
        return self.tables == self.project.tables

    def of_running(self, tables: Path) -> Specs:
        """The same environment with the tables of what is up."""
        return replace(self, tables=tables)

    def domain_names(self) -> list[str]:
        """The names of the domains, with and without faults."""
        return domains_in(self.tables)

    def domains(self) -> list[DomainSpec]:
        """Every domain; BadRequest with all faults of all of them."""
        return [self.domain(name) for name in self.domain_names()]

    def domain(self, name: str) -> DomainSpec:
        """One domain; BadRequest with its faults, or with what it could be."""
        names = domains_in(self.tables)
        if name not in names:
            raise BadRequest(unknown("domain", name, names))
        try:
            return load_domain(name, self.tables)
        except LakeError as error:
            raise BadRequest(f"{error}\nSee them all with `validate`.") from error

    def table(self, full_name: str) -> TableSpec:
        """`domain.table`; BadRequest with the nearest match if there is none."""
        name = full_name.split(".", 1)[0]
        if name not in domains_in(self.tables):
            raise BadRequest(unknown("table", full_name, self._table_names()))
        for table in self.domain(name).tables:
            if table.full_name == full_name:
                return table
        raise BadRequest(unknown("table", full_name, self._table_names()))

    def _table_names(self) -> list[str]:
        found = (each for each in self.tables.glob("[a-z]*/[a-z]*.y*ml"))
        return [f"{each.parent.name}.{each.stem}" for each in found]


def asked_environment(project: Project, given: str = "") -> str:
    """The file of the environment that is given, else that the variable asks for;
    empty if neither does."""
    given = given or os.environ.get("LAKE_ENVIRONMENT") or ""
    folder = project.dags / "environments"
    return str(environment_file(given, folder)) if given else ""


def specs_of(project: Project, tables: Path | None, given: str = "") -> Specs:
    """The specs in `tables`, or those that ship with the project.

    `given` names the environment, or is its file; else the variable does, or is.
    """
    asked = asked_environment(project, given) or asked_environment(project, ENVIRONMENT)
    file = Path(asked)
    environment = load_environment(file.stem, file.parent)
    chosen = tables.expanduser().resolve() if tables else project.tables
    if tables:
        domains_in(chosen)
    return Specs(project, chosen, environment, str(file))
