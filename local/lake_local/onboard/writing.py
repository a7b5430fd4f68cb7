"""The files of a domain: written once, and again only where that is asked for."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import List, Tuple

from lake_spec.parsing.discovery import DOMAIN_FILE, ENDING, Survey, survey_domain

from lake_local.onboard.plan import Draft, OWNER, Planned, Skipped
from lake_local.onboard.spec_text import domain_text


@dataclass
class Written:
    """What was written, and what was not, with the reason."""

    folder: Path
    drafts: List[Draft] = field(default_factory=list)
    skipped: List[Skipped] = field(default_factory=list)
    domain_is_new: bool = False

    @property
    def guesses(self) -> int:
        """Marks in all that was written."""
        return sum(each.text.guesses for each in self.drafts) + self.domain_is_new


def write(
    planned: List[Planned], out: Path, domain: str, *, owner: str, force: bool
) -> Written:
    """Write the drafts into the domain's folder, and _domain.yml unless it exists."""
    done = Written(out / domain)
    done.folder.mkdir(parents=True, exist_ok=True)
    for each in planned:
        if isinstance(each, Skipped):
            done.skipped.append(each)
        elif _write(done.folder / f"{each.text.name}{ENDING}", each.text.text, force):
            done.drafts.append(each)
        else:
            why = f"{each.text.name}{ENDING} exists: --force overwrites it"
            done.skipped.append(Skipped(each.table.name, why))
    text = domain_text(domain, owner or OWNER)
    done.domain_is_new = _write(done.folder / DOMAIN_FILE, text, force=False)
    return done


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
