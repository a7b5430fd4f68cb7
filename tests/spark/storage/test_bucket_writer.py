"""Whole tables written by Spark's shuffle: the same table as by Hudi's own, in each kind.

400 rows of 397 keys' texts in ASCII, as `lake_key` has them; 5 buckets. Each table is
written, changed by an upsert of 60 rows and replaced, once in each way.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Dict, List, Tuple

import pytest
from pyspark.sql import functions as F

from lake_spec.hudi.options import HudiKey, Operation, log_options, table_options
from lake_spec.model import Shuffle, Storage, TableType
from lake_spark.storage import bucket_writer
from lake_spark.storage.hudi_table import HudiTable
from lake_spark.storage.shuffle_hash import numbers_of_tasks
from lake_spark.storage.timeline import meta_client
from tests.kinds import one_by_day, some_by_day

CURRENT, HISTORY = ("lake_key",), ("lake_key", "lake_from")
BUCKETS = 5


@dataclass(frozen=True)
class Kind:
    """A kind of table: its record key, how it is stored, and whether folders are encoded."""

    key: Tuple[str, ...] = CURRENT
    type: TableType = TableType.COPY_ON_WRITE
    by: Tuple[str, ...] = ()
    version: int = 8
    encoded: bool = False

    @property
    def storage(self) -> Storage:
        return Storage(
            self.type,
            buckets=BUCKETS,
            partition_by=self.by,
            table_version=self.version,
        )


MERGED = TableType.MERGE_ON_READ
KINDS = {
    "current": Kind(),
    "history": Kind(HISTORY),
    "merge on read": Kind(HISTORY, MERGED),
    "version 6": Kind(HISTORY, version=6),
    "one text": Kind(by=("region",), encoded=True),
    "one date": Kind(HISTORY, MERGED, by=("day",)),
    "two columns": Kind(HISTORY, by=("region", "size"), encoded=True),
    "one number": Kind(by=("size",)),
    "two numbers": Kind(by=("size", "part")),
    "versions by number": Kind(HISTORY, by=("size",)),
}
BY_DAY = ("current",)


def rows_of(spark, first: int, last: int, text: str = "t"):
    """Rows of these numbers: keys with and without codes of other characters."""
    number = "CAST(id AS string)"
    return spark.range(first, last).selectExpr(
        f"concat('{text}', id) AS name",
        "CASE WHEN id % 7 = 0 THEN NULL ELSE id % 5 END AS size",
        "CAST(id / 8 AS decimal(12,3)) AS amount",
        "date_add(DATE'2026-01-01', CAST(id % 3 AS int)) AS day",
        "CAST(id % 3 - 1 AS int) AS part",
        "CASE id % 4 WHEN 0 THEN 'a/b' WHEN 1 THEN 'é c' WHEN 2 THEN 'x:=%' END AS region",
        "timestamp_micros(id * 1000001) AS at",
        "named_struct('a', id, 'b', CAST(NULL AS string)) AS pair",
        "id % 2 = 0 AS is_current",
        f"CASE id % 3 WHEN 0 THEN {number} WHEN 1 THEN concat({number}, '|%25 ~')"
        f" ELSE concat('%C3%A9+', {number}) END AS lake_key",
        "id * 1000 AS lake_from",
        "CAST(NULL AS boolean) AS _hoodie_is_deleted",
    )


def made(spark, path, kind: Kind, shuffle: Shuffle) -> HudiTable:
    options = table_options(
        "things",
        storage=kind.storage,
        record_key=kind.key,
        keep_commits=10,
        encode_partitions=kind.encoded,
    )
    return HudiTable(spark, f"file://{path}", options, shuffle=shuffle)


def placed(table: HudiTable, *, buckets: bool = True) -> List[str]:
    """Every row with its record key, its folder and the bucket of its file, as a text:
    values that are no number are equal then, and zeros keep their signs."""
    bucket = [F.substring("_hoodie_file_name", 1, 8).alias("bucket")] if buckets else []
    hidden = ("_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_file_name")
    rows = table.read().select("*", *bucket).drop(*hidden)
    return sorted(repr(row) for row in rows.collect())


def properties(folder) -> Dict[str, str]:
    lines = (folder / ".hoodie" / "hoodie.properties").read_text().splitlines()
    found = dict(line.split("=", 1) for line in lines if "=" in line)
    del found["hoodie.table.checksum"]
    return found


def said(table: HudiTable) -> Tuple[Any, ...]:
    """What the newest commit says: its action, operation, metadata, schema and counts."""
    client = meta_client(table._spark, table.path)
    instants = client.getActiveTimeline().filterCompletedInstants().getInstants()
    last = instants.get(instants.size() - 1)
    utils = table._spark._jvm.org.apache.hudi.common.table.timeline.TimelineUtils
    commit = utils.getCommitMetadata(last, client.getActiveTimeline())
    found = json.loads(commit.toJsonString())
    written = [e for some in found["partitionToWriteStats"].values() for e in some]
    groups = sorted((e["partitionPath"], e["fileId"][:8]) for e in written)
    replaced = found.get("partitionToReplaceFileIds") or {}
    gone = sorted((p, len(names)) for p, names in replaced.items())
    rows = sum(each["numWrites"] for each in written)
    kept = (found["operationType"], found["extraMetadata"], groups, gone, rows)
    return last.getAction(), *kept


@pytest.mark.parametrize("tasks", [2, 7])
def test_a_number_comes_to_the_task_that_it_is_of(spark, tasks):
    numbers = [(number,) for number in numbers_of_tasks(tasks)]
    rows = spark.createDataFrame(numbers, "number int").repartition(tasks, "number")
    found = rows.select(F.spark_partition_id().alias("task"), "number").collect()
    assert [(row.number,) for row in sorted(found)] == numbers


@pytest.mark.parametrize("kind", some_by_day(KINDS, BY_DAY))
def test_both_ways_make_the_same_table(spark, tmp_path, kind):
    ways = {way: made(spark, tmp_path / way.value, KINDS[kind], way) for way in Shuffle}
    loaded = rows_of(spark, 0, 400)
    for table in ways.values():
        table.write(loaded, Operation.BULK_INSERT, {"run": "r1", "rows": "400"})
    by_spark, by_hudi = ways[Shuffle.SPARK], ways[Shuffle.HUDI]
    assert len(placed(by_spark)) == 400
    assert placed(by_spark) == placed(by_hudi)
    assert said(by_spark) == said(by_hudi)
    assert properties(tmp_path / "spark") == properties(tmp_path / "hudi")
    changed = rows_of(spark, 370, 430, "changed")
    for table in ways.values():
        table.write(changed, Operation.UPSERT, {"run": "r2"})
    assert len(placed(by_spark)) == 430
    assert placed(by_spark) == placed(by_hudi)
    for table in ways.values():
        replaced = rows_of(spark, 100, 300, "again").drop("amount")
        table.write(replaced, Operation.REPLACE, {"run": "r3"})
    assert len(placed(by_spark)) == 200
    assert placed(by_spark) == placed(by_hudi)
    assert said(by_spark)[0] == said(by_hudi)[0] == "replacecommit"
    assert said(by_spark)[3] == said(by_hudi)[3] != []


@pytest.mark.parametrize("kind", ["one number", "versions by number"])
def test_where_hudi_names_folders_otherwise_so_do_both_ways(spark, tmp_path, kind):
    options = made(spark, tmp_path, KINDS[kind], Shuffle.SPARK).options
    named = {**options, HudiKey.HIVE_PARTITIONS.value: "false"}
    found = []
    for way in Shuffle:
        path = tmp_path / way.value
        table = HudiTable(spark, f"file://{path}", named, shuffle=way)
        table.write(rows_of(spark, 0, 400), Operation.BULK_INSERT, {})
        found.append(placed(table))
        assert len(list(path.glob("[0-4]"))) == 5
    assert found[0] == found[1]


@pytest.mark.parametrize("by", one_by_day([("region",), ("size",), ()]), ids=str)
def test_rows_of_a_file_are_in_the_order_that_is_asked_for(spark, tmp_path, by):
    table = made(spark, tmp_path, Kind(by=by, encoded=True), Shuffle.SPARK)
    rows = rows_of(spark, 0, 400)
    table.write(rows, Operation.BULK_INSERT, {}, order=("is_current", "amount"))
    found = []
    for file in tmp_path.rglob("*.parquet"):
        values = spark.read.parquet(f"file://{file}").select("is_current", "amount")
        found.append([tuple(row) for row in values.collect()])
    assert sum(map(len, found)) == 400
    assert found == [sorted(each) for each in found]


@pytest.mark.parametrize("pinned", [False, True], ids=["version 8", "version 6"])
def test_both_ways_make_the_same_change_log(spark, tmp_path, pinned):
    """Which has no buckets: its first rows go one of the ways, later ones Hudi's."""
    options = log_options("things", keep_commits=10, pinned=pinned)
    names = ("lake_key AS lake_path", "lake_from AS lake_record", "*")
    ways = {}
    for way in Shuffle:
        path = f"file://{tmp_path}/{way.value}"
        ways[way] = HudiTable(spark, path, options, shuffle=way)
        for first, last in ((0, 400), (300, 500)):
            rows = rows_of(spark, first, last).selectExpr(*names)
            ways[way].write(rows, Operation.BULK_INSERT, {"run": str(first)})
    by_spark, by_hudi = (placed(each, buckets=False) for each in ways.values())
    assert len(by_spark) == 600
    assert by_spark == by_hudi
    assert properties(tmp_path / "spark") == properties(tmp_path / "hudi")
    assert [*ways[Shuffle.SPARK].actions()] == ["commit", "commit"]


