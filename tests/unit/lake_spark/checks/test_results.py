"""Results of checks as rows: once for each run, the newest runs alone."""

import json
from dataclasses import replace

from lake_spec.model import AcceptedRange, Aggregate, RowCount
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
    store, uri = Store(), uri_of("s3://work/runs", "sales.orders")
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
    assert again.newest("current", RowCount())["value"] == 3
    assert again.newest("history", RowCount()) is None
    assert again.has("current", "3") and not again.has("current", "4")


def test_earlier_numbers_are_those_of_commits_of_other_runs():
    found = Results(Store(), "x")
    found.put([row("a", 1), row("b", 2, commit=None), row("c", None), row("d", 4)])
    assert found.earlier("current", RowCount(), "d") == [1]
    assert found.earlier("current", RowCount(), "e") == [1, 4]


def test_a_name_given_to_another_check_has_no_earlier_results():
    found, size = Results(Store(), "x"), AcceptedRange("size", Aggregate.SUM, name="n")
    found.put([{**row("a", 7, check="n"), "subject": size.subject}])
    assert found.earlier("current", size, "b") == [7]
    assert found.earlier("current", replace(size, at_most=9), "b") == [7]
    for other in (replace(size, aggregate=Aggregate.AVG), RowCount(name="n")):
        assert found.earlier("current", other, "b") == []
        assert found.newest("current", other) is None


def test_the_results_of_a_commit_do_not_replace_later_ones_of_its_run():
    found, early, late = Results(Store(), "x"), row("a", 1), row("a", 9, commit=None)
    found.put([{**late, "at": "2026-01-02T00:00:00"}])
    found.add_of_commit([early, row("a", 2, check="other")], "5")
    assert found.newest("current", RowCount())["value"] == 9
    assert found.newest("current", RowCount(name="other"))["commit"] == "5"
    found.add_of_commit([{**early, "at": "2026-01-03T00:00:00"}], "6")
    assert found.newest("current", RowCount())["value"] == 1


def test_the_newest_runs_are_kept(monkeypatch):
    monkeypatch.setattr(results, "MOST_RUNS", 2)
    found = Results(Store(), "x")
    for run in "abc":
        found.put([row(run, 1), row(run, 1, check="other")])
    assert found.earlier("current", RowCount(), "") == [1, 1]
    assert found.newest("current", RowCount())["run"] == "c"


def test_rows_have_a_format_and_the_release_that_wrote_them():
    store = Store()
    store.objects["x"] = json.dumps(row("old", 1)).encode()  # before there was one
    Results(store, "x", "r1").put([row("a", 2)])
    Results(store, "x", "r2").put([row("b", 3)])
    lines = [json.loads(each) for each in store.objects["x"].splitlines()]
    heads = [(each.get("format"), each.get("written_by")) for each in lines]
    assert heads == [(None, None), (1, "r1"), (1, "r2")]


def test_rows_that_cannot_be_read_are_set_aside_and_the_others_stay():
    uri, good = "s3://work/runs/checks/sales/orders.json", json.dumps(row("a", 1))
    newer = json.dumps({**row("c", 3), "format": 2, "written_by": "r9"})
    broken = {
        "cut": (good[:40], "line 2"),
        "no row": ("[]", "a JSON list, not an object"),
        "bytes": (b"\xff", "line 2"),
        "lacks": (
            '{"run": "b", "at": ""}',
            "has no layer, check, result, value, commit",
        ),
        "newer": (
            newer,
            "has format 2 (written by release r9), this release (r1) reads 1",
        ),
    }
    for line, words in broken.values():
        store = Store()
        line = line if isinstance(line, bytes) else line.encode()
        content = b"\n".join([good.encode(), line, json.dumps(row("d", 4)).encode()])
        store.objects[uri] = content
        found = Results(store, uri, "r1")
        assert found.earlier("current", RowCount(), "") == [1, 4]
        said = found.set_aside()
        assert "1 row(s)" in said and f"{uri}, line 2" in said and words in said
        copy = "s3://work/runs/checks/sales/_orders.json.unreadable"
        assert copy in said and store.objects[copy] == content
        again = Results(store, uri)
        assert again.set_aside() is None
        assert again.earlier("current", RowCount(), "") == [1, 4]
