"""Where a request to erase keys lies, and what it may be called."""

from __future__ import annotations

import re

REQUEST = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
"""Names of requests. A name goes into arguments and logs: no key belongs into it."""


def folder_of(runs: str) -> str:
    """Where the requests of all domains lie."""
    return f"{runs}/erase"


def uri_of(runs: str, domain: str, name: str) -> str:
    """The object that holds a request."""
    return f"{folder_of(runs)}/{domain}/{name}.json"
