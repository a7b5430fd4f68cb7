"""One writer per domain: the lease that a run takes before its cluster exists.

It is one object on S3, `<runs>/leases/<domain>.json`, which names the run that has
it. Every write is conditional on what was read before, so that of two runs one
gets it. It is alive for GRACE after it was taken, and then as long as a cluster of
its run lives, for a cluster is what writes: it needs no renewal, and it cannot
outlive its run by much.

Each grant has a token, a number that only grows, for the object stays when the lease is
given back. The run's steps get it as an argument and write only while it is in force.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timezone
from functools import cached_property

from lake_airflow.runs.cluster_slots import GRACE, ClusterSlots
from lake_airflow.runs.files import RunFiles
from lake_airflow.runs.s3_object import S3Object
from lake_spec.model import EnvironmentSpec
from lake_spec.model.continuous import CONTINUOUS, STOP
from lake_spec.state.lease import Lease, lease_uri, read_lease

_ATTEMPTS = 5

log = logging.getLogger(__name__)


class LeaseBusy(RuntimeError):
    """Several runs wrote the lease of a domain at once, and this one lost each time.

    Fix: Clear the failed task; it tries again.
    """


class DomainLease:
    """The lease of one domain in one environment."""

    def __init__(
        self, environment: EnvironmentSpec, domain: str, *, aws_conn_id: str | None
    ) -> None:
        self.environment = environment
        self.domain = domain
        self.aws_conn_id = aws_conn_id
        self.address = lease_uri(environment.runs, domain)

    @cached_property
    def _object(self) -> S3Object:
        region = self.environment.region
        return S3Object(self.address, region=region, aws_conn_id=self.aws_conn_id)

    def take(self, holder: str, lives: Callable[[str], bool]) -> Lease:
        """Take the lease; return the lease in force: this run's, or another's by name.

        A run that has it keeps its token. `lives` returns whether a cluster of that
        other run is there.
        """
        for _ in range(_ATTEMPTS):
            now = datetime.now(timezone.utc)
            lease, etag = self._read()
            if lease.holder not in (None, holder):
                if now - self._since(lease) < GRACE or lives(str(lease.holder)):
                    return lease
            keeps = lease.holder == holder and lease.token
            token = lease.token if keeps else _next(lease.token, now)
            mine = replace(lease, holder=holder, token=token, since=now.isoformat())
            if self._object.write(mine.to_data(), etag):
                return mine
        raise LeaseBusy(f"{self.address}: another run wrote it at the same time.")

    def since(self, holder: str) -> datetime | None:
        """Return when this run last took the lease; None where it does not have it."""
        lease, _ = self._read()
        return self._since(lease) if lease.holder == holder else None

    def was_taken(self) -> bool:
        """Return whether a run ever took it: the object stays when it is given back."""
        return self._read()[1] is not None

    def release(self, holder: str) -> None:
        """Release the lease, its token stays; another run's lease is left alone."""
        lease, etag = self._read()
        if lease.holder == holder:
            self._object.write(replace(lease, holder=None).to_data(), etag)

    def give_back(
        self, holder: str, *, unless: Callable[[str], bool] = lambda holder: False
    ) -> None:
        """Release it and the run's cluster slot, unless the run needs them; a failure is
        no error, as both expire."""
        try:
            if not unless(holder):
                self.release(holder)
                slots = ClusterSlots(self.environment, aws_conn_id=self.aws_conn_id)
                slots.give_back(holder)
        except Exception:
            log.exception(
                "The lease of %s, or a slot, was not given back.", self.domain
            )

    def ask_to_stop(self, holder: str, by: str) -> None:
        """Ask a continuous run to end after its micro-batch; other runs end anyway.

        A run that looks again asks again: what was asked before a step began is not
        heard, and an asking that failed is made up for.
        """
        asked_of = f"{self.domain}_{CONTINUOUS}"
        if holder.split("/")[0] != asked_of or by.split("/")[0] == asked_of:
            return
        try:
            at = datetime.now(timezone.utc).isoformat(timespec="seconds")
            files = RunFiles(self.environment, holder, aws_conn_id=self.aws_conn_id)
            files.write(STOP, {"by": by, "at": at})
            log.info("Asked it to stop after its current micro-batch.")
        except Exception:
            log.exception("%s could not be asked to stop.", holder)

    def _read(self) -> tuple[Lease, str | None]:
        """Return the object's lease and its ETag, if there is one."""
        content, etag = self._object.read()
        if content is None:
            return Lease(None), etag
        try:
            return read_lease(content), etag
        except ValueError as error:
            raise ValueError(f"{self.address}: {error}") from None

    def _since(self, lease: Lease) -> datetime:
        try:
            return datetime.fromisoformat(lease.since)
        except ValueError as error:
            raise ValueError(
                f"{self.address}: since: {error}, which is no lease."
            ) from None


def granted_at(token: int) -> datetime:
    """Return when a grant was made, to the second, by its token."""
    return datetime.fromtimestamp(token, timezone.utc)


def _next(token: int, now: datetime) -> int:
    """Return the token of a new grant: above the last one.

    It is a time in seconds where that is more: it grows too where the object was
    deleted manually, or written by a release that knew of no tokens.
    """
    return max(token + 1, int(now.timestamp()))
