"""Columns that readers add to a file's own, and what SQL calls a name of a file.

Workers import this module by itself: it needs no other package than lake_spec.text.
"""

from __future__ import annotations

from lake_spec.text.sql_text import not_a_name

CORRUPT = "_lake_corrupt"
"""The text of a record that cannot be parsed."""

WHY = "_lake_why"
"""What is wrong with it, of JSON."""

THERE = "_lake_there"
"""Which fields a record of JSON has (absent_fields.py)."""

FILE, BLOCK, ID = "_lake_file", "_lake_block", "_lake_id"
"""Where a record is: its file, the part of it, and its order there."""

PLACES = (
    f"input_file_name() AS {FILE}",
    f"input_file_block_start() AS {BLOCK}",
    f"monotonically_increasing_id() AS {ID}",
)
"""SQL of these three, right next to the file: above a function of Python Spark may have
gone on to another file."""

LEFT_OUT = "_lake_left_out_"
"""Before the place, or the letters, of a name that SQL cannot say."""

_OURS = (CORRUPT, WHY, THERE, FILE, BLOCK, ID)


def sayable(name: str) -> str:
    """Return what a column of a file is called in SQL: its name where SQL can say it."""
    low = name.lower()
    is_ours = low in _OURS or low.startswith(LEFT_OUT)
    if not (not_a_name(name) or is_ours):
        return name
    return f"{LEFT_OUT}{low.encode('utf-8', 'surrogatepass').hex()}"
