"""What is known of a table's size in its database, in words."""

from __future__ import annotations

from typing import Optional


def words(rows: Optional[int], size: Optional[int]) -> str:
    """Rows and bytes, as far as they are known."""
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
