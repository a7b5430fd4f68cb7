"""Landing files and rows that are not what they say.

Orders 1 and 2 are loaded; the change files that follow are good or bad in one way.
"""

from __future__ import annotations

import bz2
import gzip
import random
from typing import Dict

import pytest
from py4j.protocol import Py4JNetworkError

from lake_spark.ingest import batch_rows
from lake_spark.stages import ingest
from tests.spark.lake import LOAD_AND_CHANGES, Lake, table

SPEC = LOAD_AND_CHANGES + """  format: {type: csv, null_text: ["", "NULL"]}
  operation: {column: op}
columns: {id: int, ts: timestamp, amount: "decimal(6,2)", note: string}
key: [id]
order_by: [ts]
load_effective_at: "2020-01-01"
storage: {buckets: 1}
"""
HEADER = "op,id,ts,amount,note\n"


@pytest.fixture(scope="module")
def loaded(spark, tmp_path_factory):
    """Orders 1 and 2, loaded once; each test lands its own change file."""
    lake = Lake(spark, tmp_path_factory.mktemp("orders"), table(SPEC))
    lake.land(
        "load/1.csv", "id,ts,amount,note\n1,2020-01-01,1.50,a\n2,2020-01-01,2.00,b\n"
    )
    lake.done("full_load")
    return lake


def bad_then_good(lake: Lake, name: str, bad: bytes, good: str) -> Dict[str, str]:
    """The error of a run with the bad file; then the good one heals the table."""
    lake.land(f"changes/{name}", bad)
    report = lake.run("incremental")
    assert report.state == "failed"
    (aside,) = report.set_aside
    assert (aside["path"], aside["type"]) == (f"changes/{name}", report.error["type"])
    packed = {".gz": gzip.compress, ".bz2": bz2.compress}
    pack = packed.get(f".{name.rsplit('.', 1)[-1]}", bytes)
    lake.land(f"changes/{name}", pack(good.encode()))
    assert lake.done("incremental")[0].accepted == 1
    return report.error


@pytest.mark.parametrize(
    "gone",
    [Py4JNetworkError("Answer from Java side is empty"), ConnectionRefusedError()],
)
def test_no_file_is_set_aside_because_java_has_ended(
    spark, tmp_path, monkeypatch, gone
):
    lake = Lake(spark, tmp_path, table(SPEC))
    lake.land("load/1.csv", "id,ts,amount,note\n1,2020-01-01,1.50,a\n")

    def counted(*_):
        raise gone

    with monkeypatch.context() as context:
        context.setattr(batch_rows, "count_rows", counted)
        report = lake.run("full_load")
    assert (report.state, report.error["type"]) == ("failed", type(gone).__name__)
    assert report.set_aside == []
    assert lake.done("full_load")[0].accepted == 1


def long_csv() -> bytes:
    rows = [f"U,{i},2021-01-01,1,{random.Random(i).random()}\n" for i in range(20_000)]
    return gzip.compress((HEADER + "".join(rows)).encode())


@pytest.mark.parametrize(
    "name, bad, id, words",
    [
        (
            "truncated.csv.gz",
            long_csv()[:50_000],
            "UnreadableFile",
            "cannot be read",
        ),
        (
            "cut.csv.bz2",
            bz2.compress(HEADER.encode() + b"U,100,2021-01-01,1,a\n")[:-2],
            "UnreadableFile",
            "was cut: the end of its stream is missing",
        ),
        ("notgzip.csv.gz", b"op,id\n", "UnreadableFile", "is not a valid gz file"),
        (
            "page.csv",
            b"<!DOCTYPE html><html></html>",
            "UnreadableFile",
            "looks like HTML",
        ),
        (
            "other.csv",
            b"name,colour\nx,red\n",
            "WrongColumns",
            "lacks the column(s) id, ts; it has name, colour",
        ),
        ("empty.csv", b"", "UnreadableFile", "is empty (0 bytes)"),
        (
            "twice.csv",
            b"op,id,ID,ts\n",
            "WrongColumns",
            "two columns that differ at most in case: 'id' and 'ID'",
        ),
    ],
    ids=[
        "truncated gzip",
        "cut bzip2",
        "no gzip",
        "html",
        "wrong columns",
        "empty",
        "double column",
    ],
)
def test_a_bad_file_is_named_and_its_replacement_heals(loaded, name, bad, id, words):
    good = f"{HEADER}U,100,2021-01-01 00:00:00,1.00,{name}\n"
    error = bad_then_good(loaded, name, bad, good)
    assert error["type"] == id and words in error["message"]
    assert name in [row.note for row in loaded.changes.collect()]


