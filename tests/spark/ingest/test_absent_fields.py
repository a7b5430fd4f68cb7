"""Fields that a record of JSON lacks did not change, where the table says so.

Random histories of such a table are played by tests/oracle (`partial`). Here is what
they do not hold: other wraps of rows, columns that come later, and what rules make of it.
"""

from __future__ import annotations

import json

import pytest

from tests.kinds import one_by_day
from tests.spark.lake import Lake, table

SPEC = """
source:
  kind: feed
  path: tests/people
  changes: changes/**
  format: {form}
  absent_fields: unchanged
  {more}
columns:
  id: int
  {columns}
  at: timestamp
key: [id]
order_by: [at]
quality: {quality}
storage: {{buckets: 1}}
"""


def spec_of(columns, *, form="{type: json}", more="", quality="[]"):
    text = "\n  ".join(columns.split("; "))
    return table(SPEC.format(columns=text, form=form, more=more, quality=quality))


def play(lake, *files):
    """Each file by a run of its own, `at` the day that a record names first."""
    for number, records in enumerate(files, 1):
        rows = [{**each, "at": f"2026-01-0{each['at']}"} for each in records]
        text = "".join(json.dumps(each) + "\n" for each in rows)
        lake.land(f"changes/{number}.json", text, at="2026-03-01")
        lake.done("incremental", "scd2")


def values(lake, *names):
    """What current has by id; a struct as a dict."""
    rows = (row.asDict(recursive=True) for row in lake.current.collect())
    return {row["id"]: tuple(row[name] for name in names) for row in rows}


@pytest.mark.nightly
def test_every_record_has_the_columns_of_its_path(spark, tmp_path):
    more = "path_columns: {region: 'region=([^/]+)/'}"
    lake = Lake(spark, tmp_path, spec_of("a: string; region: string", more=more))
    for place, record in (
        ("region=north/1", {"id": 1, "a": "x", "at": "2026-01-01"}),
        ("region=south/2", {"id": 1, "at": "2026-01-02"}),
    ):
        lake.land(f"changes/{place}.json", json.dumps(record), at="2026-03-01")
        lake.done("incremental", "scd2")
    assert values(lake, "a", "region") == {1: ("x", "south")}


@pytest.mark.nightly
def test_columns_that_come_later_did_not_change_in_earlier_records(spark, tmp_path):
    lake = Lake(spark, tmp_path, spec_of("a: string"))
    play(
        lake,
        [
            {"id": 1, "a": "x", "at": 3},
            {"id": 2, "b": None, "at": 3},
            {"id": 3, "a": None, "at": 3},
            {"id": 4, "c": {"x": "new"}, "at": 3},
        ],
        [
            {"id": i, "a": "w", "b": "y", "c": {"z": "old"}, "at": 1}
            for i in range(1, 5)
        ],
        [{"id": 1, "C": {"x": None, "Y": 5}, "at": 2}],
    )
    assert values(lake, "a", "b", "c") == {
        1: ("x", "y", {"x": None, "z": "old", "Y": "5"}),
        2: ("w", None, {"x": None, "z": "old", "Y": None}),
        3: (None, "y", {"x": None, "z": "old", "Y": None}),
        4: ("w", "y", {"x": "new", "z": "old", "Y": None}),
    }


@pytest.mark.nightly
def test_a_file_without_a_field_warns_of_none(spark, tmp_path):
    lake = Lake(spark, tmp_path, spec_of("a: string; b: string"))
    play(lake, [{"id": 1, "a": "x", "b": "y", "at": 1}])
    lake.land("changes/9.json", '{"id": 1, "a": "z", "at": "2026-01-02"}\n')
    report, _ = lake.done("incremental", "scd2")
    assert (report.warnings, report.unresolved) == ([], 0)
    assert values(lake, "a", "b") == {1: ("z", "y")}


@pytest.mark.nightly  # by day: found/absent-fields-nested
def test_columns_inside_of_columns(spark, tmp_path):
    columns = "city: {type: string, source: [home.city]}"
    columns += "; street: {type: string, source: [home.at.street]}"
    lake = Lake(spark, tmp_path, spec_of(columns))
    full = {"home": {"city": "Ulm", "at": {"street": "A"}}, "at": 1}
    play(
        lake,
        [{"id": i, **full} for i in range(1, 8)],
        [{"id": 1, "home": None, "at": 2}],
        [{"id": 2, "home": {"city": None}, "at": 2}],
        [
            {"id": 3, "home": {"at": None}, "at": 2},
            {"id": 4, "at": 2},
            {"id": 5, "home": {"at": {"street": "B"}}, "at": 2},
        ],
        [
            {"id": 6, "home": {"city": None}, "at": 2},
            {"id": 7, "home": "nowhere", "at": 2},
        ],
    )
    assert values(lake, "city", "street") == {
        1: (None, None),
        2: (None, "A"),
        3: ("Ulm", None),
        4: ("Ulm", "A"),
        5: ("Ulm", "B"),
        6: (None, "A"),
        7: ("Ulm", "A"),
    }


@pytest.mark.nightly  # by day: found/absent-fields-nested
def test_maps_and_lists_are_replaced_as_a_whole(spark, tmp_path):
    lake = Lake(spark, tmp_path, spec_of('m: "map<string,int>"; l: "array<int>"'))
    full = {"m": {"a": 1}, "l": [1, 2], "at": 1}
    play(
        lake,
        [{"id": i, **full} for i in range(1, 6)],
        [{"id": 1, "m": {}, "at": 2}, {"id": 2, "l": [], "at": 2}],
        [{"id": 3, "m": {"b": 2}, "at": 2}, {"id": 4, "m": None, "l": None, "at": 2}],
        [{"id": 5, "m": {}, "at": 2}],
    )
    assert values(lake, "m", "l") == {
        1: ({}, [1, 2]),
        2: ({"a": 1}, []),
        3: ({"b": 2}, [1, 2]),
        4: (None, None),
        5: ({}, [1, 2]),
    }


