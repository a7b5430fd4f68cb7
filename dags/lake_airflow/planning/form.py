"""The form that Airflow shows for a run: a field for each of its params."""

from __future__ import annotations

from collections.abc import Callable

from airflow.sdk import Param

from lake_airflow.planning.plan import DagPlan
from lake_spec.contract.erase_request import REQUEST

# A text: the field of times of Airflow 3.0 sends invalid times (airflow#54466).
_TIME = (
    r"^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?"
    r"(Z|Z:00\+00:00|[+-]\d{2}:\d{2})?)?$"
)


def params(plan: DagPlan) -> dict[str, Param]:
    """Build the form of a DAG; its values are checked again by name."""
    return {name: _FIELDS[name](plan) for name in plan.params}


def _tables(plan: DagPlan) -> Param:
    names = list(plan.tables)
    return Param(
        names,
        type="array",
        title="Tables",
        description="Tables that the run covers.",
        examples=names,
    )


def _time(plan: DagPlan, title: str, which: str) -> Param:
    """Define a bound of the window."""
    left_out = (
        "files of any time"
        if plan.takes("files")
        else ("all files that are not ingested yet")
    )
    return Param(
        None,
        type=["null", "string"],
        pattern=_TIME,
        title=title,
        description=(
            f"Only landing files {which}, in UTC, as 2026-01-31T00:00:00Z. Default: "
            f"{left_out}."
        ),
    )


def _window_from(plan: DagPlan) -> Param:
    return _time(plan, "Window from", "of this time or later")


def _window_to(plan: DagPlan) -> Param:
    return _time(plan, "Window to", "before this time")


def _files(plan: DagPlan) -> Param:
    return Param(
        None,
        type=["null", "array"],
        items={"type": "string"},
        title="Files",
        description=(
            "Up to 100 paths or globs below the table's landing folder. Default: any."
        ),
    )


def _empty_scopes(plan: DagPlan) -> Param:
    return Param(
        [],
        type="array",
        items={"type": "string"},
        title="Empty scopes",
        description="Values of source.scope.column that the run's snapshots cover "
        "although they have no row with them: rows with these values are "
        "deleted.",
    )


def _pull_from(plan: DagPlan) -> Param:
    return Param(
        None,
        type=["null", "string"],
        title="Pull from",
        description="Pull tables with a cursor from this value on, as "
        "2026-01-31T12:00:00 or 12345, or from the `start`, instead of "
        "from their bookmarks. Choose the tables too.",
    )


def _partitions(plan: DagPlan) -> Param:
    return Param(
        [],
        type="array",
        items={"type": "string"},
        title="Partitions",
        description="Partitions to make again although their inputs did not change, by "
        "their folders or the first parts of these, as year=2026/month=1. Choose the "
        "tables too.",
    )


def _sample(plan: DagPlan) -> Param:
    return Param(
        1,
        type="number",
        exclusiveMinimum=0,
        maximum=1,
        title="Sample",
        description="Share of the keys to verify: 1 verifies all.",
    )


def _request(plan: DagPlan) -> Param:
    return Param(
        None,
        type=["null", "string"],
        pattern=f"^{REQUEST.pattern}$",
        title="Request",
        description="Name of the object <runs>/erase/<domain>/<name>.json that lists "
        "the keys to erase. Logs show the name: it must not contain a key.",
    )


def _dry_run(plan: DagPlan) -> Param:
    reads = "Read the files on a cluster, report what would be done and write nothing."
    checks = "Check the specs against the tables on a cluster and write nothing."
    return _switch("Dry run", reads if plan.reads_files else checks)(plan)


def _switch(title: str, description: str) -> Callable[[DagPlan], Param]:
    return lambda plan: Param(
        False, type="boolean", title=title, description=description
    )


_FIELDS: dict[str, Callable[[DagPlan], Param]] = {
    "tables": _tables,
    "window_from": _window_from,
    "window_to": _window_to,
    "files": _files,
    "quarantined": _switch(
        "Quarantined",
        "Only files that have rows in the quarantine: a replay after a fix.",
    ),
    "retract_missing": _switch(
        "Retract missing", "Retract chosen files that are no longer in landing."
    ),
    "accept_losses": _switch(
        "Accept losses",
        "Accept snapshots without rows, or that lose more keys than source.lost_share "
        "allows, and continue with a Kafka topic that lost messages before they were "
        "landed.",
    ),
    "empty_scopes": _empty_scopes,
    "pull_from": _pull_from,
    "verify": _switch(
        "Verify",
        "Rebuild nothing: compare current and history with the change log, row by row.",
    ),
    "sample": _sample,
    "partitions": _partitions,
    "move_foreign_files": _switch(
        "Move foreign files",
        "Move files that the pipeline did not write out of the folders of the tables.",
    ),
    "request": _request,
    "plan_only": _switch(
        "Plan only",
        "Show the cluster and the steps that the run would create; this costs nothing.",
    ),
    "dry_run": _dry_run,
}
"""Functions that build the field of each param."""
