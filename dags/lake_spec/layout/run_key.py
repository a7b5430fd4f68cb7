"""The one way in which a run's id becomes part of paths and names."""

from __future__ import annotations

import re
from hashlib import sha256

LONGEST = 150
"""Characters of an id, and of a key."""
LONGEST_AIRFLOW = 40
"""Characters of the part of a key that names its Airflow."""
_OTHERS = re.compile(r"[^A-Za-z0-9_.-]")


def run_key(run_id: str, airflow: str = "") -> str:
    """Return the key of a run: its id, then the name of its Airflow, if it has one.

    Raises ValueError for an id that is empty or longer than 150 characters:
    cluster names, tags and object keys have room for no more.
    """
    if not run_id or len(run_id) > LONGEST:
        raise ValueError(
            f"run id: got {len(run_id)} characters. Start the run with an id of 1 to"
            f" {LONGEST} characters."
        )
    return any_run_key(run_id, airflow)


def any_run_key(run_id: str, airflow: str = "") -> str:
    """Return the key also of a refused id; `airflow` is already a part of a key.

    Characters outside `[A-Za-z0-9_.-]` become `-`, two dots together, which a path
    could read as its parent, `--`. An id that was changed or cut has a short hash of
    it behind, for others become the same; one that stays as it is has none.
    """
    behind = f"--{airflow}" if airflow else ""
    return distinct_part(run_id, LONGEST - len(behind)) + behind


def distinct_part(text: str, longest: int) -> str:
    """Return a part of a key that is unique for the text."""
    clean = _OTHERS.sub("-", text).replace("..", "--")
    if clean == text and len(clean) <= longest:
        return text
    behind = f"--{sha256(text.encode('utf-8', 'replace')).hexdigest()[:8]}"
    return clean[: longest - len(behind)] + behind
