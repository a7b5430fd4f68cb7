"""The files of a domain: written once, and again only where that is asked for."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import List, Tuple

from lake_check.parsing.discovery import DOMAIN_FILE, ENDING, Survey, survey_domain

from lake_local.onboard.plan import Draft, OWNER, Planned, Skipped
from lake_local.onboard.spec_text import domain_text
from lake_local.workspace.dags_folder import dag_text, lacks_dag_file
from lake_local.workspace.project import find

UNDECIDED = ".draft"
"""Behind the name of a spec that lacks something, so that it is no table yet."""

_SCHEMA_LINE = "# yaml-language-server: $schema={path}\n"


@dataclass
class Written:
    """What was written, and what was not, with the reason."""

    folder: Path
    drafts: List[Draft] = field(default_factory=list)
    skipped: List[Skipped] = field(default_factory=list)
    domain_is_new: bool = False
    dag: Path | None = None
    """The DAG file of the domain, where it was missing."""

    @property
    def guesses(self) -> int:
        """Marks in all that was written."""
        return sum(each.text.guesses for each in self.drafts) + self.domain_is_new


def write(
    planned: List[Planned], out: Path, domain: str, *, owner: str, force: bool
) -> Written:
    """Write the drafts into the domain's folder, and what the domain lacks.

    That is its own file and, for a domain of the project's tables, its DAG file: other
    folders of tables need none.
    """
    done = Written(out / domain)
    done.folder.mkdir(parents=True, exist_ok=True)
    schema = _schema_line(done.folder, "table")
    for each in planned:
        if isinstance(each, Skipped):
            done.skipped.append(_started(done.folder, schema, each, force))
            continue
        path = done.folder / f"{each.text.name}{ENDING}"
        if _write(path, schema + each.text.text, force):
            done.drafts.append(each)
        else:
            why = f"{each.text.name}{ENDING} exists: --force overwrites it"
            done.skipped.append(Skipped(each.table.name, why))
    text = _schema_line(done.folder, "domain") + domain_text(domain, owner or OWNER)
    done.domain_is_new = _write(done.folder / DOMAIN_FILE, text, force=False)
    project = find()
    if out == project.tables and lacks_dag_file(project.dags, domain):
        done.dag = project.dags / f"{domain}.py"
        _write(done.dag, dag_text(domain, out), force=False)
    return done


def _started(folder: Path, schema: str, skipped: Skipped, force: bool) -> Skipped:
    """Write the spec that a skipped table has to start from, and say so."""
    if skipped.start is None:
        return skipped
    name = f"{skipped.start.name}{ENDING}"
    _write(folder / f"{name}{UNDECIDED}", schema + skipped.start.text, force)
    words = f"decide what {name}{UNDECIDED} asks, and rename it to {name}"
    return replace(skipped, why=f"{skipped.why}. Then {words}")


def _schema_line(folder: Path, kind: str) -> str:
    """Return the first line of a spec, by which editors find its JSON schema."""
    schema = find().root / "docs" / "schema" / f"{kind}.schema.json"
    return _SCHEMA_LINE.format(path=os.path.relpath(schema, folder))


def _write(path: Path, text: str, force: bool) -> bool:
    """Write a file whole or not at all; False where there is one that must stay."""
    if path.exists() and not force:
        return False
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)
    return True


def faults_of(out: Path, domain: str) -> Tuple[int, List[str]]:
    """Return how many files the domain has, and everything that `validate` says of them."""
    survey = Survey()
    survey_domain(survey, out, domain)
    survey.judge_across()
    return survey.files, [str(fault) for fault in survey.diagnostics]
