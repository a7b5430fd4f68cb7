"""Seconds and bytes of one more file after many: what a commit says of ingested files.

Promise: what a commit writes of the files that were ingested does not grow with their
number: one more file after 500,000 takes under 1 MB and under 1 s, also where small parts
are merged. Measured next to it: one object of all files, as each commit wrote before. Left
out: Spark, Hudi's commit, and S3 (a folder of this machine takes its place; the time that
requests take is theirs: one PUT a commit, three where files go into a part; to load, a
GET for each 10,000 files, eight at the same time).

    .venv-airflow/bin/python benchmarks/manifest.py [--files 1000 100000 1000000]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "dags"), str(ROOT / "spark_jobs")]

from lake_spark.landing import ingested_file_parts  # noqa: E402
from lake_spark.landing.files import LandingFile  # noqa: E402
from lake_spark.landing.ingested_files import IngestedFilesFolder  # noqa: E402
from lake_spark.storage.object_store import FolderStore  # noqa: E402

COMMITS = 2 * ingested_file_parts.SMALL + 10
"""So many follow the first load: files go into parts twice, and parts are merged."""

BEGAN = datetime(2026, 1, 1, tzinfo=timezone.utc)
COLUMNS = "{:>10} {:>14} {:>11} {:>11} {:>12} {:>9} {:>8} {:>13}"


def landed(nth: int) -> LandingFile:
    """A file of a 49-character name, as S3 lists it, one a minute."""
    digest = hashlib.md5(str(nth).encode()).hexdigest()
    path = f"changes/{nth // 1440:05d}/part-{digest[:22]}.csv.gz"
    return LandingFile(
        path, digest, "", 1000 + nth % 977, BEGAN + timedelta(minutes=nth)
    )


def checksum(nth: int) -> str:
    """What S3 keeps of it."""
    return f"CRC64NVME:{hashlib.sha1(str(nth).encode()).hexdigest()[:11]}="


class Counting(FolderStore):
    """A folder that counts what is written."""

    written = 0

    def write(self, uri: str, content: bytes) -> None:
        """Put an object."""
        self.written += len(content)
        super().write(uri, content)


def commits(
    store: Counting, folder: IngestedFilesFolder, id: str, first: int
) -> Iterator[Tuple[float, int, str]]:
    """CPU seconds, bytes and id of each commit of one more file."""
    for nth in range(first, first + COMMITS):
        before, began = store.written, time.process_time()
        inputs = folder.load(id)
        file = landed(nth)
        inputs = inputs.next([file], {}, {}, checksums={file.path: checksum(nth)})
        id = folder.save(inputs)
        yield time.process_time() - began, store.written - before, id


def measured(count: int, root: Path) -> List[object]:
    """One row of the table."""
    store = Counting()
    folder = IngestedFilesFolder(store, root.as_uri())
    files = [landed(nth) for nth in range(count)]
    sums = {file.path: checksum(nth) for nth, file in enumerate(files)}
    began = time.process_time()
    id = folder.save(folder.load(None).next(files, {}, {}, checksums=sums))
    first_load, stored = time.process_time() - began, store.written
    found = list(commits(store, folder, id, count))
    seconds, bytes_, ids = zip(*found)
    files += [landed(nth) for nth in range(count, count + COMMITS)]
    loads = [load(folder, root, ids[-1], files) for _ in range(3)]
    each = [before(files, root) for _ in range(3)]
    return [
        f"{count:,}",
        f"{first_load:.2f} {stored / 1e6:.2f}",
        f"{statistics.median(seconds):.3f}",
        f"{max(seconds):.3f}",
        f"{statistics.median(bytes_) / 1e3:.1f} kB",
        f"{max(bytes_) / 1e3:.0f} kB",
        f"{statistics.median(loads):.2f}",
        f"{statistics.median(s for s, _ in each):.2f} {each[0][1] / 1e6:.2f}",
    ]


def load(
    folder: IngestedFilesFolder, root: Path, id: str, files: List[LandingFile]
) -> float:
    """CPU seconds to read all from the disk and to find the one file that is new."""
    ingested_file_parts._TABLES.clear()
    began = time.process_time()
    inputs = IngestedFilesFolder(FolderStore(), root.as_uri()).load(id)
    unseen = inputs.unseen([*files, landed(len(files))], "bench", {})
    assert len(unseen) == 1, len(unseen)
    return time.process_time() - began


def before(files: List[LandingFile], root: Path) -> Tuple[float, int]:
    """CPU seconds and bytes of an object of all files, which each commit wrote before."""
    began = time.process_time()
    entries: List[Dict[str, object]] = [
        {
            "path": each.path,
            "etag": each.etag,
            "landed_at": each.landed_at.isoformat(),
            "snapshot_at": None,
            "scopes": [],
        }
        for each in files
    ]
    hashlib.sha256(json.dumps(entries, sort_keys=True).encode())
    text = json.dumps({"files": entries[-1:], "earlier": entries[:-1]}, indent=1)
    FolderStore().write(f"{root.as_uri()}/before.json", text.encode())
    return time.process_time() - began, len(text)


def main() -> None:
    """Measure and print a row for each number of files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--files", type=int, nargs="+", default=[1000, 100_000, 1_000_000]
    )
    asked = parser.parse_args()
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    )
    print("CPU seconds of one core; MB and kB are 10^6 and 10^3 bytes that are written")
    print(
        COLUMNS.format(
            *("files", "first s, MB", "commit s", "at most", "commit"),
            *("at most", "load s", "before s, MB"),
        )
    )
    for count in asked.files:
        with tempfile.TemporaryDirectory() as folder:
            print(COLUMNS.format(*measured(count, Path(folder))), flush=True)


if __name__ == "__main__":
    main()
