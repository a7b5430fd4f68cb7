"""A domain of one table of daily snapshots, which comes to the lake later.

A snapshot on three days of January 2015: a key that changes, one that goes, one that comes.
"""

from __future__ import annotations

from pathlib import Path
from typing import List

LANDING = "s3://lake/landing/days/stock"
COLUMNS = "item,pieces,valid_from,valid_to"
DAYS = ("2015-01-01", "2015-01-02", "2015-01-03")
DOMAIN = """
name: days
description: What a shop had in stock, day by day
owner: shop-data
schedules: {incremental: "@daily"}
"""
STOCK = """
name: stock
description: Pieces in stock, a snapshot a day
owner: shop-data
source:
  kind: snapshot
  path: days/stock
  files: "stock_*.csv"
  format: {type: csv}
  snapshot_time: {pattern: 'stock_(\\d{4}-\\d{2}-\\d{2})', format: "%Y-%m-%d"}
  lost_share: 1.0
columns: {item: string, pieces: int}
key: [item]
"""
ROWS = (
    "item,pieces\nchair,4\ntable,1\n",
    "item,pieces\nchair,3\ntable,1\n",
    "item,pieces\nchair,3\nlamp,9\n",
)
VERSIONS = [
    "chair,4,2015-01-01T00:00:00Z,2015-01-02T00:00:00Z",
    "chair,3,2015-01-02T00:00:00Z,",
    "table,1,2015-01-01T00:00:00Z,2015-01-03T00:00:00Z",
    "lamp,9,2015-01-03T00:00:00Z,",
]
"""Item, pieces, start and end as runs on time would have made them."""


def write_spec(tables: Path) -> None:
    """The domain next to those that are there."""
    folder = tables / "days"
    folder.mkdir()
    (folder / "_domain.yml").write_text(DOMAIN, encoding="utf-8")
    (folder / "stock.yml").write_text(STOCK, encoding="utf-8")


def write_landing_files(folder: Path) -> List[Path]:
    """A snapshot per day."""
    folder.mkdir()
    files = []
    for day, rows in zip(DAYS, ROWS):
        files.append(folder / f"stock_{day}.csv")
        files[-1].write_text(rows, encoding="utf-8")
    return files
