"""Partitions by their folders, as runs of products name them: `year=2026/month=1`."""

from __future__ import annotations

import re
from typing import List, Tuple
from urllib.parse import unquote

FOLDER = re.compile(
    r"(?=.{1,512}$)[A-Za-z_]\w{0,62}=[^/\x00-\x20\x7f]+"
    r"(/[A-Za-z_]\w{0,62}=[^/\x00-\x20\x7f]+)*",
    re.ASCII,
)
"""A folder of partitions, or the first parts of one: a column and a value in each part."""

EXPECTED = "folders of partitions or their first parts, as year=2026/month=1"


def is_folder(text: str) -> bool:
    """Return whether a text is a folder of partitions, or the first parts of one."""
    return bool(FOLDER.fullmatch(text))


def parts_of(folder: str) -> List[Tuple[str, str]]:
    """Return the columns and values of a folder; its characters are percent-encoded."""
    parts = [part.partition("=") for part in folder.split("/")]
    return [(column, unquote(value)) for column, _, value in parts]
