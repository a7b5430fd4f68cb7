"""The kinds of DAGs that a domain has, and where their runs leave what they tell."""

from __future__ import annotations

from typing import List

DAG_KINDS = (
    *("continuous", "erase", "full_load", "incremental"),
    *("maintenance", "rebuild", "redo", "scd2"),
)
"""Whose runs have a folder; a test holds them to the DAGs that there are."""


def run_folders(runs: str, domain: str) -> List[str]:
    """The folders of all runs of a domain, each with a slash at its end."""
    return [f"{runs}/{domain}_{kind}/" for kind in DAG_KINDS]
