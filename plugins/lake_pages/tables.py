"""The lines of the page of all tables, from the states that runs left: problems first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

from lake_pages.access import may_see_domain
from lake_pages.storage import Store

PROBLEM, WARNING, FINE = "problem", "warning", "fine"
_ORDER = (PROBLEM, WARNING, FINE)
_FOLDER, _ENDING = "tables", ".json"


@dataclass(frozen=True)
class TableLine:
    """One table as the page shows it."""

    domain: str
    table: str
    state: str
    problems: Tuple[Tuple[str, str], ...]
    """Pairs of (DAG, problem or warning)."""

    dag_id: str
    run_id: str
    at: Optional[datetime]
    newest_event: Optional[str]
    newest_input: Optional[str]
    rows: Optional[int]
    minutes: Optional[float]


@dataclass(frozen=True)
class RunProblem:
    """A failed run whose causes name no table."""

    domain: str
    dag_id: str
    run_id: str
    at: Optional[datetime]
    problems: Tuple[str, ...]


@dataclass(frozen=True)
class Lake:
    """All that a user may see of the lake."""

    tables: Tuple[TableLine, ...]
    runs: Tuple[RunProblem, ...]

    def count(self, state: str) -> int:
        """Return the number of tables in a state."""
        return sum(each.state == state for each in self.tables)


def lake_of(store: Store, user: Any, dag_id: Optional[str] = None) -> Lake:
    """Return the tables and failed runs of the DAGs that the user may see.

    With `dag_id` only tables that this DAG wrote.
    """
    tables: List[TableLine] = []
    runs: List[RunProblem] = []
    for domain, states in _domains(store):
        dags = [d for d in states["runs"] if dag_id in (None, d)]
        if dags and may_see_domain(user, domain):
            tables += _lines(domain, states["tables"], dag_id)
            runs += _failed(domain, states["runs"], dags)
    tables.sort(key=lambda t: (_ORDER.index(t.state), t.domain, t.table))
    runs.sort(key=lambda run: (run.domain, run.dag_id))
    return Lake(tuple(tables), tuple(runs))


def _domains(store: Store) -> Iterator[Tuple[str, Dict[str, Any]]]:
    for name in store.names(_FOLDER):
        states = store.data(f"{_FOLDER}/{name}")
        if name.endswith(_ENDING) and _is_ours(states):
            yield name[: -len(_ENDING)], states


def _is_ours(states: Mapping[str, Any]) -> bool:
    return all(isinstance(states.get(part), dict) for part in ("runs", "tables"))


def _lines(
    domain: str, tables: Mapping[str, Any], dag_id: Optional[str]
) -> Iterator[TableLine]:
    for table, state in tables.items():
        runs = state.get("runs", {})
        if not runs or (dag_id and dag_id not in runs):
            continue
        dag, newest = max(runs.items(), key=lambda each: each[1].get("at") or "")
        problems = _texts(runs, "problems")
        warnings = _texts(runs, "warnings")
        yield TableLine(
            domain=domain,
            table=table,
            state=PROBLEM if problems else WARNING if warnings else FINE,
            problems=problems + warnings,
            dag_id=dag,
            run_id=newest.get("run_id") or "",
            at=time_of(newest.get("at")),
            newest_event=state.get("newest_event"),
            newest_input=state.get("newest_input"),
            rows=state.get("current_rows"),
            minutes=newest.get("minutes"),
        )


def _failed(
    domain: str, runs: Mapping[str, Any], dags: List[str]
) -> Iterator[RunProblem]:
    for dag in dags:
        if problems := tuple(runs[dag].get("problems") or ()):
            run_id, at = runs[dag].get("run_id") or "", time_of(runs[dag].get("at"))
            yield RunProblem(domain, dag, run_id, at, problems)


def _texts(runs: Mapping[str, Any], name: str) -> Tuple[Tuple[str, str], ...]:
    return tuple(
        (dag, str(text)) for dag, run in runs.items() for text in run.get(name) or ()
    )


def time_of(text: Any) -> Optional[datetime]:
    """Return a time of a file; None if it is none."""
    try:
        found = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=timezone.utc)


def age(at: Optional[datetime], now: datetime) -> str:
    """Return how long ago a time was, in one unit."""
    if at is None:
        return "-"
    seconds = max((now - at).total_seconds(), 0)
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size or (unit == "min" and seconds >= size):
            return f"{int(seconds // size)} {unit}"
    return "now"
