"""The number of buckets of a table, and whether a number fits.

A bucket is one file of current and one of history, rewritten whole by a compaction (or,
copied on write, by a commit) that touches it, so it should be neither tiny nor huge. A
bucket for each 128 MiB that the table has in its database leaves current and history
room to grow fourfold. Above one the number is even: of three, one of two cores has two to
write, while the other waits. estimate.py estimates what a number costs.
"""

from __future__ import annotations

from typing import Optional

from lake_spec.model.table_parts import MOST_BUCKETS

BYTES_OF_A_BUCKET = 128 * 1024 * 1024
BYTES_OF_A_ROW = 200
"""Rows and bytes in the source, if only the number of rows is known."""

MOST = 256
"""Largest proposed number; a larger table gets larger files."""

ROOM = 4
"""A number fits until it is this many times too small or too large."""


LARGEST = 1024**3
"""Bytes of a file above which a table should have more buckets: one core writes it again,
in two minutes or so."""


def buckets_for(rows: Optional[int], size: Optional[float]) -> int:
    """Return the number of buckets for a table of this many rows and bytes."""
    if not size:
        size = (rows or 0) * BYTES_OF_A_ROW
    whole = max(1, int(-(-size // BYTES_OF_A_BUCKET)))
    return min(MOST, whole if whole == 1 else whole + whole % 2)


def resized(buckets: int, largest: int) -> Optional[int]:
    """Return the number for a table whose largest file has that many bytes.

    None where the number fits, or cannot grow. With it no file has more than a fourth of
    LARGEST, if keys hash evenly.
    """
    if largest <= LARGEST or buckets >= MOST_BUCKETS:
        return None
    return min(MOST_BUCKETS, buckets * -(-largest * ROOM // LARGEST))


def advice(buckets: int, proposed: int) -> str:
    """Describe whether a table's number of buckets fits, and what to do if not."""
    if proposed / ROOM <= buckets <= proposed * ROOM:
        least = f", the largest proposed number; up to {MOST_BUCKETS:,} may be written"
        return f"{buckets} buckets fit{least if proposed == MOST else ''}."
    few = buckets < proposed
    return (
        f"{buckets} buckets are more than {ROOM} times too "
        f"{'few' if few else 'many'}: files become "
        f"{'large' if few else 'many and small'}. Write `buckets: {proposed}`, then "
        "run <domain>_rebuild for the table."
    )
