"""Files below the root of the runs that are of no single run: paths relative to it.

Steps and Airflow write them, and the roles of both are granted them by these paths.
"""

from __future__ import annotations

from lake_spec.layout.table_folders import table_path

LEASES = "leases/"
"""Folder of the leases of all domains."""


def lease_file(domain: str) -> str:
    """Return the path of a domain's lease: which run has it."""
    return f"{LEASES}{domain}.json"


def timings_file(domain: str) -> str:
    """Return the path of a domain's timings: how long each table takes."""
    return f"timings/{domain}.json"


def checks_folder(domain: str) -> str:
    """Return the folder with the results of checks of a domain's tables."""
    return f"checks/{domain}/"


def checks_file(table: str) -> str:
    """Return the path of the results of checks of a table, `domain.table`."""
    return f"checks/{table_path(table)}.json"
