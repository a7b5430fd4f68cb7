"""Locations and names of requests to erase keys, and of the lists of erased keys."""

from __future__ import annotations

import re

from lake_spec.layout.table_folders import table_path

REQUEST = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
"""Names of requests. Arguments and logs show the name: it must not contain a key."""


def folder_of(runs: str) -> str:
    """Return the folder of the requests of all domains."""
    return f"{runs}/erase"


ERASED = "_erased"
"""Folder of the lists of erased keys, below landing: hidden, by its first character."""


def list_uri(landing: str, table: str) -> str:
    """Return the URI of the list of keys that were erased from a table, `domain.table`.

    It lies with the landing files, for it says which of their rows must never come back:
    what is made of them may be lost, and a copy of them is a copy of the list.
    """
    return f"{landing}/{ERASED}/{table_path(table)}.json"


def uri_of(runs: str, domain: str, name: str) -> str:
    """Return the URI of a request."""
    return f"{folder_of(runs)}/{domain}/{name}.json"
