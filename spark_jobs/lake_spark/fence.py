"""The fence before all writing: no step of a run whose domain another run has."""

from __future__ import annotations

from lake_spec.lease import holder_of, lease_uri
from lake_spark.errors import DomainTaken
from lake_spark.object_store import ObjectStore


def check(store: ObjectStore, runs: str, domain: str, run: str) -> None:
    """Refuse if the domain's lease names another run.

    Without a lease, as after one that was deleted by hand, the run goes on.
    """
    uri = lease_uri(runs, domain)
    try:
        content = store.read(uri)
    except KeyError:
        return
    holder = holder_of(content)
    if holder not in (None, run):
        raise DomainTaken(
            f"{domain} belongs to the run {holder}, as {uri} says: the run {run} must"
            " not write any more. Start it again when that one is over."
        )
