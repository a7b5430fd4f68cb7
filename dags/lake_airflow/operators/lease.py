"""One writer per domain: the lease that a run takes before its cluster exists.

It is one object on S3, `<runs>/leases/<domain>.json`, which names the run that has
it. Every write is conditional on what was read before, so that of two runs one
gets it. It is alive for GRACE after it was taken, and then as long as a cluster of
its run lives, for a cluster is what writes: nobody has to renew it, and it cannot
outlive by much what it stands for.

Each grant has a token, a number that only grows, for the object stays when the lease is
given back. The run's steps get it as an argument and write only while it is in force.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

from lake_airflow.emr.clusters import idle, is_of_this_airflow, living_clusters
from lake_airflow.emr.job_flow import cluster_name
from lake_airflow.runs.files import RunFiles
from lake_airflow.runs.s3_object import S3Object
from lake_airflow.runs.xcoms import run_name
from lake_spec.contract.lease import Lease, lease_uri, read_lease
from lake_spec.model import EnvironmentSpec
from lake_spec.model.continuous import CONTINUOUS, STOP

GRACE = timedelta(minutes=20)
"""So long a run may take from its lease to a cluster that EMR lists."""

_ATTEMPTS = 5


class LeaseBusy(RuntimeError):
    """Several runs want the lease at once, and this one lost every time."""


class HoldsLease:
    """Mixin of the operators that take and give back their run's lease.

    They have a plan, an environment, a connection and a hook of EMR.
    """

    def lease(self) -> DomainLease:
        """The lease of the run's domain."""
        return DomainLease(
            self.environment, self.plan.domain, aws_conn_id=self.aws_conn_id
        )

    def give_back(
        self, context: Any, *, unless: Callable[[str], bool] = lambda run: False
    ) -> None:
        """Give it back, but for a run that needs it; no error, for it frees itself."""
        name = run_name(self.plan, context)
        try:
            if not unless(name):
                self.lease().release(name)
        except Exception:
            self.log.exception("The lease of %s was not given back.", self.plan.domain)

    def ask_to_stop(self, holder: str, by: str) -> None:
        """Ask a continuous run to end after its micro-batch; other runs end anyway.

        A run that looks again asks again: what was asked before a step began is not
        heard, and an asking that failed is made up for.
        """
        asked_of = f"{self.plan.domain}_{CONTINUOUS}"
        if holder.split("/")[0] != asked_of or self.plan.dag_id == asked_of:
            return
        try:
            at = datetime.now(timezone.utc).isoformat(timespec="seconds")
            files = RunFiles(self.environment, holder, aws_conn_id=self.aws_conn_id)
            files.write(STOP, {"by": by, "at": at})
            self.log.info("It was asked to stop after its present micro-batch.")
        except Exception:
            self.log.exception("%s was not asked to stop.", holder)

    def end_idle(self, holder: str, ti: Any) -> None:
        """End clusters of the holder that it does not use: nobody else may end them.

        Airflow starts no task of a paused DAG, also not those that end a cluster. No
        error, for EMR ends an idle cluster too, but later.
        """
        try:
            client, name = self.hook.conn, cluster_name(holder)
            for cluster in living_clusters(client, self.environment, name=name):
                if not is_of_this_airflow(cluster):
                    continue
                if why := idle(client, cluster, datetime.now(timezone.utc), ti):
                    self.log.warning("Ending cluster %s: %s", cluster["Id"], why)
                    client.terminate_job_flows(JobFlowIds=[cluster["Id"]])
        except Exception:
            self.log.exception("Whether %s uses its cluster is not known.", holder)


class DomainLease:
    """The lease of one domain in one environment."""

    def __init__(
        self, environment: EnvironmentSpec, domain: str, *, aws_conn_id: str | None
    ) -> None:
        self.address = lease_uri(environment.runs, domain)
        self._object = S3Object(
            self.address, region=environment.region, aws_conn_id=aws_conn_id
        )

    def take(self, holder: str, lives: Callable[[str], bool]) -> Lease:
        """The lease in force: granted to this run, or still another's, which it names.

        A run that has it keeps its token. `lives` tells whether a cluster of that
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
        raise LeaseBusy(f"{self.address}: another run wrote it at the same moment.")

    def release(self, holder: str) -> None:
        """Give it back, its token stays; what another run has by now is left alone."""
        lease, etag = self._read()
        if lease.holder == holder:
            self._object.write(replace(lease, holder=None).to_data(), etag)

    def _read(self) -> tuple[Lease, str | None]:
        """What the object says, and its ETag, if there is one."""
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


def _next(token: int, now: datetime) -> int:
    """The token of a new grant: above the last one.

    It is a time in seconds where that is more: it grows too where the object was
    deleted by hand, or written by a release that knew of no tokens.
    """
    return max(token + 1, int(now.timestamp()))