@pytest.mark.nightly  # by day: found/absent-fields-nested
def test_structs_among_texts_in_one_file(spark, tmp_path):
    lake = Lake(spark, tmp_path, spec_of('p: "struct<X:int,q:struct<y:int,z:int>>"'))
    full = {"p": {"X": 1, "q": {"y": 2, "z": 3}}, "at": 1}
    text = {"p": json.dumps({"x": 9, "Q": {"Y": None}}), "at": 2}
    play(
        lake,
        [{"id": i, **full} for i in (1, 2, 3)],
        [{"id": 1, **text}, {"id": 2, "p": {"q": {"z": 8}}, "at": 2}],
        [{"id": 3, "p": None, "at": 2}],
    )
    assert values(lake, "p") == {
        1: ({"X": 9, "q": {"y": None, "z": 3}},),
        2: ({"X": 1, "q": {"y": 2, "z": 8}},),
        3: (None,),
    }


@pytest.mark.nightly
def test_mongodbs_values(spark, tmp_path):
    form = "{type: json, extended: true}"
    spec = spec_of("n: bigint; born: date; note: string", form=form)
    lake = Lake(spark, tmp_path, spec)
    full = {
        "n": {"$numberLong": "7"},
        "born": {"$date": "2001-01-01T00:00:00Z"},
        "note": "x",
        "at": 1,
    }
    play(
        lake,
        [{"id": i, **full} for i in (1, 2)],
        [{"id": 1, "n": {"$numberLong": "8"}, "at": 2}, {"id": 2, "n": None, "at": 2}],
        [{"id": 1, "born": None, "at": 3}, {"id": 2, **full, "note": None, "at": 3}],
    )
    found = values(lake, "n", "note")
    assert found == {1: (8, "x"), 2: (7, None)}
    assert values(lake, "born")[1] == (None,)


@pytest.mark.nightly
def test_rules_and_deletes_judge_what_is_there(spark, tmp_path):
    more = 'operation: {deleted_when: {column: since, is: "null"}}'
    quality = "[{column: a, not_null: true}]"
    columns = "a: string; since: string"
    lake = Lake(spark, tmp_path, spec_of(columns, more=more, quality=quality))
    full = {"a": "x", "since": "now", "at": 1}
    play(lake, [{"id": i, **full} for i in (1, 2, 3, 4)], [{"id": 1, "at": 2}])
    records = [
        {"id": 2, "since": None, "at": "2026-01-02"},
        {"id": 3, "a": None, "at": "2026-01-02"},
        {"id": 4, "a": "y", "at": "2026-01-02"},
    ]
    lines = "".join(json.dumps(each) + "\n" for each in records)
    lake.land("changes/9.json", lines, at="2026-03-01")
    report, _ = lake.done("incremental", "scd2")
    assert report.quarantined == 1
    assert values(lake, "a", "since") == {
        1: ("x", "now"),
        3: ("x", "now"),
        4: ("y", "now"),
    }


@pytest.mark.nightly
def test_a_file_of_many_records_is_read_like_a_small_one(spark, tmp_path):
    lake = Lake(spark, tmp_path, spec_of("a: string; b: string"))
    long = "x" * 2000
    play(
        lake,
        [{"id": i, "a": "x", "b": "y", "at": 1} for i in range(600)],
        [{"id": i, ("a" if i % 2 else "b"): long, "at": 2} for i in range(600)],
    )
    found = values(lake, "a", "b")
    assert {found[i] for i in range(1, 600, 2)} == {(long, "y")}
    assert {found[i] for i in range(0, 600, 2)} == {("x", long)}


@pytest.mark.parametrize("is_flat", one_by_day([False, True]))
def test_events_of_an_envelope(spark, tmp_path, is_flat):
    text = SPEC.format(
        form="{type: json}",
        more="envelope: {connector: postgresql}",
        columns="a: string\n  big: string",
        quality="[]",
    )
    text = text.replace("  at: timestamp\n", "").replace("order_by: [at]\n", "")
    lake = Lake(spark, tmp_path, table(text))

    def event(op, after, lsn):
        source = {"ts_ms": 1_767_312_000_000 + lsn * 1000, "lsn": lsn}
        source["sequence"] = json.dumps([str(lsn - 1), str(lsn)])
        if not is_flat:
            return {"op": op, "before": None, "after": after, "source": source}
        added = {f"__source_{name}": value for name, value in source.items()}
        return {**after, "__op": op, **added}

    unsent = "__debezium_unavailable_value"
    events = [
        event("c", {"id": 1, "a": "x", "big": "long"}, 1),
        event("u", {"id": 1, "a": "z", "big": unsent}, 2),
        event("u", {"id": 1, "big": "longer"}, 3),
        event("c", {"id": 2, "a": "x", "big": unsent}, 4),
        event("u", {"id": 2, "a": None}, 5),
    ]
    lines = "".join(json.dumps(each) + "\n" for each in events)
    lake.land("changes/1.json", lines, at="2026-03-01")
    lake.done("incremental", "scd2")
    assert values(lake, "a", "big") == {1: ("z", "longer"), 2: (None, None)}
