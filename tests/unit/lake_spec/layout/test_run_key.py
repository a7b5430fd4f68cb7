"""Run ids become folders, names and tags in one way."""

import pytest

from lake_spec.layout.run_key import LONGEST, LONGEST_AIRFLOW, any_run_key, run_key


@pytest.mark.parametrize(
    "run_id, key",
    [
        (
            "manual__2026-11-21T10:00:00.123+00:00",
            "manual__2026-11-21T10-00-00.123-00-00",
        ),
        ("reprocess of monday", "reprocess-of-monday"),
        ("a/b\\c", "a-b-c"),
        ("{{ ds }}; rm -rf", "---ds-----rm--rf"),
        ("größe", "gr--e"),
        ("../../etc", "------etc"),
    ],
    ids=["airflow's-own", "blanks", "slashes", "templates", "umlauts", "parent"],
)
def test_every_character_that_could_mean_something_becomes_a_dash(run_id, key):
    assert run_key(run_id).rsplit("--", 1)[0] == key


@pytest.mark.parametrize("run_id", ["manual-1", "a.b_C-9", "x" * LONGEST])
def test_an_id_of_such_characters_alone_stays_as_it_is(run_id):
    assert run_key(run_id) == run_id


def test_ids_that_become_the_same_have_keys_of_their_own():
    ids = [f"manual__2026-11-21T10:00:00{sign}02:00" for sign in "+-~: "]
    ids += ["a/b", "a:b", "a-b", "a..b", "a--b", "ä" * LONGEST, "ö" * LONGEST]
    assert len({run_key(each) for each in ids}) == len(ids)


def test_one_id_of_two_airflows_has_two_keys_which_name_them():
    run_id = "scheduled__2026-11-21T10:00:00+00:00"
    assert run_key(run_id, "blue").endswith("--blue")
    assert len({run_key(run_id, each) for each in ("", "blue", "green")}) == 3
    assert run_key("manual-1", "blue") == "manual-1--blue"


@pytest.mark.parametrize("end", ["", "/", "ä"])
def test_no_key_is_longer_than_an_id(end):
    key = run_key("x" * (LONGEST - len(end)) + end, "a" * LONGEST_AIRFLOW)
    assert len(key) == LONGEST


def test_ids_that_are_refused_have_keys_of_their_own_too():
    keys = {any_run_key("x" * LONGEST + each) for each in ("", "y", "z")}
    assert len(keys) == 3 and {len(key) for key in keys} == {LONGEST}


def test_a_key_is_its_own_key():
    key = run_key("scheduled__2026-11-21T10:00:00+00:00")
    assert run_key(key) == key


@pytest.mark.parametrize("run_id", ["", "x" * (LONGEST + 1)], ids=["empty", "long"])
def test_an_id_without_room_in_a_name_is_refused(run_id):
    with pytest.raises(ValueError, match=f"got {len(run_id)} characters"):
        run_key(run_id)
