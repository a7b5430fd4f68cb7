"""Results of checks as rows: once for each run, the newest runs alone."""

import json

from lake_spark.checks import results
from lake_spark.checks.results import Results, uri_of


class Store:
    """Objects in memory."""

    def __init__(self):
        self.objects = {}

    def read(self, uri):
        return self.objects[uri]

    def write(self, uri, content):
        self.objects[uri] = content


def row(run, value, *, check="row_count", commit="1", layer="current"):
    about = {"run": run, "check": check, "layer": layer, "at": "2026-01-01T00:00:00"}
    return {**about, "value": value, "result": "passed", "commit": commit}


def test_a_run_that_is_tried_again_has_its_last_results():
    store, uri = Store(), uri_of("s3://work/runs", "sales", "orders")
    assert uri == "s3://work/runs/checks/sales/orders.json"
    first = Results(store, uri)
    first.put([row("a", 1), row("a", 5, check="other")])
    first.put([row("a", None, commit=None)])
    first.put([row("b", 2, commit="2")])
    again = Results(store, uri)
    again.put([row("a", 3, commit="3")])
    lines = [json.loads(each) for each in store.objects[uri].decode().splitlines()]
    assert [(each["run"], each["value"]) for each in lines] == [
        ("a", 5),
        ("b", 2),
        ("a", 3),
    ]
    assert again.newest("current", "row_count")["value"] == 3
    assert again.newest("history", "row_count") is None
    assert again.has("current", "3") and not again.has("current", "4")


def test_earlier_numbers_are_those_of_commits_of_other_runs():
    found = Results(Store(), "x")
    found.put([row("a", 1), row("b", 2, commit=None), row("c", None), row("d", 4)])
    assert found.earlier("current", "row_count", "d") == [1]
    assert found.earlier("current", "row_count", "e") == [1, 4]


def test_the_newest_runs_are_kept(monkeypatch):
    monkeypatch.setattr(results, "MOST_RUNS", 2)
    found = Results(Store(), "x")
    for run in "abc":
        found.put([row(run, 1), row(run, 1, check="other")])
    assert found.earlier("current", "row_count", "") == [1, 1]
    assert found.newest("current", "row_count")["run"] == "c"
