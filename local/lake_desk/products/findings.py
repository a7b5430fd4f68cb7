"""What is wrong with a product's SQL: in a line of its file, or at a key of its spec."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional, Sequence, Union

from lake_check.messages.product_ids import ProductId
from lake_desk.products.sql_tree import exp, line_of
from lake_spec.diagnostics.diagnostic import Path

Place = Union[int, Path]
MOST_LISTED = 20


@dataclass(frozen=True)
class Finding:
    """One fault: the line of the SQL file or the key path of the spec, and its words."""

    place: Place
    value: object
    message: str
    hint: str
    rule: ProductId


class Findings(List[Finding]):
    """The faults so far, each once."""

    def add(
        self, place: Place, value: object, message: str, hint: str, rule: ProductId
    ) -> None:
        """Add a fault, unless it is there: one column may be found at several places."""
        found = Finding(place, value, message, hint, rule)
        if found not in self:
            self.append(found)


def place_of(node: exp.Expr) -> Place:
    """Return the line of a part of the SQL; for `where` and the like the key in the spec."""
    at: Optional[exp.Expr] = node
    while at is not None:
        if "path" in at.meta:
            path: Place = at.meta["path"]
            return path
        at = at.parent
    return line_of(node)


def listed(names: Sequence[str]) -> str:
    """Join names for a hint, the first of many."""
    more = len(names) - MOST_LISTED
    shown = ", ".join(names[:MOST_LISTED])
    return f"{shown} and {more} more" if more > 0 else shown or "none"
