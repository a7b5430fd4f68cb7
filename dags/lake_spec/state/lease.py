"""The location and content of a domain's lease: which run has it, by which grant."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Dict, Mapping, Optional

from lake_spec.layout.run_files import LEASES, lease_file

FORMAT = 1
"""Format of the object; a newer one is refused."""


@dataclass(frozen=True)
class Lease:
    """The content of a lease object.

    `holder` is the run that has it, as `<dag_id>/<run key>`, None once it was given
    back; `token` the number of its last grant, which only grows: 0 where a release
    wrote it that knew of none. `more` are fields that this release does not know.
    """

    holder: Optional[str]
    token: int = 0
    since: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)

    def to_data(self) -> Dict[str, Any]:
        """Return the lease as JSON-ready data."""
        ours = {"format": FORMAT, "holder": self.holder, "token": self.token}
        return {**self.more, **ours, "since": self.since}


def lease_folder(runs: str) -> str:
    """Return the folder of all leases, below the root of the runs, with a slash."""
    return f"{runs.rstrip('/')}/{LEASES}"


def lease_uri(runs: str, domain: str) -> str:
    """Return the URI of a domain's lease."""
    return f"{runs.rstrip('/')}/{lease_file(domain)}"


def read_lease(content: bytes) -> Lease:
    """Parse the content of a lease. Raises ValueError for an invalid one."""
    try:
        data = dict(json.loads(content))
        format, holder = data.pop("format", FORMAT), data.pop("holder")
        token, since = data.pop("token", 0), data.pop("since", "")
        known = {type(holder) in (str, type(None)), type(since) is str}
        if known != {True} or type(token) is not int or type(format) is not int:
            raise TypeError("a field of another type")
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(
            f"got {content[:200]!r}, which is not a valid lease ({error!r}). Delete"
            " the object when no run of the domain is running."
        ) from None
    if format > FORMAT:
        raise ValueError(
            f"the lease has format {format}, written by a newer release; this release"
            f" reads format {FORMAT}. Use the newer release, or delete the object when"
            " no run of the domain is running."
        )
    return Lease(holder, token, since, data)
