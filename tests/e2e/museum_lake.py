"""A museum's domain of three tables, and what is landed for them.

- `artists`: the project's own spec, snapshots read by pyspark, copy_on_write;
- `artists_feed`: the same artists as a load and a change feed, ingested by
  HoodieStreamer, merge_on_read;
- `works`: 200 works in March, one of them with a year that is no number. In May
  one is renamed, one is new, one stands there twice.
"""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path
from typing import Dict, List

from tests.cases import museum

PROJECT = Path(__file__).resolve().parents[2]
LANDING = "s3://lake/landing/moma"
PARTNER = "s3://partner-drop/out"
"""Where the files of `works` lie, in a bucket of others: only read."""
WORKS = """
name: works
description: Works of the museum, a small table of its own
owner: museum-data
source:
  kind: snapshot
  path: moma/works
  files: "works_*.csv.gz"
  format: {type: csv}
  snapshot_time: {pattern: 'works_(\\d{4}-\\d{2}-\\d{2})', format: "%Y-%m-%d"}
columns: {work_id: int, title: string, year: int}
key: [work_id]
"""
MARCH, MAY = "works_2016-03-03.csv.gz", "works_2016-05-12.csv.gz"


def write_specs(tables: Path) -> None:
    """The domain as a tables folder."""
    folder = tables / "moma"
    folder.mkdir(parents=True)
    ours = PROJECT / "dags" / "tables"
    shutil.copy(ours / "_defaults.yml", tables)
    for name in ("_domain.yml", "artists.yml"):
        shutil.copy(ours / "moma" / name, folder)
    feed = museum.FEED_SPEC.format(engine="streamer", storage="merge_on_read")
    feed = feed.replace("name: artists\n", "name: artists_feed\n")
    (folder / "artists_feed.yml").write_text(feed, encoding="utf-8")
    (folder / "works.yml").write_text(WORKS, encoding="utf-8")


def write_landing_files(folder: Path) -> Dict[str, Path]:
    """What a source system would deliver, by name; `truncated` is half a file."""
    folder.mkdir()
    made = {
        "feed": _written(folder / "1.csv", museum.change_feed().encode()),
        MARCH: _written(folder / MARCH, _packed(_march())),
        MAY: _written(folder / MAY, _packed(_may())),
    }
    half = made[MARCH].read_bytes()
    made["truncated"] = _written(folder / "half.csv.gz", half[: len(half) // 2])
    return made


def _march() -> List[str]:
    rows = [f"{i},Work number {i * 7919 % 1000},{1900 + i % 90}" for i in range(1, 200)]
    return [*rows, "200,A work of unknown age,circa 1900"]


def _may() -> List[str]:
    renamed = [row.replace("1,Work number 919,", "1,Renamed,") for row in _march()]
    return [*renamed, "201,A new work,2016", "2,Work number 838,1902"]


def _packed(rows: List[str]) -> bytes:
    return gzip.compress("\n".join(["work_id,title,year", *rows, ""]).encode(), mtime=0)


def _written(file: Path, content: bytes) -> Path:
    file.write_bytes(content)
    return file
