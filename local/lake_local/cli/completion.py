"""What the Tab key completes in arguments that name tables.

It reads names of specs alone, so it is quick and needs no lake.
"""

from __future__ import annotations

import re
from argparse import Action, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lake_local.cli import lake_tables
from lake_local.errors import LakeLocalError
from lake_local.show.request import Layer
from lake_local.workspace.project import find
from lake_local.workspace.specs import table_names

_LAST_WORD = re.compile(r"[\w.]*\Z")


def completed_by(argument: Action, names: Callable[..., list[str]]) -> None:
    """Let the Tab key complete an argument; argcomplete looks for this attribute."""
    vars(argument)["completer"] = names


def complete_table(prefix: str, parsed_args: Namespace, **_: Any) -> list[str]:
    """Return the tables whose names begin so."""
    return [each for each in _tables(parsed_args) if each.startswith(prefix)]


def complete_sql(prefix: str, parsed_args: Namespace, **_: Any) -> list[str]:
    """Return a query with its last word completed to the names of tables."""
    found = _LAST_WORD.search(prefix)
    begin = prefix[: found.start()] if found else ""
    if not begin.strip():
        return []
    names = (
        lake_tables.name_of(table, layer)
        for table in _tables(parsed_args)
        for layer in Layer
    )
    return sorted(begin + each for each in names if (begin + each).startswith(prefix))


def _tables(args: Namespace) -> list[str]:
    given = getattr(args, "tables", None)
    try:
        return sorted(table_names(Path(given).expanduser() if given else find().tables))
    except (LakeLocalError, OSError):
        return []
