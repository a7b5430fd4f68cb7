"""Surrogate keys of versions: numbers that stay, and what replaces a removed key.

Five things begin as a on day 10, but 5, which begins as x on day 20. Then 1 turns
c, 3 turns x on day 20 and 2 is deleted on day 12. Late come: b for 1 on day 15,
x for 3 on day 15, a for 4 and x for 5 on day 5. Last come deletes, of 3 on day 16
and of 5 on day 6, by which the versions of day 20 are back.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest

from lake_spec.model import SurrogateKey, SurrogateKind, TableType
from lake_spark.scd2.surrogate_key_changes import moved_keys
from lake_spark.storage.hudi_table import HudiTable
from tests.oracle.playing import Play, World
from tests.kinds import TABLE_TYPES
from tests.spark.lake import LOAD_AND_CHANGES, Lake, stored, table

SPEC = LOAD_AND_CHANGES + """  format: {type: json}
  operation: {column: op}
columns: {id: int, day: timestamp, note: string}
key: [id]
order_by: [day]
history: {surrogate_key: {kind: increasing, column: thing_number}}
"""
LOAD = [("", 1, 10, "a"), ("", 2, 10, "a"), ("", 3, 10, "a"), ("", 4, 10, "a")]
CHANGES = [("U", 1, 20, "c"), ("D", 2, 12, ""), ("U", 3, 20, "x"), ("U", 5, 20, "x")]
LATE = [("U", 1, 15, "b"), ("U", 3, 15, "x"), ("U", 4, 5, "a"), ("U", 5, 5, "x")]
DELETES = [("D", 3, 16, ""), ("D", 5, 6, "")]


def day(number: int) -> str:
    return f"2026-01-{number:02d} 00:00:00"


def land(lake: Lake, name: str, events) -> None:
    lines = [
        json.dumps({**({"op": op} if op else {}), "id": key, "day": day(on), "note": n})
        for op, key, on, n in events
    ]
    lake.land(name, "\n".join(lines))


def keys_of(lake: Lake) -> dict:
    """(id, day of the start) -> surrogate key."""
    column = lake.spec.history.surrogate_key.column
    rows = lake.history.selectExpr("id", "day(valid_from)", column).collect()
    assert len({row[2] for row in rows}) == len(rows)
    return {(row[0], row[1]): row[2] for row in rows}


def numbers_of(lake: Lake) -> dict:
    """(lake_key, lake_from) -> number: all that were ever given, each once."""
    rows = lake.tables.surrogate_keys.read().select("lake_key", "lake_from", "number")
    found = {(row[0], row[1]): row[2] for row in rows.collect()}
    assert len(set(found.values())) == len(found) == rows.count()
    return found


def play(lake: Lake) -> list:
    """(surrogate keys, report) after each history stage of the story."""
    story = [("full_load", "load/1.json", LOAD)]
    story += [
        ("incremental", f"changes/{i}.json", events)
        for i, events in enumerate((CHANGES, LATE, DELETES))
    ]
    told = []
    for stage, name, events in story:
        land(lake, name, events)
        told.append((lake.done(stage, "scd2")[1], keys_of(lake)))
    return told


@pytest.fixture(scope="module", params=TABLE_TYPES, ids=lambda kind: kind.value)
def numbered(request, spark, tmp_path_factory):
    """The lake after its story, and what was told on the way."""
    spec = stored(table(SPEC), type=request.param)
    lake = Lake(spark, tmp_path_factory.mktemp("numbered"), spec)
    return lake, play(lake)


def test_a_version_keeps_its_number_and_gets_it_back(numbered):
    lake, told = numbered
    loaded = {(1, 10): 1, (2, 10): 2, (3, 10): 3, (4, 10): 4}
    changed = {**loaded, (1, 20): 5, (3, 20): 6, (5, 20): 7}
    late = {(1, 15): 8, (3, 15): 9, (4, 5): 10, (5, 5): 11}
    gone = ((3, 20), (4, 10), (5, 20))
    after_late = {k: n for k, n in changed.items() if k not in gone} | late
    assert [keys for _, keys in told] == [
        loaded,
        changed,
        after_late,
        {**after_late, (3, 20): 6, (5, 20): 7},
    ]
    assert dict(lake.history.dtypes)["thing_number"] == "bigint"


def test_the_report_tells_what_replaces_a_removed_key(numbered):
    reports = [report for report, _ in numbered[1]]
    assert [report.keys_moved for report in reports] == [0, 0, 3, 0]
    assert [tuple(asdict(each).values()) for each in reports[2].moved_keys] == [
        (6, 9, day(20), None),
        (4, 10, day(10), None),
        (7, 11, day(20), None),
    ]


def difference(spark, *rows):
    """Changes of history from (key, start, end, number, is_deleted, action)."""
    columns = (
        "lake_key string, start int, end int, thing_number bigint,"
        " is_deleted boolean, lake_action string"
    )
    return spark.createDataFrame(rows, columns).selectExpr(
        *("lake_key", "thing_number", "is_deleted", "lake_action"),
        "unix_micros(make_timestamp(2026, 1, start, 0, 0, 0)) AS lake_from",
        "make_timestamp(2026, 1, end, 0, 0, 0) AS valid_to",
    )


def test_each_piece_of_a_removed_version_is_told_apart(spark):
    moved = moved_keys(
        difference(
            spark,
            ("cut", 10, 20, 1, False, "removed"),
            ("cut", 5, 15, 2, False, "inserted"),
            ("cut", 15, 25, 3, False, "same"),
            ("deleted", 10, None, 4, False, "removed"),
            ("deleted", 5, None, 5, True, "inserted"),
            ("in another partition", 10, None, 6, False, "removed"),
            ("in another partition", 10, None, 6, False, "inserted"),
            ("no longer deleted", 10, None, 7, True, "removed"),
        ),
        table(SPEC),
    )
    assert moved.count == 2
    assert [tuple(asdict(each).values()) for each in moved.first] == [
        (1, 2, day(10), day(15)),
        (1, 3, day(15), day(20)),
        (4, None, day(10), None),
    ]


def test_of_many_removed_keys_the_first_hundred_are_listed(spark):
    gone = [(f"{i:03}", 10, None, i, False, "removed") for i in range(150)]
    moved = moved_keys(difference(spark, *reversed(gone)), table(SPEC))
    assert (moved.count, len(moved.first)) == (150, 100)
    assert [each.removed for each in moved.first] == list(range(100))


@pytest.mark.nightly
def test_maintenance_a_rerun_and_a_rebuild_keep_the_numbers(numbered):
    lake, told = numbered
    given, commits = numbers_of(lake), len(list(lake.tables.surrogate_keys.actions()))
    lake.done("maintenance", "scd2")
    assert keys_of(lake) == told[-1][1]
    lake.done("rebuild")
    assert keys_of(lake) == told[-1][1]
    assert numbers_of(lake) == given
    assert lake.verify().error is None
    merged = lake.spec.storage.type is TableType.MERGE_ON_READ
    maintenance = 1 if merged else 0
    assert len(list(lake.tables.surrogate_keys.actions())) == commits + maintenance


@pytest.mark.nightly
def test_a_crash_before_the_history_commit_loses_no_number(numbered, monkeypatch):
    lake, _ = numbered
    before = keys_of(lake)
    highest = max(numbers_of(lake).values())
    land(lake, "changes/8.json", [("U", 8, 20, "a")])
    lake.done("incremental")

    write = HudiTable.write

    def crash(self, *arguments):
        if self.path.endswith("/history"):
            raise OSError("the machine is gone")
        return write(self, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(HudiTable, "write", crash)
        assert "the machine is gone" in lake.run("scd2").error["message"]
    assert (keys_of(lake), max(numbers_of(lake).values())) == (before, highest + 1)

    land(lake, "changes/9.json", [("U", 7, 20, "a"), ("U", 8, 25, "b")])
    lake.done("incremental", "scd2")
    new = {(8, 20): highest + 1, (7, 20): highest + 2, (8, 25): highest + 3}
    assert keys_of(lake) == {**before, **new}
    assert max(numbers_of(lake).values()) == highest + 3


@pytest.mark.nightly
def test_another_kind_of_key_is_refused_until_a_rebuild(spark, tmp_path):
    asked = stored(table(SPEC), type=TableType.MERGE_ON_READ)
    hashed = with_key(asked, SurrogateKey())
    lake = Lake(spark, tmp_path, hashed)
    reports, keys = zip(*play(lake))
    assert [report.keys_moved for report in reports] == [0, 0, 3, 0]
    removed = [each.removed for each in reports[2].moved_keys]
    assert removed == [keys[1][k] for k in ((3, 20), (4, 10), (5, 20))]
    assert not lake.tables.surrogate_keys.exists()

    lake.spec = asked
    assert "history.surrogate_key was" in lake.run("scd2").error["message"]
    lake.done("rebuild")
    numbers = keys_of(lake)
    assert sorted(numbers.values()) == list(range(1, 11))
    land(lake, "changes/8.json", [("U", 8, 20, "a")])
    lake.done("incremental", "scd2")
    assert keys_of(lake) == {**numbers, (8, 20): 11}

    lake.spec = hashed
    lake.done("rebuild")
    assert keys_of(lake).items() > keys[-1].items()
    lake.spec = with_key(asked, SurrogateKey(kind=SurrogateKind.INCREASING))
    refused = lake.run("rebuild").error
    assert "'version_key', which history has as string" in refused["message"]
    assert refused["type"] == "SettingsChanged"


def with_key(spec, key):
    return replace(spec, history=replace(spec.history, surrogate_key=key))


class NumberedPlay(Play):
    """A play in which every version's number is compared with all before it."""

    given: dict = {}

    def differing(self, seen):
        rows = self.lake.history.selectExpr("lake_key", "lake_from", "version_key")
        shown = {(row[0], row[1]): row[2] for row in rows.collect()}
        kept = numbers_of(self.lake)
        assert shown.items() <= kept.items()
        assert self.given.items() <= kept.items()
        self.given = kept
        return super().differing(seen)


@pytest.mark.nightly
def test_numbers_of_random_histories_are_given_once_and_for_ever(spark, tmp_path):
    world = World("tied", 43, range(100))
    played = NumberedPlay(spark, tmp_path, world, TableType.MERGE_ON_READ)
    played.lake.spec = with_key(
        played.lake.spec, SurrogateKey(kind=SurrogateKind.INCREASING)
    )
    assert not played.mismatches()
    assert not played.reprocess()
    given = list(played.given.values())
    assert len(set(given)) == len(given) > 100
