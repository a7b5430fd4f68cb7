"""The Delta log of a table: what its lines say, and what is in force after them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyspark.sql.types import StructType

from lake_spark.publish.delta import (
    Delta,
    add,
    in_force,
    lines,
    meta_data,
    protocol,
    remove,
)
from lake_spark.publish.instants import BaseFile, CommitChange
from lake_spark.storage.object_store import FolderStore

SCHEMA = StructType().add("id", "integer").add("name", "string")
FILE = BaseFile(
    "place=a%3Ab/f-0_1-2-3_20260101.parquet", ("place=a%3Ab", "f-0"), "2", 9
)


def test_a_file_is_named_by_an_encoded_path_and_its_partition_by_the_value():
    assert add(FILE, 3, ("place",), 7) == {
        "add": {
            "path": "place=a%253Ab/f-0_1-2-3_20260101.parquet",
            "partitionValues": {"place": "a:b"},
            "size": 9,
            "modificationTime": 7,
            "dataChange": True,
            "stats": '{"numRecords": 3}',
        }
    }


def test_a_table_says_its_columns_in_sparks_json_and_keeps_its_id():
    one, other = (meta_data("s3://l/t", "Things", SCHEMA, ()) for _ in range(2))
    assert one["metaData"]["id"] == other["metaData"]["id"]
    assert one["metaData"]["partitionColumns"] == []
    assert json.loads(one["metaData"]["schemaString"])["fields"][0] == {
        "name": "id",
        "type": "integer",
        "nullable": True,
        "metadata": {},
    }


def test_what_was_removed_is_in_force_no_more_and_the_last_head_counts():
    first = meta_data("s3://l/t", "Things", SCHEMA, ())
    then = meta_data("s3://l/t", "Other things", SCHEMA, ())
    other = BaseFile("g_1_2.parquet", ("", "g"), "2", 1)
    added, kept = add(FILE, 3, ("place",), 7), add(other, 1, (), 7)
    said = [{"commitInfo": {}}, protocol(), first, added, kept, remove(FILE, 8), then]
    assert in_force(said) == [protocol(), then, kept]


def test_each_action_is_one_line():
    text = lines([protocol(), remove(FILE, 8)])
    assert [list(json.loads(line)) for line in text.splitlines()] == [
        ["protocol"],
        ["remove"],
    ]


def test_writers_are_asked_for_a_feature_that_no_engine_has():
    assert protocol() == {
        "protocol": {
            "minReaderVersion": 1,
            "minWriterVersion": 7,
            "writerFeatures": ["appendOnly", "invariants", "lakeHudi"],
        }
    }


STEP = CommitChange("20260102", (FILE,), (), {FILE.path: 3}, 1, FILE.size)


def log_of(root: Path, description: str, columns: dict) -> Delta:
    """A Delta log in a folder, by a spec that describes table and columns so."""
    table = SimpleNamespace(path=f"file://{root}", options={}, schema=lambda: SCHEMA)
    return Delta(
        None,
        FolderStore(),
        table,
        description=description,
        columns=columns,
        scratch="unused",
    )


def actions(root: Path, version: int) -> list:
    """The actions of a version of the log in a folder."""
    text = (root / "_delta_log" / f"{version:020}.json").read_text()
    return [json.loads(line) for line in text.splitlines()]


def test_changed_descriptions_are_a_version_without_files_and_are_kept(tmp_path):
    first = log_of(tmp_path, "Things", {"id": "Number"})
    assert first.begin(STEP)
    assert first.is_up_to_date(first.newest())
    then = log_of(tmp_path, "Other things", {"name": "Its name"})
    before = then.newest()
    assert not then.is_up_to_date(before)
    assert then.append(before, [])
    after = then.newest()
    assert then.is_up_to_date(after)
    assert after == replace(before, version=1), "the same commit, files and bytes"
    info, asked, head = actions(tmp_path, 1)
    assert (list(info), asked) == (["commitInfo"], protocol())
    assert head["metaData"]["description"] == "Other things"
    columns = json.loads(head["metaData"]["schemaString"])["fields"]
    assert [each["metadata"] for each in columns] == [{}, {"comment": "Its name"}]
    assert then.append(after, [STEP])
    assert list(map(list, actions(tmp_path, 2))) == [["commitInfo"], ["add"]]
    other = log_of(tmp_path, "Other things", {"name": "Another word"})
    assert other.append(other.newest(), [STEP])
    assert list(map(list, actions(tmp_path, 3))) == [
        ["commitInfo"],
        ["metaData"],
        ["add"],
    ]


@pytest.mark.parametrize("name, is_there", [("", False), ("0.json", True)])
def test_an_emptied_folder_has_no_log(tmp_path, name, is_there):
    """S3A leaves an object that stands for it, and ends in a slash."""
    log = log_of(tmp_path, "Things", {})
    found = [SimpleNamespace(uri=f"{log.root}{name}")]
    log.store = SimpleNamespace(list={log.root: found}.__getitem__)
    assert log.is_there() == is_there
