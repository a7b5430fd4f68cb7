"""The Params of a run: the form that Airflow shows."""

from __future__ import annotations

from airflow.sdk import Param

from lake_airflow.plan import DagPlan


def params(plan: DagPlan) -> dict[str, Param]:
    """The form of a DAG; what it lets through is checked again by name."""
    window = (
        {}
        if not plan.takes_window
        else {
            "window_from": _time(
                "Window from", "Take landing files from this time on."
            ),
            "window_to": _time(
                "Window to", "Take landing files from before this time."
            ),
        }
    )
    losses = {"accept_losses": _accept_losses()} if plan.takes_losses else {}
    return {"tables": _tables(plan), **window, **losses, "dry_run": _dry_run()}


def _tables(plan: DagPlan) -> Param:
    names = list(plan.tables)
    return Param(
        names,
        type="array",
        title="Tables",
        description="Which tables the run is about.",
        examples=names,
    )


def _time(title: str, description: str) -> Param:
    return Param(
        None,
        type=["null", "string"],
        format="date-time",
        title=title,
        description=f"{description} Left out: everything that was not taken yet.",
    )


def _accept_losses() -> Param:
    return _switch(
        "Accept losses",
        "Take extracts also where they lose more keys than source.lost_share allows.",
    )


def _dry_run() -> Param:
    return _switch("Dry run", "Say what would be done and write nothing.")


def _switch(title: str, description: str) -> Param:
    return Param(False, type="boolean", title=title, description=description)
