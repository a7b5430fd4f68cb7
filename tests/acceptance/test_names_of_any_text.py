"""Partitions named by any text, and landing files of any name, from load to erase on S3.

Every row has a value of its own in the partition column, and every file a name of its own.
Hudi, pyiceberg, delta-rs and DuckDB must find the rows, Glue the partitions, a reprocess
and an erase the file.
"""

from __future__ import annotations

import csv
import io
import json
from typing import Dict, Iterable, Iterator, List, Mapping, Tuple

import pytest
from lake_local.workspace import project

from tests.cases.any_text import FILES, VALUES as PLACES
from tests.hostile import lake_files, names
from tests.hostile.world import ROUNDS, World

pytestmark = pytest.mark.nightly
READERS = project.find().readers_python
HADOOP = f"s3://{names.WAREHOUSE}/{names.HOME}/keys"
FOLDER = f"files/{names.DOMAIN}/{names.TABLE}"
NOT_READ = ("a//b", "a/./b", "a/../b", "a._COPYING_", "folder")
"""What Hadoop reads as something else; the last has a file below it."""

TABLE = lake_files.TABLE_SPEC.replace("load/*", "load/**")
TABLE = TABLE.replace("changes/*", "changes/**")
CORRECTED = "changes/2/[x] {y}/a b"
"""The file that is landed again and reprocessed."""
ERASED = 29


def rows_after(round_: int) -> Dict[int, str]:
    """The place of each row: from round to round the next one."""
    return {n: PLACES[(n + round_) % len(PLACES)] for n in range(len(PLACES))}


def landed(round_: int) -> Dict[str, str]:
    """All rows once, by files of all names."""
    kind, rows = ("changes" if round_ else "load"), list(rows_after(round_).items())
    return {
        f"{FOLDER}/{kind}/{round_}/{name}": text_of(rows[n :: len(FILES)], round_)
        for n, name in enumerate(FILES)
    }


def text_of(rows: Iterable[Tuple[int, str]], round_: int) -> str:
    """A landing file of these rows."""
    made = io.StringIO()
    writer = csv.writer(made, lineterminator="\n")
    writer.writerow(["op", "id", "name", "place", "at"])
    at = f"2026-01-{round_ + 1:02}"
    writer.writerows(["U", number, "thing", place, at] for number, place in rows)
    return made.getvalue()


@pytest.fixture
def world(tmp_path):
    """The lake after a load and two runs."""
    made = World(tmp_path, lake_files.domain(TABLE), landed)
    try:
        yield made
    finally:
        made.close()


def others(world: World) -> Iterator[Tuple[str, Mapping[str, List[str]]]]:
    """The rows of each layer by each reader that is no Hudi."""
    if READERS.exists():
        readers = world.child("readers", names.UNGUARDED)
        yield from readers.ask(what="rows").items()
        yield from readers.ask(what="rows_by_duckdb").items()


def partitions(world: World, table: str) -> Dict[str, int]:
    """How many files each partition of Glue has below its location, by its value."""
    pages = world.client("glue").get_paginator("get_partitions")
    s3, found = world.client("s3"), {}
    for page in pages.paginate(DatabaseName=names.DOMAIN, TableName=table):
        for each in page["Partitions"]:
            bucket, _, key = each["StorageDescriptor"]["Location"][5:].partition("/")
            (value,) = each["Values"]
            listed = s3.list_objects_v2(Bucket=bucket, Prefix=f"{key}/")
            found[value] = listed["KeyCount"]
    return found


def agree(world: World, expected: Mapping[int, str]) -> int:
    """Find these places by every reader, and equal rows of all layers; how many readers."""
    hudi, count = world.child("product").ask(what="rows"), 0
    rows = map(json.loads, hudi["current"])
    assert {row["id"]: row["place"] for row in rows} == expected
    for reader, layers in others(world):
        for layer, texts in layers.items():
            assert texts == hudi[layer], (reader, layer)
        count += 1
    return count


def landing(world: World) -> Dict[str, str]:
    """The text of each landing file."""
    s3 = world.client("s3")
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=names.LANDING)
    keys = [each["Key"] for each in pages.search("Contents[]")]
    return {
        key: s3.get_object(Bucket=names.LANDING, Key=key)["Body"].read().decode()
        for key in keys
        if key.startswith(FOLDER)
    }


def old_versions(world: World, bucket: str, folder: str) -> List[str]:
    """The keys of old versions and of marks of deletes below a folder."""
    pages = world.client("s3").get_paginator("list_object_versions")
    return [
        each["Key"]
        for page in pages.paginate(Bucket=bucket, Prefix=f"{folder}/")
        for kind in ("Versions", "DeleteMarkers")
        for each in page.get(kind, ())
        if not each["IsLatest"] or kind == "DeleteMarkers"
    ]


def set_aside(world: World) -> List[str]:
    """The paths that reports of runs name as set aside."""
    s3, found = world.client("s3"), []
    pages = s3.get_paginator("list_objects_v2")
    listed = pages.paginate(Bucket=names.WORK, Prefix=f"runs/{names.DOMAIN}_")
    for each in listed.search("Contents[]"):
        if each["Key"].endswith(f"/incremental/{names.TABLE}.json"):
            body = s3.get_object(Bucket=names.WORK, Key=each["Key"])["Body"]
            found += [one["path"] for one in json.load(body)["set_aside"]]
    return found


def test_any_partition_and_any_file_name_from_load_to_erase(world):
    world.build()
    wrong = world.child("product").ask(what="renamed", folder=HADOOP, keys=[*FILES])
    assert wrong == {}
    assert world.step("maintenance") == ""
    places = rows_after(ROUNDS - 1)
    assert agree(world, places) == (4 if READERS.exists() else 0)
    for table in (names.TABLE, f"{names.TABLE}_history"):
        found = partitions(world, table)
        assert {*found} == {*PLACES} and all(found.values()), table

    s3, number = world.client("s3"), FILES.index("[x] {y}/a b")
    place = {"Bucket": names.LANDING, "Key": f"{FOLDER}/{CORRECTED}"}
    s3.put_object(**place, Body=text_of([(number, "plain")], ROUNDS - 1).encode())
    assert world.step("reprocess", "--then", "scd2", "--file", CORRECTED) == ""
    agree(world, {**places, number: "plain"})

    text = text_of([(1, "a b")], ROUNDS).encode()
    bad = [f"{FOLDER}/changes/9/{name}" for name in NOT_READ]
    for key in bad:
        s3.put_object(Bucket=names.LANDING, Key=key, Body=b"of this no row is read")
    place = {"Bucket": names.LANDING, "Key": f"{FOLDER}/changes/9/folder/b"}
    s3.put_object(**place, Body=text)
    assert "Land it under another name" in world.step("incremental", "--then", "scd2")
    assert sorted(set_aside(world)) == sorted(f"changes/9/{name}" for name in NOT_READ)
    for key in bad:
        s3.delete_object(Bucket=names.LANDING, Key=key)
    assert world.step("incremental", "--then", "scd2") == ""
    left = {**places, number: "plain", 1: "a b"}
    agree(world, left)

    before = landing(world)
    assert world.step("erase", "--request", world.ask_erase(ERASED)) == ""
    after, row = landing(world), f"U,{ERASED},"
    had = {key for key, text in before.items() if row in text}
    assert len(had) == ROUNDS and not any(row in text for text in after.values())
    assert {key for key in before if after[key] != before[key]} == had
    del left[ERASED]
    agree(world, left)
    for bucket, folder in ((names.LANDING, FOLDER), (names.WAREHOUSE, names.HOME)):
        assert old_versions(world, bucket, folder) == []
