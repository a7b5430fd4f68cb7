"""How long the tables of a domain take: noted by each step, for the next to plan by.

`<runs>/timings/<domain>.json` is `{"<stage>": {"<table>": seconds}}`. It is a hint:
without it, or where it cannot be read, tables run in the order of the domain, and
no failure to read or to note it fails a step.
"""

from __future__ import annotations

import json
from typing import Dict, Sequence

from lake_spec.facts.table_order import blended
from lake_spec.layout.run_files import timings_file
from lake_spec.state.report import Report, State
from lake_spec.text.marked_values import unmarked
from lake_spark.errors import first_line
from lake_spark.storage.object_store import ObjectStore

Timings = Dict[str, Dict[str, float]]
_WORKED = (State.DONE.value, State.NOTHING_NEW.value)


def uri(runs: str, domain: str) -> str:
    """Return the address of a domain's timings."""
    return f"{runs}/{timings_file(domain)}"


def read(store: ObjectStore, runs: str, domain: str) -> Timings:
    """Read expected seconds by stage and table; none of what is unknown or unreadable."""
    try:
        return _found(store, uri(runs, domain))
    except Exception as error:  # a hint: whatever it is, the step goes on
        _say(domain, uri(runs, domain), "were not read", error)
        return {}


def _found(store: ObjectStore, place: str) -> Timings:
    try:
        found = json.loads(store.read(place))
        return {
            stage: {table: float(seconds) for table, seconds in tables.items()}
            for stage, tables in found.items()
        }
    except (KeyError, ValueError, TypeError, AttributeError):
        return {}  # none yet, or no timings: the next note takes their place


def note(store: ObjectStore, runs: str, reports: Sequence[Report]) -> None:
    """Blend in the seconds of one step's tables; a failure says nothing of them."""
    worked = [report for report in reports if report.state in _WORKED]
    if not worked:
        return
    domain = worked[0].domain
    place = uri(runs, domain)
    try:
        timings = _blended(_found(store, place), worked)
        store.write(place, json.dumps(timings, indent=1).encode())
    except Exception as error:  # as above
        _say(domain, place, "were not noted", error)


def _blended(timings: Timings, worked: Sequence[Report]) -> Timings:
    for report in worked:
        stage = timings.setdefault(report.stage, {})
        before = stage.get(report.table)
        stage[report.table] = round(blended(before, report.seconds), 1)
    return timings


def _say(domain: str, place: str, what: str, error: Exception) -> None:
    message = f"{type(error).__name__}: {unmarked(first_line(error))}"
    print(f"LAKE {domain}: the timings {place} {what}: {message}", flush=True)