@pytest.fixture
def table(spark, tmp_path) -> HudiTable:
    return made(spark, tmp_path, KINDS["history"], Shuffle.SPARK)


def actions(table: HudiTable) -> List[str]:
    table.forget()
    return list(table.actions())


@pytest.fixture
def by_hudi(spark, tmp_path):
    """The rows as Hudi's own way writes them, to be compared."""
    other = made(spark, tmp_path / "other", KINDS["history"], Shuffle.HUDI)
    other.write(rows_of(spark, 0, 400), Operation.BULK_INSERT, {})
    return placed(other)


def unlike(spark, field):
    return F.abs(F.hash("name"))


@pytest.mark.parametrize(
    "name, value, words",
    [
        ("_bucket", unlike, "are of a bucket that has one"),
        ("SINK", "org.apache.hudi.NotThere", "the class org.apache.hudi.NotThere is"),
        ("SINK", "java.lang.String", "bulkInsert"),
    ],
    ids=["misplaced rows", "no class", "another signature"],
)
def test_what_spark_cannot_do_hudi_does_and_the_output_says_so(
    spark, table, by_hudi, monkeypatch, capfd, name, value, words
):
    monkeypatch.setattr(bucket_writer, name, value)
    table.write(rows_of(spark, 0, 400), Operation.BULK_INSERT, {"run": "r1"})
    assert placed(table) == by_hudi
    assert actions(table) == ["commit"]
    assert table.last_value("run") == "r1"
    output = capfd.readouterr().out
    assert "written by Hudi's own shuffle" in output and words in output


