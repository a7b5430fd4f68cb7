"""`--param` and `--window` become the conf of a run."""

from __future__ import annotations

import pytest

from lake_local.errors import BadRequest
from lake_local.runs.dag_runs import params


def test_tables_become_a_list_and_truth_words_become_truth():
    conf = params(["tables=artists, works", "dry_run=true"], None)
    assert conf == {"tables": ["artists", "works"], "dry_run": True}


def test_a_sample_becomes_a_number():
    conf = params(["verify=true", "sample=0.1"], None)
    assert conf == {"verify": True, "sample": 0.1}
    with pytest.raises(BadRequest, match="got 'sample=some'. Write a number"):
        params(["sample=some"], None)


def test_a_value_may_hold_an_equals_sign():
    assert params(["note=a=b"], None) == {"note": "a=b"}
    conf = params(["files=a/1.csv, b/*", "quarantined=true"], None)
    assert conf == {"files": ["a/1.csv", "b/*"], "quarantined": True}
    conf = params(["partitions=year=2026/month=1,year=2025"], None)
    assert conf == {"partitions": ["year=2026/month=1", "year=2025"]}


def test_the_window_is_two_instants_in_utc():
    conf = params([], ["2016-03-01", "2016-03-01T02:00:00+02:00"])
    assert conf == {
        "window_from": "2016-03-01T00:00:00Z",
        "window_to": "2016-03-01T00:00:00Z",
    }


@pytest.mark.parametrize("pair", ["dry_run", "=true", "Dry Run=true", "a;b=1"])
def test_what_is_no_pair_is_refused_by_name(pair):
    with pytest.raises(BadRequest, match="Write name=value"):
        params([pair], None)


def test_a_window_of_words_is_refused_by_name():
    with pytest.raises(BadRequest, match="not a valid timestamp: 'yesterday'"):
        params([], ["yesterday", "2016-03-01"])
