"""A name that is not known: the nearest one is named, and of an old one the new."""

import pytest

from lake_spec.diagnostics.suggestions import did_you_mean, nearest
from tests.unit.lake_check.spec_files import FEED, SNAPSHOT, diagnostics_of

KEYS = ["concurrency", "cluster", "snapshot_time", "full_refresh"]


def test_the_nearest_name_is_named():
    assert did_you_mean("clustr", KEYS) == "Did you mean 'cluster'? "
    assert did_you_mean("nothing like it", KEYS) == ""


def test_of_an_old_name_the_new_one_is_named():
    assert did_you_mean("when_busy", KEYS) == "It was renamed: write 'concurrency'. "
    assert nearest("when_busy", KEYS) == "concurrency"


def test_dags_were_renamed_by_their_ends():
    dags = ["moma_reprocess", "moma_rebuild"]
    assert did_you_mean("moma_redo", dags).endswith("write 'moma_reprocess'. ")


def test_an_old_name_whose_new_one_is_no_choice_is_as_any_other():
    assert did_you_mean("marker", ["markers"]) == "Did you mean 'markers'? "


@pytest.mark.parametrize(
    "spec, changes, where, new",
    [
        (SNAPSHOT, {"source.absence": "delete"}, "source.absence", "missing_keys"),
        (FEED, {"source.reloads": {"files": "r/*"}}, "source.reloads", "full_refresh"),
        (FEED, {"history": {"deletes": "marker"}}, "history.deletes", "tombstone"),
    ],
)
def test_validate_names_the_new_word(specs, spec, changes, where, new):
    (fault,) = diagnostics_of(specs, spec, changes)
    assert f"{where}: " in fault and f"write '{new}'" in fault