def test_the_lease_is_checked_again_before_hudi_writes_instead(
    spark, table, monkeypatch
):
    monkeypatch.setattr(bucket_writer, "SINK", "org.apache.hudi.NotThere")
    asked = []

    def lost_meanwhile() -> None:
        asked.append("lease")
        if len(asked) == 2:
            raise PermissionError("another run has the lease")

    table.before_commit = lost_meanwhile
    with pytest.raises(PermissionError):
        table.write(rows_of(spark, 0, 400), Operation.BULK_INSERT, {})
    assert not table.exists()


def test_the_setting_leaves_all_to_hudi(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(bucket_writer, "BucketWriter", None)
    table = made(spark, tmp_path, KINDS["current"], Shuffle.HUDI)
    table.write(rows_of(spark, 0, 9), Operation.BULK_INSERT, {})
    assert len(placed(table)) == 9


@pytest.mark.parametrize("kind", ["history", "merge on read"])
def test_a_lease_that_is_lost_while_rows_are_written_stops_the_commit(
    spark, tmp_path, by_hudi, kind
):
    """Of a first load and of a rebuild; the next write of each then succeeds."""
    asked = []

    def lost_at_last() -> None:
        asked.append("lease")
        if len(asked) % 4 == 2:
            raise PermissionError("another run has the lease")

    table = made(spark, tmp_path, KINDS[kind], Shuffle.SPARK)
    table.before_commit = lost_at_last
    rows, done = rows_of(spark, 0, 400), 0
    for operation in (Operation.BULK_INSERT, Operation.REPLACE):
        with pytest.raises(PermissionError):
            table.write(rows, operation, {})
        assert len(actions(table)) == done and table.has_unfinished()
        table.write(rows, operation, {"run": operation.value})
        done += 1
        assert placed(table) == by_hudi
        assert len(actions(table)) == done and not table.has_unfinished()


def test_a_row_that_fails_fails_the_write_and_the_next_one_succeeds(
    spark, table, by_hudi
):
    rows = rows_of(spark, 0, 400)
    broken = "IF(lake_from = 7000, raise_error('a bad row'), name)"
    bad = rows.withColumn("name", F.expr(broken))
    with pytest.raises(Exception, match="a bad row"):
        table.write(bad, Operation.BULK_INSERT, {})
    assert actions(table) == []
    table.write(rows, Operation.BULK_INSERT, {})
    assert placed(table) == by_hudi
