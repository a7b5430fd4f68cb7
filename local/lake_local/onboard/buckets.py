"""How many buckets a table gets: the one place of this rule.

A bucket is one file of current and one of history, rewritten whole by a commit that
touches it, so it should be neither tiny nor huge. The lake's Parquet files take about
a quarter of what a row takes in its database; a bucket for each 128 MiB there begins
with files of about 32 MiB, and leaves current and history room to grow fourfold.
"""

from __future__ import annotations

from typing import Optional

BYTES_OF_A_BUCKET = 128 * 1024 * 1024
BYTES_OF_A_ROW = 200
"""Where the source says only how many rows there are."""
MOST = 256


def buckets_for(rows: Optional[int], size: Optional[int]) -> int:
    """The number for a table of so many rows and bytes in its database."""
    if not size:
        size = (rows or 0) * BYTES_OF_A_ROW
    return min(MOST, max(1, -(-size // BYTES_OF_A_BUCKET)))


def words(rows: Optional[int], size: Optional[int]) -> str:
    """What is known of a table's size, for people."""
    known = []
    if rows is not None:
        known.append(f"about {rows:,} rows")
    if size is not None:
        known.append(f"{_size(size)} in the source")
    return ", ".join(known) or "of unknown size"


def _size(size: float) -> str:
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1000:
            break
        size /= 1000
    else:
        unit = "TB"
    return (
        f"{size:.0f} {unit}" if size >= 10 or unit == "bytes" else f"{size:.1f} {unit}"
    )
