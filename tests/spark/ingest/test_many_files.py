"""Many small files in one run: first bytes side by side, a bad one found by halves."""

from __future__ import annotations

import time
from threading import Lock

from lake_spark.ingest import batch_rows
from lake_spark.storage.object_store import FolderStore
from tests.spark.lake import DATED, Lake, table

FILES = 40


class SlowStore(FolderStore):
    """Each read waits, as on a network; how many wait at once."""

    def __init__(self) -> None:
        super().__init__()
        self.lock, self.now, self.most = Lock(), 0, 0

    def read(self, uri, *, limit=None):
        if "/changes/" in uri and limit is not None:
            with self.lock:
                self.now += 1
                self.most = max(self.most, self.now)
            time.sleep(0.02)
            with self.lock:
                self.now -= 1
        return super().read(uri, limit=limit)


def test_first_bytes_of_files_are_read_side_by_side_and_bad_ones_are_named(
    spark, tmp_path
):
    lake = Lake(spark, tmp_path, table(DATED))
    lake.store = SlowStore()
    for number in range(FILES):
        head = "id,at" if number != 17 else "id,when"
        lake.land(f"changes/{number:03}.csv", f"{head}\n{number},2026-01-02\n")
    report = lake.run("incremental")
    assert [each["path"] for each in report.set_aside] == ["changes/017.csv"]
    assert report.accepted == FILES - 1
    assert [each.path for each in report.files] == [
        f"changes/{number:03}.csv" for number in range(FILES) if number != 17
    ]
    assert lake.store.most > 4


def test_one_file_that_cannot_be_read_costs_a_few_reads(spark, tmp_path, monkeypatch):
    as_avro = DATED.replace("{type: csv}", "{type: avro}")
    lake = Lake(spark, tmp_path, table(as_avro))
    write = spark.sql("SELECT 1 AS id, timestamp'2026-01-02' AS at").write
    write.format("avro").save(str(tmp_path / "written"))
    (written,) = (tmp_path / "written").glob("*.avro")
    whole = written.read_bytes()
    damaged = whole[:-30] + bytes(10) + whole[-20:]  # before the marker at its end
    for number in range(FILES):
        content = whole if number != 17 else damaged
        lake.land(f"changes/{number:03}.avro", content)
    tried = []
    read = batch_rows.read_inputs

    def counting(spark, spec, inputs, *others):
        tried.append(len(inputs))
        return read(spark, spec, inputs, *others)

    monkeypatch.setattr(batch_rows, "read_inputs", counting)
    report = lake.run("incremental")
    assert [each["path"] for each in report.set_aside] == ["changes/017.avro"]
    assert len(report.files) == FILES - 1
    assert tried[:2] == [FILES, FILES] and len(tried) <= 2 * FILES.bit_length() + 2
