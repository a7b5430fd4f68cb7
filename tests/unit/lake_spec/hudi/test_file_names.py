"""What the names of a table's files say, as Hudi makes them."""

import pytest

from lake_spec.hudi.file_names import DataFile, data_file, is_foreign, is_taken_for_rows

GROUP, TIME = "00000003-5cd1-4d1c-a5ef-8d1a5fbd7f4e-0", "20260101000000000"
BASE = f"{GROUP}_3-21-41_{TIME}.parquet"
LOG = f".{GROUP}_{TIME}.log.1_3-21-41"


@pytest.mark.parametrize(
    ("path", "folder", "is_log"),
    [
        (BASE, "", False),
        (f"year=2026/month=1/{BASE}", "year=2026/month=1", False),
        (LOG, "", True),
        (f"metadata/{LOG}", "metadata", True),  # a partition that is named so
        (f"day=1/{LOG}.cdc", "day=1", True),
    ],
)
def test_base_and_log_files_have_a_group_and_an_instant(path, folder, is_log):
    assert data_file(path) == DataFile((folder, GROUP), TIME, is_log)


@pytest.mark.parametrize(
    "path",
    [
        "x.parquet",
        ".hoodie_partition_metadata",
        "p/.x_1_2.parquet",
        f".hoodie/metadata/files/{BASE}",
        f".hoodie/metadata/files/{LOG}",
        "metadata/v1.metadata.json",
        "metadata/snap-1-1-b9c1.avro",
        "_delta_log/00000000000000000001.json",
        "_delta_log/00000000000000000010.checkpoint.parquet",
    ],
)
def test_other_files_are_of_no_rows(path):
    assert data_file(path) is None


PART = "part-00001-7c1d8f5e-c000.snappy.parquet"
OURS = [
    ".hoodie/hoodie.properties",
    ".hoodie_partition_metadata",
    "name=x/.hoodie_partition_metadata.parquet",
    "name=x/..hoodie_partition_metadata.crc",
    "name=x/0a-0_1-2-3_20260101000000000.parquet",
    "name=x/.0a-0_1-2-3_20260101000000000.parquet.crc",
    ".0a-0_20260101000000000.log.1_0-1-2",
    "_delta_log/00000000000000000000.json",
    "metadata/v1.metadata.json",
    "name=x/",
    "name=x_$folder$",
]
THEIRS = [
    PART,
    f"name=x/{PART}",
    "name=x/duckdb_e18abff3-ff38-42c8-8e78-ead407090ba5_0.parquet",
    f"name=x/.{PART}",
    "data/00000-0.parquet",
    f"name=x/{BASE}.copy",
    "notes.txt",
    "name=x/_delta_log/0.json",
    "_SUCCESS",
]


@pytest.mark.parametrize("path", [*OURS, *THEIRS])
def test_files_are_told_apart_by_their_paths(path):
    assert is_foreign(path) == (path in THEIRS)


def test_parquet_that_hudi_did_not_write_is_taken_for_rows():
    assert [path for path in (*OURS, *THEIRS) if is_taken_for_rows(path)] == THEIRS[:5]
