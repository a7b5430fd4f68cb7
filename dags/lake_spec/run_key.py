"""The one way in which a run's id becomes part of paths and names."""

from __future__ import annotations

import re

LONGEST = 150
_ALLOWED = re.compile(r"[^A-Za-z0-9_.-]")


def run_key(run_id: str) -> str:
    """The run id, every character outside `[A-Za-z0-9_.-]` turned into `-`.

    Two dots together, which a path could read as its parent, become `--`.
    Raises ValueError for an id that is empty or longer than 150 characters:
    cluster names, tags and object keys have room for no more.
    """
    if not run_id or len(run_id) > LONGEST:
        raise ValueError(
            f"run id: got {len(run_id)} characters. Start the run with an id of 1 to"
            f" {LONGEST} characters."
        )
    return _ALLOWED.sub("-", run_id).replace("..", "--")
