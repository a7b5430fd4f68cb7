"""Chooses the columns of an answer by their names, whatever reads the rows."""

from __future__ import annotations

from typing import List, Sequence

from lake_spec.diagnostics.suggestions import did_you_mean

from lake_local.show.request import QueryRefused, Request


def shown(columns: Sequence[str], request: Request) -> List[str]:
    """Return the columns that are asked for, each once. Raises QueryRefused."""
    usual = [name for name in columns if not name.startswith(request.hidden)]
    names: List[str] = []
    for each in request.columns or ("*",):
        if each != "*" and each not in columns:
            raise QueryRefused(no_column(each, columns))
        names += usual if each == "*" else [each]
    return list(dict.fromkeys(names))


def no_column(name: str, columns: Sequence[str]) -> str:
    """Return the message for an unknown column, with the nearest one."""
    hint = did_you_mean(name, columns).strip() or f"Columns: {', '.join(columns)}."
    return f"no column {name!r}. {hint}"
