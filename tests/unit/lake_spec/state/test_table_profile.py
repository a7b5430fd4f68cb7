"""A profile is read as it was written; what is none is refused by name."""

import json

import pytest

from lake_spec.state.state_format import UnreadableState
from lake_spec.state.table_profile import (
    ColumnProfile,
    TableProfile,
    profile_text,
    profile_uri,
    read_profile,
)

COLUMN = ColumnProfile(
    "city",
    "string",
    nulls=2,
    distinct=7,
    min="a",
    max="z",
    min_length=1,
    max_length=9,
    top=(("Ulm", 3), ("Bonn", 2)),
)
NUMBER = ColumnProfile("n", "int", nulls=0, distinct=9, histogram=(1, 0, 8))
PROFILE = TableProfile(
    *("shop", "customer", "shop_maintenance/a", "2026-11-26T12:00:00+00:00", "2026"),
    rows=9,
    columns=(COLUMN, NUMBER),
)


def test_it_is_read_as_it_was_written():
    text = profile_text(PROFILE, "r1")
    assert read_profile(text, "x") == PROFILE
    assert json.loads(text)["written_by"] == "r1"
    assert PROFILE.column("n") == NUMBER and PROFILE.column("other") is None


def test_it_lies_next_to_the_runs():
    found = profile_uri("s3://lake/runs/", "shop.customer")
    assert found == "s3://lake/runs/profiles/shop/customer.json"


def test_fields_of_a_later_release_are_passed_over():
    data = json.loads(profile_text(PROFILE))
    data["columns"][0]["entropy"] = data["more"] = 1
    assert read_profile(json.dumps(data), "x") == PROFILE


def test_counts_have_no_value():
    found = COLUMN.counts()
    assert (found.nulls, found.distinct, found.counts_only) == (2, 7, True)
    assert (found.min, found.max, found.min_length, found.top) == (None, None, None, ())


def test_values_that_may_not_be_shown_any_more_are_left_out():
    found = PROFILE.redacted(lambda name: name == "n")
    assert found.columns == (COLUMN.counts(), NUMBER)
    assert (found.rows, found.at) == (PROFILE.rows, PROFILE.at)


@pytest.mark.parametrize(
    "change",
    [{"columns": None}, {"columns": [{}]}, {"rows": ...}, {"format": 2}],
)
def test_what_is_no_profile_is_refused_with_its_address(change):
    data = {**json.loads(profile_text(PROFILE)), **change}
    left = {name: value for name, value in data.items() if value is not ...}
    with pytest.raises(UnreadableState, match="s3://lake/runs/profiles/a.json"):
        read_profile(json.dumps(left), "s3://lake/runs/profiles/a.json")
