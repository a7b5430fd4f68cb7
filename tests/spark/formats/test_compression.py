"""Text files compressed in each way that the formats promise, whole and cut."""

from __future__ import annotations

import bz2
import gzip
import random
from datetime import datetime, timezone

import pytest

from lake_spark.formats.compression import unpacked
from lake_spark.landing.files import LandingFile
from tests.kinds import one_by_day
from tests.spark.lake import Lake, table

SPEC = """
source: {{kind: feed, path: tests/things, format: {form}}}
columns: {{id: int, ts: timestamp, note: string}}
key: [id]
order_by: [ts]
storage: {{buckets: 1}}
"""
TEXTS = {
    "csv": ("id,ts,note\n", "{id},2026-01-01,{note}\n"),
    "json": ("", '{{"id": {id}, "ts": "2026-01-01", "note": "{note}"}}\n'),
}
ROWS = 5_000


def content(kind: str, first: int, rows: int) -> bytes:
    head, line = TEXTS[kind]
    lines = (
        line.format(id=first + i, note=random.Random(i).random()) for i in range(rows)
    )
    return (head + "".join(lines)).encode()


def zstd(spark, text: bytes) -> bytes:
    return bytes(spark._jvm.com.github.luben.zstd.Zstd.compress(text))


def packed(spark, suffix: str, text: bytes) -> bytes:
    if suffix == "zst":
        return zstd(spark, text)
    return {"gz": gzip.compress, "bz2": bz2.compress}[suffix](text)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", one_by_day(list(TEXTS)))
def test_packed_files_are_read_and_cut_ones_are_set_aside_by_name(
    spark, tmp_path, kind
):
    lake = Lake(spark, tmp_path, table(SPEC.format(form=f"{{type: {kind}}}")))
    cut = []
    for place, suffix in enumerate(("gz", "bz2", "zst")):
        first = place * ROWS
        whole = packed(spark, suffix, content(kind, first, ROWS))
        lake.land(f"changes/{suffix}.{kind}.{suffix}", whole, at="2026-02-01")
        cut.append(f"changes/cut-{suffix}.{kind}.{suffix}")
        lake.land(cut[-1], whole[: len(whole) * 2 // 3], at="2026-02-01")
    report = lake.run("incremental")
    assert sorted(each["path"] for each in report.set_aside) == sorted(cut)
    assert report.accepted == 3 * ROWS and report.quarantined == 0
    last = lake.changes.where(f"id = {3 * ROWS - 1}").collect()
    assert [row.lake_record for row in last] == [ROWS]


def test_zstd_files_joined_of_several_are_one(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(SPEC.format(form="{type: json}")))
    parts = [zstd(spark, content("json", first, 3)) for first in (0, 3)]
    lake.land("changes/1.json.zst", b"".join(parts), at="2026-02-01")
    assert lake.done("incremental")[0].accepted == 6


@pytest.mark.parametrize("kind", one_by_day(list(TEXTS)))
def test_what_is_no_zstd_is_set_aside(spark, tmp_path, kind):
    lake = Lake(spark, tmp_path, table(SPEC.format(form=f"{{type: {kind}}}")))
    lake.land("changes/1.zst", b"no zstd at all\n")
    (told,) = lake.run("incremental").set_aside
    assert "is not a valid zst file" in told["reason"]


def test_a_bzip2_file_whose_first_block_is_longer_than_a_head_is_read(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(SPEC.format(form="{type: json}")))
    random_ = random.Random(1)
    notes = [random_.randbytes(60).hex() for _ in range(9_000)]
    line = '{"id": %d, "ts": "2026-01-01", "note": "%s"}\n'
    text = "".join(line % each for each in enumerate(notes)).encode()
    whole = bz2.compress(text)
    assert (
        len(whole) > 1 << 19
        and bz2.BZ2Decompressor().decompress(whole[: 1 << 18]) == b""
    )
    lake.land("changes/1.json.bz2", whole, at="2026-02-01")
    assert lake.done("incremental")[0].accepted == 9_000


@pytest.mark.parametrize("form", ["{type: json}", "{type: csv, header: false}"])
def test_a_packed_file_of_nothing_was_cut_like_an_empty_one(spark, tmp_path, form):
    lake = Lake(spark, tmp_path, table(SPEC.format(form=form)))
    for suffix in ("gz", "bz2", "zst"):
        lake.land(f"changes/1.{suffix}", packed(spark, suffix, b""))
    told = lake.run("incremental").set_aside
    assert len(told) == 3
    assert all("is empty when decompressed: it was cut" in e["reason"] for e in told)


@pytest.mark.parametrize("suffix", ["gz", "bz2", "zst"])
def test_a_head_of_joined_parts_is_unpacked_to_its_limit_and_no_more(spark, suffix):
    parts = [packed(spark, suffix, text) for text in (b"id,", b"x" * 10_000_000)]
    at = datetime(2026, 1, 1, tzinfo=timezone.utc)
    file = LandingFile(f"1.csv.{suffix}", "etag", "file:///1", 1, at)
    head = unpacked(spark, b"".join(parts), file, most=1_000)
    assert head == b"id," + b"x" * 997
