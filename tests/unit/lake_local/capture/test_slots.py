"""Replication slots: one that another made is never read, one of ours is never forgotten."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest

from lake_local.capture import slots
from lake_local.errors import BadRequest
from lake_local.workspace.state_dir import StateDirectory

SLOT = slots.Slot("shop", "db:5432/shop", "lake_shop")
THERE = slots.Found(is_active=False, lag=5)


@pytest.fixture
def home(tmp_path):
    return StateDirectory.at(tmp_path / "state")


def test_a_slot_that_is_not_there_yet_may_be_made(home):
    slots.require_own(home, SLOT, None)


@pytest.mark.parametrize(
    "active, reader",
    [(True, "another program reads it now"), (False, "nobody reads it now")],
)
def test_a_slot_of_others_is_refused_with_two_ways_on(home, active, reader):
    with pytest.raises(BadRequest) as refused:
        slots.require_own(home, SLOT, slots.Found(active, 5))
    assert str(refused.value) == (
        "db:5432/shop: there is a replication slot lake_shop that no `connect` of"
        f" {home.root} made; {reader}. Who reads it here takes its changes from whoever"
        " made it. Choose another name with --slot NAME; or drop it there, if nobody needs"
        " it any more: SELECT pg_drop_replication_slot('lake_shop');"
    )


@pytest.mark.parametrize(
    "other", [{"server": "other:5432/shop"}, {"name": "lake_shop_2"}], ids=str
)
def test_a_slot_is_ours_by_its_server_and_its_name(home, other):
    slots.note(home, SLOT)
    slots.require_own(home, SLOT, THERE)
    with pytest.raises(BadRequest):
        slots.require_own(home, replace(SLOT, **other), THERE)


def test_the_slot_of_an_earlier_release_is_known_by_the_positions_that_it_kept(home):
    long = replace(SLOT, domain="d" * 63, name=f"lake_{'d' * 58}")
    for each in (SLOT, long):
        (home.root / "connect" / each.domain / "kafka").mkdir(parents=True)
        slots.require_own(home, each, THERE)
    with pytest.raises(BadRequest):
        slots.require_own(home, replace(SLOT, domain="other"), THERE)


def test_a_slot_that_others_make_after_ours_was_dropped_is_theirs(home):
    (home.root / "connect/shop/kafka").mkdir(parents=True)
    slots.note(home, SLOT)
    slots.forget(home, SLOT)
    assert not slots.is_own(home, SLOT)
    with pytest.raises(BadRequest):
        slots.require_own(home, SLOT, THERE)


def test_a_slot_that_others_make_after_our_start_failed_is_theirs(home):
    slots.begin(home, SLOT)
    (home.root / "connect/shop/kafka").mkdir(parents=True)
    assert list(slots.known(home)) == []
    with pytest.raises(BadRequest):
        slots.require_own(home, SLOT, THERE)


def test_all_slots_of_a_domain_are_known_until_each_is_dropped(home):
    other = replace(SLOT, name="lake_shop_2")
    slots.note(home, SLOT)
    slots.note(home, other)
    slots.note(home, SLOT, THERE)
    assert sorted(each.name for each in slots.known(home)) == [SLOT.name, other.name]
    slots.forget(home, SLOT)
    assert list(slots.known(home)) == [other]


def test_a_note_of_one_slot_as_it_was_at_first_is_read(home):
    file = home.root / "connect/shop/slot.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(asdict(SLOT)))
    assert list(slots.known(home)) == [SLOT]
    slots.forget(home, SLOT)
    assert list(slots.known(home)) == []


@pytest.mark.parametrize("is_noted", [True, False])
def test_a_start_keeps_what_says_that_a_slot_is_ours(home, is_noted):
    (home.root / "connect/shop/kafka").mkdir(parents=True)
    if is_noted:
        slots.note(home, SLOT)
    other = replace(SLOT, name="lake_shop_2")
    slots.begin(home, other)
    slots.note(home, other)
    slots.require_own(home, SLOT, THERE)
    assert list(slots.known(home)) == [SLOT, other]


def test_what_was_seen_last_is_kept_until_the_slot_is_dropped(home):
    slots.note(home, SLOT)
    assert list(slots.known(home)) == [SLOT]
    slots.note(home, SLOT, THERE)
    (found,) = slots.known(home)
    assert (found.lag, found.name) == (5, "lake_shop") and found.seen
    slots.forget(home, found)
    assert list(slots.known(home)) == []
