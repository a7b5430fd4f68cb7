"""Products of the clinic, built by the runs of its domain: whole, then where it changed."""

from __future__ import annotations

import pytest

from tests.cases import clinic
from tests.e2e.lake import tags

pytestmark = pytest.mark.nightly


def test_each_run_has_one_cluster_and_one_step_for_all(treated):
    for run in treated.runs:
        clusters = [c for c in treated.clusters if tags(c).get("lake:run") == run.key]
        assert [c["Id"] for c in clusters] == [run.cluster["Id"]]
        (step,) = run.steps
        arguments = step["Config"]["Args"]
        assert arguments[arguments.index("--then") + 1] == "scd2,product"


def test_products_are_built_whole_then_where_their_tables_changed(treated):
    built = [
        {run.reports[f"product/{name}"]["built"] for name in clinic.COLUMNS}
        for run in treated.runs
    ]
    assert built == [
        {"whole: it was never built"},
        {"in part", "whole: it is plain Parquet (storage.type)"},
    ]


def test_the_products_hold_what_landed_the_late_rows_too(treated):
    assert treated.shown == treated.expected
    before, after = (each["daily_observations"] for each in treated.expected)
    assert before < after
    assert min(int(year) for *_, year, _, _ in after - before) < 2024
