"""Maintenance writes the same files as other writes; filters are where an index reads them."""

from __future__ import annotations

import re
import struct
from collections import namedtuple
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Dict
from urllib.parse import urlsplit

import pytest

from lake_spec.hudi import buckets
from lake_spec.hudi.options import SMALL_FILES
from lake_spec.model.choices import HUDI_TYPES, Index, TableType
from lake_spark.stages import maintenance
from lake_spark.stages.maintenance import due_below, sizes
from tests.kinds import TABLE_TYPES
from tests.spark.lake import NAMED, Lake, table

Stored = namedtuple("Stored", "uri size")
FILTER = 400_000
"""Bytes that Hudi's filter takes at least, whatever a file holds."""
SMALL, LARGE = SMALL_FILES


def lake_of(spark, root: Path, *, index: Index, kind: TableType) -> Lake:
    """A lake with every kind of write in it: loaded, changed, clustered, compacted."""
    spec = table(NAMED + f"""\
storage: {{type: {kind.value}, index: {index.value}, buckets: 1}}
maintenance: {{cluster_after: 2, compact_after: 1}}
""")
    lake = Lake(spark, root, spec)
    lake.land("load/1.csv", "id,name,at\n1,a,2026-01-01\n2,c,2026-01-01\n")
    lake.done("full_load", "scd2")
    lake.land("changes/1.csv", "op,id,name,at\nU,1,b,2026-01-02\n")
    lake.done("incremental", "scd2", "maintenance")
    return lake


def footers(lake: Lake) -> Dict[str, int]:
    """The bytes of each Parquet file's footer: its schema and what Hudi adds."""
    files = (lake.root / "warehouse").rglob("*.parquet")
    return {
        str(file): struct.unpack("<i", file.read_bytes()[-8:-4])[0]
        for file in files
        if not file.name.startswith(".") and "touched" not in file.parts
    }


def codec(spark, file: str) -> str:
    """How a file's first column is compressed."""
    jvm = spark._jvm
    path = jvm.org.apache.hadoop.fs.Path(f"file://{file}")
    read = jvm.org.apache.parquet.hadoop.ParquetFileReader.readFooter
    blocks = read(spark._jsc.hadoopConfiguration(), path).getBlocks()
    return blocks.get(0).getColumns().get(0).getCodec().toString()


@pytest.mark.nightly
@pytest.mark.parametrize("kind", TABLE_TYPES, ids=lambda kind: kind.value)
def test_no_file_has_a_filter_that_nobody_reads(spark, tmp_path, kind):
    lake = lake_of(spark, tmp_path, index=Index.BUCKET, kind=kind)
    found = footers(lake)
    # Three of the log (two writes, clustered), and two each of current and history.
    assert len(found) == 7, found
    assert all(size < FILTER / 10 for size in found.values()), found
    assert {codec(spark, file) for file in found} == {"ZSTD"}


@pytest.mark.nightly
def test_a_bloom_index_finds_its_filters(spark, tmp_path):
    lake = lake_of(spark, tmp_path, index=Index.BLOOM, kind=TableType.MERGE_ON_READ)
    found = {name: size > FILTER for name, size in footers(lake).items()}
    assert {name for name, has in found.items() if has} == {
        name for name in found if "/changes/" not in name
    }
    assert any(found.values()) and not all(found.values())


def test_files_that_are_no_longer_read_do_not_count():
    files = {"a.parquet": 9, "b.parquet": LARGE}
    listed = [Stored(f"s3://w/t/{name}", size) for name, size in files.items()]
    listed.append(Stored("s3://w/t/old.parquet", 9))
    newest = [f"s3a://w/t/{name}" for name in files]
    read = SimpleNamespace(inputFiles=lambda: newest)
    of_table = SimpleNamespace(path="s3://w/t", read=lambda: read)
    run = SimpleNamespace(store=SimpleNamespace(list=lambda prefix: listed))
    assert sizes(run, of_table) == [9, LARGE]


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ([], None),
        ([SMALL - 1, SMALL], None),
        ([SMALL - 1, SMALL, LARGE - 1], LARGE),
        ([SMALL - 1, SMALL, LARGE], None),
        ([SMALL - 1, 0, 1, SMALL, LARGE - 1], SMALL),
        ([LARGE] * 9, None),
    ],
)
def test_files_are_put_together_with_those_of_their_size(files, limit):
    assert due_below(files, due=3) == limit


@pytest.mark.nightly
def test_a_large_file_of_a_log_is_not_written_again_with_small_ones(
    spark, tmp_path, monkeypatch
):
    lake = lake_of(spark, tmp_path, index=Index.BUCKET, kind=TableType.COPY_ON_WRITE)
    (small,) = lake.changes.inputFiles()
    rows = (f"U,{n},{sha256(bytes(n)).hexdigest()},2026-01-03\n" for n in range(2000))
    lake.land("changes/2.csv", "op,id,name,at\n" + "".join(rows))
    lake.done("incremental")
    (large,) = {*lake.changes.inputFiles()} - {small}
    before = lake.tables.log.read().count()

    limits = (Path(urlsplit(large).path).stat().st_size, LARGE)
    monkeypatch.setattr(maintenance, "SMALL_FILES", limits)
    lake.land("changes/3.csv", "op,id,name,at\nU,1,c,2026-01-04\n")
    lake.done("incremental", "maintenance")
    files = lake.changes.inputFiles()
    assert (len(files), large in files, small in files) == (2, True, False)
    assert lake.tables.log.read().count() == before + 1


@pytest.mark.nightly
@pytest.mark.parametrize("kind", HUDI_TYPES)
def test_a_bucket_that_is_too_large_is_named_with_a_number_that_a_rebuild_makes(
    spark, tmp_path, monkeypatch, kind
):
    lake = lake_of(spark, tmp_path, index=Index.BUCKET, kind=kind)
    lake.done("maintenance")
    before = lake.living("name")
    largest = max(sizes(lake.tables, lake.tables.current))
    monkeypatch.setattr(buckets, "LARGEST", largest - 1)
    (report,) = lake.done("maintenance")
    (words,) = [w for w in report.warnings if "largest file of current" in w]
    asked = int(re.search(r"`buckets: (\d+)`", words).group(1))
    assert asked == 5 * lake.spec.storage.buckets
    lake.spec = replace(lake.spec, storage=replace(lake.spec.storage, buckets=asked))
    lake.done("rebuild")
    assert lake.living("name") == before
