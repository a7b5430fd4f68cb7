"""The columns of a table that a dimension shows, and their names in it."""

from __future__ import annotations

from typing import Sequence, Tuple

from lake_spec.model.sources import Side


def shown_columns(
    side: Side, known: Sequence[str], key: Sequence[str]
) -> Tuple[Tuple[str, str], ...]:
    """List pairs of (the table's column, the dimension's), without the key.

    `known` are the table's columns, shown where the side lists none.
    """
    renamed = dict(side.rename)
    return tuple(
        (name, renamed.get(name, name))
        for name in side.columns or known
        if name not in key
    )
