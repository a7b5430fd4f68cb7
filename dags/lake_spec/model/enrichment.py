"""Reference tables whose values a feed's rows are given as they are ingested."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple

from lake_spec.model.spec_field import setting


@dataclass(frozen=True)
class Enrichment:
    """A reference table, and which of its columns each row is given.

    A left join with the table's `current` at the time when the rows are ingested.
    """

    table: str = setting(
        "Name of the reference table, in the same domain.", example="countries"
    )
    by: Tuple[Tuple[str, str], ...] = setting(
        "Columns of this table, each with the key column of the reference table that "
        "it refers to; the whole key.",
        example={"country": "name"},
    )
    columns: Tuple[str, ...] = setting(
        "Columns of the reference table to add to each row.",
        example=["continent", "currency"],
    )
    rename: Tuple[Tuple[str, str], ...] = setting(
        "New names of these columns in this table.",
        (),
        example={"currency": "country_currency"},
    )

    @property
    def given(self) -> Tuple[Tuple[str, str], ...]:
        """(the reference table's column, this table's) each."""
        renamed = dict(self.rename)
        return tuple((name, renamed.get(name, name)) for name in self.columns)
