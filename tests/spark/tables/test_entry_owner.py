"""Entries of others in the Glue catalogue: named, never changed; what they add to ours stays."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from lake_spark.errors import ForeignTable
from lake_spark.tables.entry_owner import is_ours, refuse_others, with_theirs

HOME = "s3://lake/warehouse/moma/artists"


def entry(location=None, **more):
    return {"StorageDescriptor": {"Location": location} if location else {}, **more}


@pytest.mark.parametrize(
    "found, ours",
    [
        (entry(f"{HOME}/current"), True),
        (entry(f"{HOME}/iceberg/history"), True),
        (entry(HOME), True),
        (entry("s3://moved", Parameters={"lake.folder": HOME}), True),
        (entry("s3://moved", Parameters={"lake.folder": f"{HOME}_old"}), False),
        (entry(f"{HOME}_old/current"), False),
        (entry("s3://other/warehouse/moma/artists/current"), False),
        (entry(f"{HOME}/current", TableType="VIRTUAL_VIEW"), False),
        (entry(TableType="VIRTUAL_VIEW"), False),
        ({"Name": "artists"}, False),
    ],
)
def test_an_entry_is_ours_by_where_it_leads(found, ours):
    assert is_ours(found, HOME) == ours


class EntityNotFoundException(Exception):
    """Glue's word for what is not there."""


def refused(**tables) -> str:
    """What is said of a catalogue with these tables in the database moma."""

    def get_table(DatabaseName, Name):
        if Name not in tables:
            raise EntityNotFoundException(Name)
        return {"Table": tables[Name]}

    exceptions = SimpleNamespace(EntityNotFoundException=EntityNotFoundException)
    glue = SimpleNamespace(get_table=get_table, exceptions=exceptions)
    names = [("moma", "artists"), ("moma", "artists_history")]
    try:
        refuse_others(glue, names, HOME)
    except ForeignTable as error:
        return str(error)
    return ""


REST = (
    f", not this table below {HOME}/. It was left as it is. Rename or drop it if it is "
    "yours, or give the table in the spec another name."
)


def test_a_name_that_is_taken_is_refused_with_what_has_it():
    assert refused() == refused(artists=entry(f"{HOME}/current")) == ""
    assert refused(artists=entry(TableType="VIRTUAL_VIEW")) == (
        f"moma.artists in the Glue catalogue is a view{REST}"
    )
    assert refused(artists_history=entry("s3://theirs/t")) == (
        f"moma.artists_history in the Glue catalogue is a table at s3://theirs/t{REST}"
    )


def test_parameters_of_others_stay_and_ours_are_those_of_today():
    found = {"Parameters": {"a.team": "x", "our.old": "1", "our.kept": "0"}}
    made = with_theirs({"Parameters": {"our.kept": "1"}}, found, ("our.",))
    assert made == {"Parameters": {"a.team": "x", "our.kept": "1"}}
