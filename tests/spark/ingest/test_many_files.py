"""Many small files in one run: their first bytes are read side by side."""

from __future__ import annotations

import time
from threading import Lock

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
