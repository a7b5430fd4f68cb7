"""Finds the ids of the catalogue of messages in causes and warnings of runs."""

from __future__ import annotations

import re
from typing import Iterable, Tuple

CATALOGUE = "docs/reference/messages.md"
_ID = re.compile(r"(?:^|: )([A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+): ")
_FOREIGN = ("Error", "Exception")
"""Ends of the names of errors of Python and Java, which the catalogue does not have."""


def ids_in(texts: Iterable[str]) -> Tuple[str, ...]:
    """Return the first id of each text, each id once.

    Example: `sales.orders full_load: TooManyBadRows: 9 of 10 rows are bad` has the id
    `TooManyBadRows`.
    """
    found = filter(None, map(_ID.search, texts))
    names = dict.fromkeys(each[1] for each in found)
    return tuple(name for name in names if not name.endswith(_FOREIGN))


def help_lines(texts: Iterable[str]) -> Tuple[str, ...]:
    """Return the line that says where the ids of the texts are explained; none without
    ids."""
    ids = ids_in(texts)
    return (f"Help: {CATALOGUE} ({', '.join(ids)})",) if ids else ()
