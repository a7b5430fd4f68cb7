"""The state of a domain's tables after its newest runs: one small object per domain.

It is written at the end of each run, so that a page of all tables reads one object per
domain and lists no runs: `<runs>/tables/<domain>.json`.

    {"format": 1, "written_by": ..., "domain": ...,
     "runs": {"<dag_id>": {"run": ..., "run_id": ..., "at": ..., "state": ..., "problems": [...]}},
     "tables": {"<table>": {"newest_event": ..., "current_rows": ...,
                            "runs": {"<dag_id>": {..., "minutes": ...}}}}}

Each DAG keeps its own newest run: a maintenance run that is green hides no failed load.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple

from lake_spec.state.report import FIGURES, State

COUNTS = ("rows_in", "accepted", "quarantined", "versions_opened")
MOST, LONGEST = 5, 500
"""So many problems and warnings of a run, and so many characters of each."""

_SUCCEEDED = (State.DONE.value, State.NOTHING_NEW.value)


@dataclass(frozen=True)
class EndedRun:
    """A run that ended, as Airflow knows it."""

    dag_id: str
    run: str
    run_id: str
    at: str
    failed: bool
    causes: Tuple[str, ...] = ()
    """Why it failed, where its summary does not say."""


def states_uri(runs: str, domain: str) -> str:
    """Return the address of a domain's states, below the root of the runs."""
    return f"{runs.rstrip('/')}/tables/{domain}.json"


def after_run(
    before: Mapping[str, Any],
    domain: str,
    ended: EndedRun,
    *,
    summary: Mapping[str, Any],
    tables: Iterable[str],
    minutes: Mapping[str, float],
) -> Dict[str, Any]:
    """Return the states after a run.

    Args:
        before: the states so far, empty at first.
        domain: the domain's name.
        ended: the run.
        summary: the content of its `summary.json`; empty without one.
        tables: what it was about, where the summary does not say.
        minutes: cluster minutes by `domain.table`, starting and idle ones included.
    """
    asked = list(summary.get("asked") or tables)
    causes = (*summary.get("causes", ()), *ended.causes)
    warnings = tuple(summary.get("warnings", ()))
    states = dict(before.get("tables", {}))
    of_tables: List[str] = []
    for name in asked:
        full_name = f"{domain}.{name}"
        problems = _about(causes, full_name)
        of_tables += problems
        state = states.get(name, {})
        reports = summary.get("tables", {}).get(name, {})
        run = {
            **_run(ended, problems),
            **_counts(reports),
            "warnings": _first(_about(warnings, full_name)),
            "minutes": minutes.get(full_name),
        }
        if problems:
            run["state"] = "failed"
        states[name] = {
            **state,
            **_figures(reports),
            "runs": {**state.get("runs", {}), ended.dag_id: run},
        }
    # A step that failed because of its tables is no second problem.
    others = ended.causes if of_tables else causes
    own = _run(ended, [cause for cause in others if cause not in of_tables])
    return {
        **before,
        "domain": domain,
        "runs": {**before.get("runs", {}), ended.dag_id: own},
        "tables": states,
    }


def _run(ended: EndedRun, problems: Iterable[str]) -> Dict[str, Any]:
    return {
        "run": ended.run,
        "run_id": ended.run_id,
        "at": ended.at,
        "state": "failed" if ended.failed else "succeeded",
        "problems": _first(problems),
    }


def _about(texts: Iterable[str], full_name: str) -> List[str]:
    """Select the texts that begin with the table: `moma.artists incremental: ...`."""
    return [
        text
        for text in texts
        if full_name in text.partition(": ")[0].replace(",", " ").rstrip(":").split()
    ]


def _first(texts: Iterable[str]) -> List[str]:
    return [text[:LONGEST] for text in list(texts)[:MOST]]


def _figures(reports: Mapping[str, Mapping[str, Any]]) -> Dict[str, Any]:
    """Return the figures of the stages that succeeded, the last one's of each."""
    return {
        name: report[name]
        for report in reports.values()
        if report.get("state") in _SUCCEEDED
        for name in FIGURES
        if report.get(name) is not None
    }


def _counts(reports: Mapping[str, Mapping[str, Any]]) -> Dict[str, Optional[int]]:
    return {
        name: sum(report.get(name) or 0 for report in reports.values())
        for name in COUNTS
    }