def test_a_bad_file_does_not_hold_up_the_good_ones(loaded):
    loaded.land("changes/bad.csv", b"<html>")
    loaded.land("changes/good.csv", f"{HEADER}U,7,2021-01-01,7.00,fine\n")
    report = loaded.run("incremental")
    (loaded.root / "landing/tests/things/changes/bad.csv").unlink()
    assert report.state == "failed" and report.accepted == 1
    assert (7, "fine") in loaded.living("note")


def test_bad_rows_go_to_the_quarantine_with_reason_and_position(loaded):
    loaded.land(
        "changes/rows.csv",
        HEADER
        + "U,,2021-01-02,1,no key\nU,8,,1,no order\nU,8,2021-01-02,lots,no number\n"
        + "X,8,2021-01-02,1,no word\nU,8,2021-01-02,1.005,too fine\n"
        + "U,8,2021-01-02,1,one,too many\nU,8,2999-01-01,1,ahead\nU,8,2021-01-02,1,good\n"
        + "".join(f"U,{id},2021-01-02,1,good\n" for id in range(20, 26)),
    )
    report = loaded.done("incremental")[0]
    assert (report.rows_in, report.accepted, report.quarantined) == (14, 7, 7)
    assert "rows.csv record 1: key column id has no value" in " ".join(report.warnings)
    found = loaded.tables.quarantine.read().where("lake_path = 'changes/rows.csv'")
    reasons = {row.lake_record: row.lake_reason for row in found.collect()}
    assert reasons == {
        1: "key column id has no value",
        2: "order column ts has no value",
        3: "amount: cannot be read as decimal(6,2): lots",
        4: "unknown operation: X",
        5: "amount: cannot be read as decimal(6,2): 1.005",
        6: "the record cannot be parsed",
        7: "effective time 2999-01-01 00:00:00 is in the future",
    }


def test_too_many_bad_rows_fail_the_run_and_write_nothing(loaded):
    rows = "".join(f"U,{i},2021-01-03,none,x\n" for i in range(101))
    loaded.land("changes/flood.csv", HEADER + rows)
    before = loaded.files()
    report = loaded.run("incremental")
    (loaded.root / "landing/tests/things/changes/flood.csv").unlink()
    assert report.error["type"] == "TooManyBadRows"
    assert (
        "101 of 101 rows are bad: changes/flood.csv record 1" in report.error["message"]
    )
    assert loaded.files() == before


def test_another_content_under_a_known_name_is_refused(loaded):
    loaded.land("changes/known.csv", f"{HEADER}U,9,2021-01-01,9,first\n")
    loaded.done("incremental")
    loaded.land("changes/known.csv", f"{HEADER}U,9,2021-01-01,9,second\n")
    report = loaded.run("incremental")
    loaded.land("changes/known.csv", f"{HEADER}U,9,2021-01-01,9,first\n")
    assert report.error["type"] == "ChangedFile"
    assert (
        "changes/known.csv was changed after it was ingested" in report.error["message"]
    )


def test_a_dry_run_counts_and_writes_nothing(loaded):
    loaded.land("changes/dry.csv", f"{HEADER}U,10,2021-01-01,9,dry\n")
    before = loaded.files()
    report = loaded.run("incremental", dry_run=True)
    assert (report.state, report.rows_in) == ("dry_run", 1)
    assert loaded.files() == before
    assert loaded.done("incremental")[0].accepted == 1


def test_a_dry_run_builds_nothing_after_a_run_that_was_killed(loaded, monkeypatch):
    loaded.land("changes/killed.csv", f"{HEADER}U,11,2021-01-01,9,killed\n")
    logged = loaded.tables.log.last_instant("inputs")

    def killed(run):
        if run.log.last_instant("inputs") != logged:
            raise RuntimeError("killed")
        return {}

    with monkeypatch.context() as patched:
        patched.setattr(ingest, "build_current", killed)
        assert loaded.run("incremental").error["message"] == "killed"
    before = loaded.files()
    for stage in ("incremental", "full_load"):
        report = loaded.run(stage, dry_run=True)
        assert (report.state, loaded.files()) == ("dry_run", before)
        assert "current lacks what an earlier run ingested" in report.warnings[0]
    assert loaded.done("incremental")[0].commits.keys() == {"current"}
