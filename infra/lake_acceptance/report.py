"""The report of an acceptance run: as JSON for programs, as Markdown for people."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Sequence

from lake_acceptance.check import Outcome, Result
from lake_acceptance.subject import Subject
from lake_spec import VERSION


def failed(results: Iterable[Result]) -> List[Result]:
    """List what failed; what was not reached counts as failed."""
    fine = (Outcome.PASSED, Outcome.NOT_EMULATED)
    return [each for each in results if each.outcome not in fine]


def counts(results: Sequence[Result]) -> str:
    """Return `N checks, M failed`, without what only an account can answer."""
    played = [each for each in results if each.outcome is not Outcome.NOT_EMULATED]
    return f"{len(played)} checks, {len(failed(results))} failed"


def to_json(subject: Subject, results: Sequence[Result]) -> Dict[str, Any]:
    """Return the report as data."""
    return {
        "version": VERSION,
        "environment": subject.deployed.name,
        "emulated": subject.emulated,
        "cluster": subject.cluster_id,
        "release_label": subject.cluster.release_label,
        "release": subject.release,
        "facts": subject.facts,
        "checks": [
            {
                "name": each.check.name,
                "question": each.check.question,
                "outcome": each.outcome.value,
                "evidence": each.evidence,
                "fix": each.fix,
                "seconds": round(each.seconds, 1),
            }
            for each in results
        ],
    }


def to_markdown(subject: Subject, results: Sequence[Result]) -> str:
    """Return the report as a page."""
    where = "on the emulator" if subject.emulated else "in an account"
    lines: List[str] = [
        f"# Acceptance of {subject.deployed.name}, {where}",
        "",
        f"{counts(results)}. {subject.cluster.release_label}, lake {VERSION}, cluster "
        f"{subject.cluster_id or 'none'}.",
        "",
        "| check | outcome | seconds | evidence |",
        "| --- | --- | --- | --- |",
    ]
    for each in results:
        evidence = f"{each.evidence} {each.fix}".strip().replace("|", "\\|")
        lines.append(
            f"| {each.check.question} (`{each.check.name}`) | {each.outcome.value} | "
            f"{each.seconds:.1f} | {evidence} |"
        )
    return "\n".join(lines) + "\n"
