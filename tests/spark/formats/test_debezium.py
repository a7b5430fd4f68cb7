"""Debezium's events, whole and flat, of PostgreSQL and of MariaDB, as files.

Each expectation is written manually from contract.md sections 2, 3 and 7.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime

import pytest

from lake_spec.model.envelopes import columns_of
from lake_spec.text.sql_text import sql_literal
from lake_spark.formats.placeholders import placeholder_texts
from tests.kinds import one_by_day
from tests.spark.lake import Lake, table
from tests.spark.typed_files import typed_file

SPEC = """
source:
  kind: feed
  path: tests/events
  format: {{type: json}}
  changes: changes/**
  envelope: {{connector: {connector}}}
columns:
  id: int
  name: string
  amount: decimal(10,2)
key: [id]
storage: {{buckets: 1}}
quarantine: {{max_share: 1}}
"""
LONG = "__debezium_unavailable_value"
LONG_BYTES = "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="


def row(id, name=None, amount=None):
    return {"id": id, "name": name, "amount": amount}


class Log:
    """Events of a database whose log is at a place, a second after the last one."""

    def __init__(self) -> None:
        self.seconds = 0

    def event(self, op, image, **source):
        self.seconds += 1
        source["ts_ms"] = 1_767_312_000_000 + 1000 * self.seconds
        is_delete = op == "d"
        return {
            "before": image if is_delete else None,
            "after": None if is_delete or op == "t" else image,
            "source": source,
            "op": op,
        }

    def pg(self, op, row, commit, lsn, **source):
        sequence = json.dumps([str(commit) if commit else None, str(lsn)])
        return self.event(op, row, sequence=sequence, lsn=lsn, **source)

    def binlog(self, op, row, file, pos, row_number=0):
        source = {"file": f"bin.{file:06d}", "pos": pos, "row": row_number}
        return self.event(op, row, **source)


def lines(*events):
    return "".join(json.dumps(each) + "\n" for each in events)


def made(spark, root, connector, *files):
    lake = Lake(spark, root, table(SPEC.format(connector=connector)))
    for number, events in enumerate(files):
        lake.land(f"changes/{number}.json", lines(*events), at="2026-03-01")
    lake.done("incremental", "scd2")
    return lake


def current(lake):
    rows = lake.current.orderBy("id").collect()
    return [(each.id, each.name, each.amount and str(each.amount)) for each in rows]


def versions(lake, key):
    rows = lake.history.where(f"id = {key}").orderBy("valid_from").collect()
    return [(each.name, each.valid_from.second, each.valid_to) for each in rows]


def postgresql_events():
    log = Log()
    loaded = [log.pg("r", row(i, f"n{i}", "1.50"), None, 100) for i in (1, 2, 3)]
    changes = [
        # Two transactions: the second one began first, so its lsn is lower.
        log.pg("u", row(1, "first", "2.00"), 100, 150),
        log.pg("u", row(1, "second", "3.00"), 160, 140),
        log.pg("u", row(2, LONG, "9.00"), 170, 175),  # not sent: too long, unchanged
        log.pg("d", row(3, ""), 180, 185),
        log.pg("c", row(4, "new", "0.10"), 190, 195),
    ]
    return loaded, changes


@pytest.fixture(scope="module")
def postgresql(spark, tmp_path_factory):
    loaded, changes = postgresql_events()
    return made(spark, tmp_path_factory.mktemp("pg"), "postgresql", loaded, changes)


@pytest.mark.nightly
def test_transactions_stand_in_the_order_of_their_commits(postgresql):
    assert [each[0] for each in versions(postgresql, 1)] == ["n1", "first", "second"]
    assert current(postgresql)[0] == (1, "second", "3.00")


@pytest.mark.nightly
@pytest.mark.parametrize("form", ["avro", "parquet"])
def test_events_in_typed_files_give_the_same(spark, tmp_path, postgresql, form):
    """As a sink writes them: images that are null, amounts as decimals."""
    spec = SPEC.format(connector="postgresql").replace("json", form)
    lake = Lake(spark, tmp_path, table(spec))
    image = "struct<id: int, name: string, amount: decimal(10,2)>"
    source = "struct<sequence: string, lsn: bigint, ts_ms: bigint>"
    kinds = f"before {image}, after {image}, source {source}, op string"
    for number, events in enumerate(postgresql_events()):
        whole = ", ".join(map(sql_literal, lines(*events).splitlines()))
        rows = f"inline(transform(array({whole}), e -> from_json(e, '{kinds}')))"
        content = typed_file(lake, form, rows)
        lake.land(f"changes/{number}.{form}", content, at="2026-03-01")
    lake.done("incremental", "scd2")
    assert current(lake) == current(postgresql)
    assert versions(lake, 3) == versions(postgresql, 3)


def test_an_unchanged_long_value_is_the_one_before(postgresql):
    assert current(postgresql)[1] == (2, "n2", "9.00")


@pytest.mark.nightly
def test_so_are_unchanged_long_bytes(spark, tmp_path):
    log = Log()
    events = [log.pg("c", row(1, "AAEC", "1.00"), 100, 105)]
    events += [log.pg("u", row(1, LONG_BYTES, "2.00"), 110, 115)]
    lake = made(spark, tmp_path, "postgresql", events)
    assert current(lake) == [(1, "AAEC", "2.00")]


def test_a_delete_ends_its_row(postgresql):
    assert [each[0] for each in current(postgresql)] == [1, 2, 4]
    ((name, _, end),) = versions(postgresql, 3)
    assert (name, end) == ("n3", datetime(2026, 1, 2, 0, 0, 7))


def test_tables_show_the_place_in_the_log_and_nothing_else_of_it(postgresql):
    assert postgresql.current.columns[3:6] == list(columns_of(postgresql.spec.envelope))
    others = [name for name in postgresql.current.columns if name.startswith("_")]
    assert others == []


@pytest.mark.nightly  # by day: the random histories
def test_any_order_of_the_files_gives_the_same(spark, tmp_path, postgresql):
    loaded, changes = postgresql_events()
    other = made(spark, tmp_path, "postgresql", changes[3:], changes[:3], loaded)
    assert current(other) == current(postgresql)
    assert [versions(other, i) for i in (1, 2, 3, 4)] == [
        versions(postgresql, i) for i in (1, 2, 3, 4)
    ]


def test_a_truncate_and_a_key_that_changes(spark, tmp_path):
    log = Log()
    events = [log.pg("r", row(i, f"n{i}"), None, 100) for i in (1, 2)]
    events += [
        log.pg("d", row(2, ""), 110, 115),
        log.pg("c", row(22, "n2"), 110, 115),  # the same lsn as its delete
        log.pg("t", None, 120, 125),
        log.pg("c", row(5, "after"), 130, 135),
    ]
    lake = made(spark, tmp_path, "postgresql", events)
    assert current(lake) == [(5, "after", None)]
    assert versions(lake, 22)[0][1:] == (4, datetime(2026, 1, 2, 0, 0, 5))


def test_a_row_of_an_incremental_snapshot_stands_among_the_changes(spark, tmp_path):
    log = Log()
    events = [
        log.pg("c", row(1, "old"), 100, 105),
        log.pg("r", row(1, "read again"), 110, 115, snapshot="incremental"),
        log.pg("r", row(1, "first snapshot"), None, 90, snapshot="true"),
    ]
    lake = made(spark, tmp_path, "postgresql", events)
    assert current(lake) == [(1, "read again", None)]


def test_binlog_files_are_ordered_by_number(spark, tmp_path):
    log = Log()
    events = [
        log.binlog("c", row(1, "third"), 10, 4),
        log.binlog("u", row(1, "second"), 9, 500, 1),
        log.binlog("u", row(1, "first"), 9, 500, 0),
    ]
    events[0]["source"]["file"], events[1]["source"]["file"] = "bin.10", "bin.9"
    events[2]["source"]["file"] = "bin.9"
    lake = made(spark, tmp_path, "mariadb", events)
    assert current(lake) == [(1, "third", None)]


def flat(event):
    """What ExtractNewRecordState makes of an event, with delete mode `rewrite`."""
    row = event["before"] if event["op"] == "d" else event["after"]
    source = {f"__source_{name}": each for name, each in event["source"].items()}
    deleted = "true" if event["op"] == "d" else "false"
    return {**row, "__deleted": deleted, "__op": event["op"], **source}


@pytest.mark.nightly
def test_flattened_events_give_the_same_tables(spark, tmp_path, postgresql):
    files = [[flat(each) for each in events] for events in postgresql_events()]
    lake = made(spark, tmp_path, "postgresql", *files)
    assert current(lake) == current(postgresql)
    assert versions(lake, 1) == versions(postgresql, 1)


@pytest.mark.nightly
def test_schemas_beside_the_payload_are_no_columns(spark, tmp_path, postgresql):
    def with_schema(event):
        return {"schema": {"type": "struct", "name": "e"}, "payload": event}

    files = [[with_schema(each) for each in part] for part in postgresql_events()]
    lake = made(spark, tmp_path, "postgresql", *files)
    assert lake.current.columns == postgresql.current.columns
    assert current(lake) == current(postgresql)


def test_flat_events_without_the_sequence_are_refused_by_name(spark, tmp_path):
    _, changes = postgresql_events()
    bare = [flat(each) for each in changes]
    for each in bare:
        del each["__source_sequence"]
    lake = Lake(spark, tmp_path, table(SPEC.format(connector="postgresql")))
    lake.land("changes/0.json", lines(*bare), at="2026-03-01")
    report = lake.run("incremental")
    (told,) = report.set_aside
    assert "source_commit_lsn" in told["reason"]
    assert "source.sequence" in told["reason"]


def at(key, name, minutes, file, pos, op="u"):
    """An event of a binlog, some minutes after the first."""
    image = row(key, name)
    log = {"file": file, "pos": pos, "row": 0}
    log["ts_ms"] = 1_767_312_000_000 + 60_000 * minutes
    before, after = (image, None) if op == "d" else (None, image)
    return {"before": before, "after": after, "source": log, "op": op}


BEFORE_FAILOVER = [
    at(1, "old", 0, "mysql-bin.000010", 500),
    at(2, "old", 0, "mysql-bin.000010", 600),
    at(3, "old", 0, "mysql-bin.000010", 700),
    at(4, "old", 0, "mysql-bin.000010", 800),
    at(5, "newest of all", 9, "mysql-bin.000010", 900),
    at(6, "old", 0, "mysql-bin.999999", 10),
]
AFTER_FAILOVER = [
    at(1, "after the failover", 60, "binlog.000002", 300),
    at(2, "after the failover", 61, "binlog.000002", 400),
    at(3, "after the failover", 62, "binlog.000002", 500),
    at(4, "numbers begin again", 63, "mysql-bin.000001", 20),
    at(6, "a digit more", 1, "mysql-bin.1000000", 10),
    at(7, None, 64, "binlog.000002", 600, op="d"),
]
LATE = [
    at(2, "failed back", 120, "mysql-bin.000011", 10),
    at(3, "late, of the old log", 5, "mysql-bin.000010", 750),
    at(5, "late, of the same log", 8, "mysql-bin.000010", 850),
    at(7, "late, of the old log", 5, "mysql-bin.000010", 760),
]
NEWEST = [
    (1, "after the failover", None),
    (2, "failed back", None),
    (3, "after the failover", None),
    (4, "numbers begin again", None),
    (5, "newest of all", None),
    (6, "a digit more", None),
]


@pytest.mark.parametrize("arrival", one_by_day([(2, 1, 0), (0, 1, 2)]))
def test_a_binlog_that_starts_over_ranks_after_the_former(spark, tmp_path, arrival):
    """However the files arrive, and each by a run of its own."""
    lake = Lake(spark, tmp_path, table(SPEC.format(connector="mysql")))
    files, told = (BEFORE_FAILOVER, AFTER_FAILOVER, LATE), []
    for number in arrival:
        lake.land(f"changes/{number}.json", lines(*files[number]), at="2026-03-01")
        told += [words for each in lake.done("incremental") for words in each.warnings]
    lake.done("scd2")
    assert current(lake) == NEWEST
    assert [each[0] for each in versions(lake, 3)][-1] == "after the failover"
    restarts = [words for words in told if "binlog restarted" in words]
    assert any("mysql-bin -> binlog" in words for words in restarts)
    assert all("changes/" in words for words in restarts)


@pytest.mark.nightly
@pytest.mark.parametrize("arrival", one_by_day([(1, 0), (0, 1)]))
def test_a_timeline_switch_of_postgresql_ranks_after_the_former(
    spark, tmp_path, arrival
):
    """The new primary never had the last changes, and its positions begin before them."""
    log = Log()
    former = [
        log.pg("c", row(1, "kept"), 100, 110),
        log.pg("u", row(1, "lost by the failover"), 900, 910),
    ]
    log.seconds += 61
    switched = [
        log.pg("r", row(2, "read by a slot that was made again"), None, 500),
        log.pg("u", row(1, "on the new timeline"), 500, 510),
        log.pg("u", row(1, "newest"), 600, 610),
    ]
    lake = Lake(spark, tmp_path, table(SPEC.format(connector="postgresql")))
    files, warnings = (former, switched), []
    for number in arrival:
        lake.land(f"changes/{number}.json", lines(*files[number]), at="2026-03-01")
        warnings += [w for each in lake.done("incremental") for w in each.warnings]
    lake.done("scd2")
    assert current(lake)[0] == (1, "newest", None)
    names = [each[0] for each in versions(lake, 1)]
    assert names == ["kept", "lost by the failover", "on the new timeline", "newest"]
    assert any("log positions restarted" in each for each in warnings)


def test_a_change_that_a_second_snapshot_did_not_see_ranks_after_it(spark, tmp_path):
    """A transaction that was open when the new slot was made, and ended after it."""
    log = Log()
    events = [
        log.pg("c", row(1, "first"), 100, 110),
        log.pg("r", row(1, "read again"), None, 900, snapshot="true"),
        log.pg("u", row(1, "open at the snapshot"), None, 890),
        log.pg("u", row(1, "next"), 950, 940),
    ]
    lake = made(spark, tmp_path, "postgresql", events)
    names = [each[0] for each in versions(lake, 1)]
    assert names == ["first", "read again", "open at the snapshot", "next"]


def test_snapshot_rows_are_true_since_the_load_where_nothing_is_before_them(
    spark, tmp_path
):
    log = Log()
    events = [
        log.pg("r", row(1, "a"), None, 100, snapshot="true"),
        log.pg("u", row(1, "b"), 110, 120),
        log.pg("r", row(1, "c"), None, 900, snapshot="true"),
    ]
    spec = 'load_effective_at: "1900-01-01"' + SPEC
    lake = Lake(spark, tmp_path, table(spec.format(connector="postgresql")))
    lake.land("changes/0.json", lines(*events), at="2026-03-01")
    lake.done("incremental", "scd2")
    found = lake.history.orderBy("valid_from").collect()
    assert [(each.name, each.valid_from.year) for each in found] == [
        ("a", 1900),
        ("b", 2026),
        ("c", 2026),
    ]


NO_ROWS = {
    "nothing but tombstones": ["null"] * 3,
    "tombstones with a schema": ['{"schema": null, "payload": null}'] * 3,
    "a schema without a payload": ['{"schema": {"type": "struct"}, "payload": null}'],
    "heartbeats": ['{"ts_ms": 1767312000000}'] * 2,
    "images without values": ['{"before": null, "after": null, "op": null}'],
}


@pytest.mark.nightly
def test_files_without_any_row_are_counted_and_lead_to_nothing(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(SPEC.format(connector="postgresql")))
    for number, records in enumerate(NO_ROWS.values()):
        lake.land(f"changes/{number}.json", "\n".join(records), at="2026-03-01")
    (report,) = lake.done("incremental")
    assert (report.rows_in, report.quarantined) == (0, 0)
    assert (report.tombstones, report.messages) == (8, 2)
    assert [each.tombstones for each in report.files] == [3, 3, 1, 0, 1]


def test_unknown_records_among_events_are_bad_rows(spark, tmp_path):
    """Only what is known to be of no row is passed over."""
    log = Log()
    whole = json.dumps(log.pg("c", row(1, "a"), 100, 110))
    strange = ['{"status": "BEGIN", "id": "7:1", "name": "x"}', '{"op": "x"}', "nul"]
    lake = Lake(spark, tmp_path, table(SPEC.format(connector="postgresql")))
    lake.land("changes/0.json", "\n".join([whole, *strange]), at="2026-03-01")
    (report,) = lake.done("incremental")
    assert (report.accepted, report.quarantined, report.messages) == (1, 3, 0)


FORMS = """
source:
  kind: feed
  path: tests/events
  format: {type: json}
  changes: changes/**
  envelope: {connector: postgresql}
  ignore_columns: [computed]
columns:
  id: int
  hex: string
  store: string
  days: "array<int>"
  photos: "array<string>"
  ratios: "array<double>"
  words: "array<string>"
key: [id]
storage: {buckets: 1}
"""
BEFORE = {
    "hex": "00ff",
    "store": '{"a":"1"}',
    "days": [20455],
    "photos": ["AAEC"],
    "ratios": [1.5],
    "words": ["a"],
}
CODES = [float(each) for each in LONG.encode()]
UNCHANGED = {
    "hex": LONG.encode().hex(),
    "store": json.dumps({LONG: LONG}, separators=(",", ":")),
    "days": [int(each) for each in CODES],
    "photos": [LONG_BYTES],
    "ratios": CODES,
    "words": [LONG],
}


def test_every_form_of_an_unchanged_value_is_the_one_before(spark, tmp_path):
    """Also of bytes in hexadecimal, hstore, dates and bytes in arrays."""
    log, lake = Log(), Lake(spark, tmp_path, table(FORMS))
    events = [
        log.pg("r", {"id": 1, **BEFORE, "computed": 2}, None, 100),
        log.pg("u", {"id": 1, **UNCHANGED}, 110, 120),
        log.pg("c", {"id": 2, **UNCHANGED}, 130, 140),
        log.pg(
            "c", {"id": 3, **BEFORE, "words": ["[Ljava.lang.String;@3b1553f0"]}, 1, 2
        ),
    ]
    lake.land("changes/0.json", lines(*events), at="2026-03-01")
    (report,) = lake.done("incremental")
    one, two = lake.current.orderBy("id").collect()
    assert {name: one[name] for name in BEFORE} == BEFORE
    assert {two[name] for name in BEFORE} == {None}
    assert (report.unresolved, report.quarantined) == (len(BEFORE), 1)
    assert "computed" not in lake.current.columns


def test_a_placeholder_counts_with_an_envelope_or_where_it_is_named():
    spec = table(FORMS)
    plain = replace(spec, source=replace(spec.source, envelope=None))
    named = replace(spec, source=replace(plain.source, placeholder="#"))
    assert placeholder_texts(spec)[:2] == (LONG, LONG_BYTES)
    assert placeholder_texts(plain) == ()
    assert placeholder_texts(named)[0] == "#"
