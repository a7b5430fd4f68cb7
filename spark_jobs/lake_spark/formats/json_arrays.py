"""Files that are one JSON array each, taken apart on the executors.

Workers import this module by itself: it needs no other package than lake_spec.text.
"""

from __future__ import annotations

from typing import List, Optional, Tuple

from lake_spec.text.json_arrays import NoArray, spans

LARGEST_FILE = 128 << 20
"""The most bytes of such a file, unpacked: it passes through memory as a whole."""


class Elements:
    """Takes a file's bytes apart: the elements' bytes, or why it is refused."""

    def __call__(self, content: bytes) -> Tuple[Optional[List[bytes]], Optional[str]]:
        """Return (elements, None) or (None, what is wrong)."""
        if len(content) > LARGEST_FILE:
            return None, too_long(len(content))
        # What is no UTF-8 is a fault of its element alone.
        text = content.decode("utf-8", "surrogateescape")
        try:
            found = [text[begin:end] for begin, end in spans(text)]
        except NoArray as no_array:
            return None, str(no_array)
        return [each.encode("utf-8", "surrogateescape") for each in found], None


def too_long(size: int) -> str:
    """Return why a file is refused that is too large to be one array."""
    return (
        f"has {size:,} bytes when decompressed, and a file that is one JSON array may have"
        f" {LARGEST_FILE:,}: it is read as a whole. Write one object a line, or smaller files"
    )
