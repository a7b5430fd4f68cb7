"""Who cancelled a step of a run, or terminated its cluster, and why.

EMR says of neither more than that somebody did. Whoever is about to do it notes it first,
as an object of the run by the id of the step or cluster, which a later try and the summary
read. The first note stays: what ends twice was ended by the first.
"""

from __future__ import annotations

import logging
from datetime import datetime, timezone

from lake_airflow.runs.files import RunFiles
from lake_spec.model import EnvironmentSpec

NOBODY = (
    "No task of the pipeline cancelled it: somebody did in EMR. CloudTrail has who, as "
    "CancelSteps or TerminateJobFlows."
)

log = logging.getLogger(__name__)


class Ends:
    """The notes of one run."""

    def __init__(
        self, environment: EnvironmentSpec, run_name: str, *, aws_conn_id: str | None
    ) -> None:
        self._environment, self._run = environment, run_name
        self._aws_conn_id = aws_conn_id

    def note(self, *ids: str, by: str, why: str) -> None:
        """Note who is about to end these; a failure is no error, for they must end."""
        at = datetime.now(timezone.utc).isoformat(timespec="seconds")
        try:
            files = self._files()
            there = files.names()
            for name in map(_name, ids):
                if name not in there:
                    files.write(name, {"by": by, "why": why, "at": at})
        except Exception:
            log.exception("It could not be noted that %s ended %s.", by, ", ".join(ids))

    def why(self, *ids: str) -> str | None:
        """Return who ended the first of these that was ended so, and why; else None."""
        files = self._files()
        there = files.names()
        for name in map(_name, ids):
            if name in there:
                note = files.read(name)
                return f"Ended by {note['by']} at {note['at']}: {note['why']}"
        return None

    def _files(self) -> RunFiles:
        return RunFiles(self._environment, self._run, aws_conn_id=self._aws_conn_id)


def _name(id: str) -> str:
    return f"ended_{id}.json"
