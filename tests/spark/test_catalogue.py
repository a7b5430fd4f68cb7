"""A database of the Glue catalogue, before its tables are registered."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from lake_spark import catalogue


class EntityNotFoundException(Exception):
    """Glue's word for what is not there."""


class AlreadyExistsException(Exception):
    """Glue's word for what is there."""


class Glue:
    """The databases that there are; `first` is made by another table meanwhile."""

    exceptions = SimpleNamespace(
        EntityNotFoundException=EntityNotFoundException,
        AlreadyExistsException=AlreadyExistsException,
    )

    def __init__(self, *names: str, first: str = "") -> None:
        self.names = list(names)
        self.first = first
        self.asked_to_make = 0

    def get_database(self, *, Name: str) -> None:
        if Name not in self.names:
            raise EntityNotFoundException(Name)

    def create_database(self, *, DatabaseInput: dict) -> None:
        self.asked_to_make += 1
        if DatabaseInput["Name"] == self.first:
            raise AlreadyExistsException(self.first)
        self.names.append(DatabaseInput["Name"])


@pytest.mark.parametrize(
    "glue, asked, names",
    [
        (Glue("moma"), 0, ["moma"]),
        (Glue("shop"), 1, ["shop", "moma"]),
        (Glue(first="moma"), 1, []),
    ],
    ids=["there", "missing", "made-meanwhile"],
)
def test_a_database_is_made_only_where_it_is_missing(glue, asked, names):
    catalogue._database(glue, "moma", "The museum")
    assert (glue.asked_to_make, glue.names) == (asked, names)
