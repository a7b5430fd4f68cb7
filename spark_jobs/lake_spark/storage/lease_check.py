"""The lease check before all writing: only by the grant that a step was started with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lake_spec.state.lease import lease_uri, read_lease
from lake_spark.errors import LeaseLost
from lake_spark.storage.object_store import ObjectStore


@dataclass(frozen=True)
class LeaseCheck:
    """Asks the lease of a domain whether the grant of this step is in force.

    Called at the start of a step and right before each commit: one small object is
    read each time. What Hudi writes between the check and its own commit cannot be
    checked, nor can the commit of HoodieStreamer, which is not ours.
    """

    store: ObjectStore
    runs: str
    domain: str
    run: str
    token: int

    def __call__(self) -> None:
        """Raise LeaseLost unless the lease names the run, by the token it was granted."""
        uri = lease_uri(self.runs, self.domain)
        found = self._unlike(uri)
        if found:
            raise LeaseLost(
                f"the run {self.run} no longer has the lease of {self.domain}: {uri}"
                f" {found}. It writes nothing more. Start the run again: it waits until"
                " the domain is free."
            )

    def _unlike(self, uri: str) -> str:
        """Return what the object says instead; nothing where the grant is in force."""
        try:
            content = self.store.read(uri)
        except KeyError:
            return "does not exist"
        try:
            lease = read_lease(content)
        except ValueError as error:
            raise LeaseLost(f"{uri}: {error}") from None
        if lease.holder is None:
            return "says that it was given back"
        if lease.holder != self.run:
            return f"names the run {lease.holder}"
        if lease.token != self.token or not self.token:
            return f"has the token {lease.token}, and the step has {self.token}"
        return ""


def no_lease() -> None:
    """Check nothing: for stages that are called outside of a step, as tests do."""


class CheckedStore:
    """A store that asks before it changes anything outside of the run's own folder.

    There are landing files, and what tables keep next to their Hudi tables.
    """

    def __init__(self, store: ObjectStore, check: LeaseCheck) -> None:
        self._store = store
        self._check = check
        self._own = f"{check.runs.rstrip('/')}/{check.run}/"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def write(self, uri: str, content: bytes) -> None:
        """Put an object, replacing one of that name."""
        self._ask(uri)
        self._store.write(uri, content)

    def create(self, uri: str, content: bytes) -> bool:
        """Put an object unless there is one."""
        self._ask(uri)
        return self._store.create(uri, content)

    def delete(self, uri: str) -> None:
        """Remove an object, if it is there."""
        self._ask(uri)
        self._store.delete(uri)

    def delete_old_versions(self, prefix: str) -> int:
        """Remove what a store with versions keeps of replaced and deleted objects."""
        self._ask(prefix)
        return self._store.delete_old_versions(prefix)

    def _ask(self, uri: str) -> None:
        if not uri.startswith(self._own):
            self._check()
