"""Near real time: runs that go on for hours, one micro-batch after the other."""

from __future__ import annotations

from dataclasses import dataclass

from lake_spec.model.limits import Limits
from lake_spec.model.spec_field import setting

CONTINUOUS = "continuous"
"""The stage of micro-batches, and the kind of DAG whose runs have it."""

STOP = "stop"
"""The object in the folder of such a run that asks it to end."""


@dataclass(frozen=True)
class Continuous:
    """Continuous runs: micro-batches within one long run."""

    every_seconds: int = setting(
        "Seconds from the start of a micro-batch to the start of the next; if "
        "one takes longer, the next starts at once.",
        60,
        limits=Limits(5, 3600),
    )
    hours: float = setting(
        "Hours after which a run ends, so that maintenance, a new "
        "release and a new cluster take effect.",
        12.0,
        limits=Limits(0.01, 20),
    )


def stop_uri(runs: str, run: str) -> str:
    """Return the URI of the object that asks a run, `<dag_id>/<run key>`, to end."""
    return f"{runs}/{run}/{STOP}"
