"""The options of one DAG run, checked before anything is created."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional

from lake_airflow.planning.plan import DagPlan
from lake_airflow.runs.window import Interval, window_params
from lake_airflow.settings import UNRELEASED, airflow_name
from lake_spec.layout.run_key import run_key
from lake_spec.run_options.asked import checked
from lake_spec.run_options.options import OPTIONS, RunOptions
from lake_spec.state.state_format import (
    FORMAT,
    UnreadableState,
    WRITTEN_BY,
    from_fields,
    refuse_newer,
    to_fields,
)

_LISTS = tuple(each.name for each in OPTIONS if each.value.unset == ())


class RunRefused(ValueError):
    """A run asks for something that it cannot have; nothing was created.

    Fix: Correct the params as the message says and start the DAG again.
    """

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = tuple(faults)


@dataclass(frozen=True, kw_only=True)
class Run(RunOptions):
    """A checked run: what it is asked for, and who it is.

    It is pinned when the cluster is made and never changes, also when a new release
    arrives while it is under way.
    """

    dag_id: str
    key: str
    release: str
    sha256: str = ""
    """SHA-256 of what its steps run, as they are told; empty if it was pinned before."""
    run_id: str = ""  # as Airflow has it, for who asks whether it is over
    token: Optional[int] = None
    """Token of its domain's lease; None if the run was pinned before there were any."""
    unknown: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def name(self) -> str:
        """`<dag_id>/<run key>`: the run's folder and its word in every log."""
        return f"{self.dag_id}/{self.key}"

    def to_xcom(self) -> dict[str, Any]:
        """Return the run as JSON-ready data, with its format version."""
        return {FORMAT: 1, WRITTEN_BY: self.release, **to_fields(self)}

    @classmethod
    def from_xcom(cls, data: Mapping[str, Any]) -> Run:
        """Read the run that `to_xcom` wrote, perhaps of another release.

        UnreadableState where only a newer release understands it.
        """
        name = f"{data.get('dag_id')}/{data.get('key')}"
        where = f"the XCom `run` of the task create_cluster of {name}"
        refuse_newer(data, what=f"the pinned run {name}", where=where)
        lists = {name: tuple(data.get(name) or ()) for name in _LISTS}
        try:
            return from_fields(cls, {**data, **lists})
        except TypeError as error:
            raise UnreadableState(
                f"the pinned run {name} cannot be read: {error}. Location: {where}. "
                "Clear create_cluster, or start a new run."
            ) from None


def check_run(
    plan: DagPlan,
    *,
    run_id: str,
    params: Mapping[str, Any],
    release: str,
    sha256: str = "",
    interval: Optional[Interval] = None,
) -> Run:
    """Check the Params and return the run. Raises RunRefused with all problems.

    `interval` is what a run of a backfill is about: it is the window of the run.
    """
    faults: list[str] = []
    if release == UNRELEASED:
        faults.append(
            "release: none. The DAGs do not refer to a release yet: build and upload "
            "one, which writes dags/release.json, then start the run again."
        )
    window = window_params(params, interval if plan.takes_window else None, faults)
    options = checked(plan, params, faults, by_itself=window)
    key = _key(run_id, faults)
    if faults:
        raise RunRefused(faults)
    return Run(
        **vars(options),
        dag_id=plan.dag_id,
        key=key,
        release=release,
        sha256=sha256,
        run_id=run_id,
        token=0,  # until the lease is granted
    )


def _key(run_id: str, faults: list[str]) -> str:
    try:
        return run_key(run_id, airflow_name())
    except ValueError as error:
        faults.append(str(error))
        return ""
