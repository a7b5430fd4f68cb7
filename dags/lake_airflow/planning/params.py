"""The Params of a run: the form that Airflow shows."""

from __future__ import annotations

from airflow.sdk import Param

from lake_airflow.planning.plan import DagPlan
from lake_spec.contract.erase_request import REQUEST

# A text, for the field of times of Airflow 3.0 sends what is none (airflow#54466).
_TIME = (
    r"^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?"
    r"(Z|Z:00\+00:00|[+-]\d{2}:\d{2})?)?$"
)


def params(plan: DagPlan) -> dict[str, Param]:
    """The form of a DAG; what it lets through is checked again by name."""
    window = _window(plan) if plan.takes_window else {}
    choice = _choice() if plan.takes_files else {}
    accepts = {name: _ACCEPTS[name]() for name in plan.accepts}
    request = {"request": _request()} if plan.takes_request else {}
    verify = {"verify": _verify(), "sample": _sample()} if plan.takes_verify else {}
    return {
        "tables": _tables(plan),
        **window,
        **choice,
        **accepts,
        **verify,
        **request,
        "plan_only": _plan_only(),
        "dry_run": _dry_run(plan),
    }


def _tables(plan: DagPlan) -> Param:
    names = list(plan.tables)
    return Param(
        names,
        type="array",
        title="Tables",
        description="Which tables the run is about.",
        examples=names,
    )


def _window(plan: DagPlan) -> dict[str, Param]:
    left_out = "files of any time" if plan.takes_files else "all that is not taken yet"
    return {
        name: Param(
            None,
            type=["null", "string"],
            pattern=_TIME,
            title=title,
            description=(
                f"Only landing files {which}, in UTC, as 2026-01-31T00:00:00Z."
                f" Left out: {left_out}."
            ),
        )
        for name, title, which in (
            ("window_from", "Window from", "of this time or later"),
            ("window_to", "Window to", "from before this time"),
        )
    }


def _choice() -> dict[str, Param]:
    """What a redo chooses its files by, beside the window."""
    files = Param(
        None,
        type=["null", "array"],
        items={"type": "string"},
        title="Files",
        description="Up to 100 paths or globs below the table's landing folder. Left out: any.",
    )
    quarantined = "Only files that have rows in the quarantine: a replay after a fix."
    missing = "Withdraw chosen files that are no longer in landing."
    return {
        "files": files,
        "quarantined": _switch("Quarantined", quarantined),
        "withdraw_missing": _switch("Withdraw missing", missing),
    }


def _accept_losses() -> Param:
    return _switch(
        "Accept losses",
        "Take extracts also where they have no row or lose more keys than"
        " source.lost_share allows, and go on with a Kafka topic also where it lost"
        " messages that were not landed.",
    )


def _empty_scopes() -> Param:
    return Param(
        [],
        type="array",
        items={"type": "string"},
        title="Empty scopes",
        description="Values of source.scope.column that the run's extracts cover although"
        " they have no row of them: its rows are gone.",
    )


def _pull_from() -> Param:
    return Param(
        None,
        type=["null", "string"],
        title="Pull from",
        description="Pull tables with a cursor from this value of it on, as"
        " 2026-01-31T12:00:00 or 12345, or from the `start`, instead of from their"
        " bookmarks. Choose the tables too.",
    )


_ACCEPTS = {
    "accept_losses": _accept_losses,
    "empty_scopes": _empty_scopes,
    "pull_from": _pull_from,
}


def _verify() -> Param:
    return _switch(
        "Verify",
        "Build nothing: compare current and history with the change log, row by row.",
    )


def _sample() -> Param:
    return Param(
        1,
        type="number",
        exclusiveMinimum=0,
        maximum=1,
        title="Sample",
        description="Which share of the keys to verify: 1 is all of them.",
    )


def _plan_only() -> Param:
    return _switch(
        "Plan only",
        "Show the cluster and the steps that would be asked for; it costs nothing.",
    )


def _request() -> Param:
    return Param(
        None,
        type=["null", "string"],
        pattern=f"^{REQUEST.pattern}$",
        title="Request",
        description="Name of the object <runs>/erase/<domain>/<name>.json that says which"
        " keys to erase. Its name is seen in logs: no key belongs into it.",
    )


def _dry_run(plan: DagPlan) -> Param:
    reads = "Read the files on a cluster, say what would be done and write nothing."
    checks = "Check the specs against the tables on a cluster and write nothing."
    return _switch("Dry run", reads if plan.reads_files else checks)


def _switch(title: str, description: str) -> Param:
    return Param(False, type="boolean", title=title, description=description)
