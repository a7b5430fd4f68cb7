"""The size of a table's newest state, from the names of its files."""

from __future__ import annotations

from datetime import datetime, timezone

from lake_spark.storage.object_store import StoredObject
from lake_spark.storage.table_size import layer_size

PATH = "s3://lake/warehouse/shop/orders/current"
OLD, MIDDLE, NEW = "20260101000000000", "20260102000000000", "20260103000000000"


def size(replaced=(), **files: int):
    """(files, log files, bytes, stored files, stored bytes) of files by name."""
    when = datetime(2026, 1, 1, tzinfo=timezone.utc)
    found = [StoredObject(f"{PATH}/{n}", "e", size, when) for n, size in files.items()]
    of = layer_size(found, PATH, replaced)
    return of.files, of.log_files, of.bytes, of.stored_files, of.stored_bytes


def base(group: str, instant: str, folder: str = "") -> str:
    return f"{folder}{group}-0_0-1-2_{instant}.parquet"


def log(group: str, instant: str, version: int = 1, folder: str = "") -> str:
    return f"{folder}.{group}-0_{instant}.log.{version}_0-1-2"


def test_of_base_files_the_newest_of_each_group_is_read():
    files = {base("a", OLD): 10, base("a", NEW): 20, base("b", OLD): 5}
    assert size(**files) == (2, 0, 25, 3, 35)


def test_log_files_count_until_a_compaction():
    files = {base("a", OLD): 10, log("a", MIDDLE): 2, log("a", MIDDLE, 2): 3}
    assert size(**files) == (3, 2, 15, 3, 15)
    files[base("a", NEW)] = 14
    assert size(**files) == (1, 0, 14, 4, 29)


def test_a_log_file_may_have_the_instant_of_its_base_file_or_no_base_file():
    assert size(**{base("a", OLD): 10, log("a", OLD): 2, log("b", OLD): 4}) == (
        *(3, 2, 16),
        *(3, 16),
    )


def test_groups_of_different_partitions_are_apart():
    files = {base("a", OLD, "day=1/"): 10, base("a", NEW, "day=2/"): 20}
    assert size(**files) == (2, 0, 30, 2, 30)


def test_file_groups_that_others_took_the_place_of_are_stored_and_not_read():
    old = {base("a", OLD, "day=1/"): 10, log("a", MIDDLE, folder="day=1/"): 2}
    files = {**old, base("a", OLD, "day=2/"): 20, base("b", NEW, "day=1/"): 11}
    assert size(**files) == (4, 1, 43, 4, 43)
    assert size({("day=1", "a-0")}, **files) == (2, 0, 31, 4, 43)


def test_metadata_is_left_out():
    files = {
        base("a", OLD): 10,
        base("m", OLD, ".hoodie/metadata/files/"): 7,
        log("m", OLD, folder=".hoodie/metadata/files/"): 7,
        "_delta_log/00000000000000000001.checkpoint.parquet": 7,
        ".hoodie_partition_metadata": 7,
        "metadata/v1.metadata.json": 7,
    }
    assert size(**files) == (1, 0, 10, 1, 10)
