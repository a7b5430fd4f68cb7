"""Where the lease of a domain is, and how it says which run has it."""

from __future__ import annotations

import json
from typing import Optional


def lease_folder(runs: str) -> str:
    """Where all leases are, below the root of the runs; with a slash at its end."""
    return f"{runs.rstrip('/')}/leases/"


def lease_uri(runs: str, domain: str) -> str:
    """The address of a domain's lease."""
    return f"{lease_folder(runs)}{domain}.json"


def holder_of(content: bytes) -> Optional[str]:
    """The run that has it, as `<dag_id>/<run key>`; None if it was given back.

    Raises ValueError for what is no lease.
    """
    try:
        holder = json.loads(content)["holder"]
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(
            f"got {content[:200]!r}, which is no lease ({error!r}). Delete the object"
            " when no run of the domain is under way."
        ) from None
    return None if holder is None else str(holder)
