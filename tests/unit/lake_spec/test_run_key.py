"""Run ids become folders, names and tags in one way."""

import pytest

from lake_spec.run_key import LONGEST, run_key


@pytest.mark.parametrize(
    "run_id, key",
    [
        (
            "manual__2026-11-21T10:00:00.123+00:00",
            "manual__2026-11-21T10-00-00.123-00-00",
        ),
        ("redo of monday", "redo-of-monday"),
        ("a/b\\c", "a-b-c"),
        ("{{ ds }}; rm -rf", "---ds-----rm--rf"),
        ("größe", "gr--e"),
        ("../../etc", "------etc"),
    ],
    ids=["airflow's-own", "blanks", "slashes", "templates", "umlauts", "parent"],
)
def test_every_character_that_could_mean_something_becomes_a_dash(run_id, key):
    assert run_key(run_id) == key


def test_a_key_is_its_own_key():
    key = run_key("scheduled__2026-11-21T10:00:00+00:00")
    assert run_key(key) == key


@pytest.mark.parametrize("run_id", ["", "x" * (LONGEST + 1)], ids=["empty", "long"])
def test_an_id_without_room_in_a_name_is_refused(run_id):
    with pytest.raises(ValueError, match=f"got {len(run_id)} characters"):
        run_key(run_id)
