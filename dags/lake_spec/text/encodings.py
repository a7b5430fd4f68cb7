"""Words for `columns.<name>.format`: encodings of sources that lack the type."""

from __future__ import annotations

import re
from typing import Dict, Tuple

EPOCHS = (
    "epoch_days",
    "epoch_seconds",
    "epoch_millis",
    "epoch_micros",
    "epoch_nanos",
)
"""A date or an instant as a whole number of units since 1970 in UTC."""

BASE64 = "base64"
"""Bytes as text."""

UNSCALED = "base64_unscaled"
"""The digits of a decimal as big-endian bytes, as text; the type says the scale."""

UNSIGNED = "unsigned_bigint"
"""An unsigned number of 64 bits that was written as a signed one: -1 is 2^64 - 1."""

TYPES: Dict[str, Tuple[str, ...]] = {
    **{word: ("date", "timestamp") for word in EPOCHS},
    BASE64: ("binary",),
    UNSCALED: ("decimal",),
    UNSIGNED: ("decimal",),
}
"""The types of columns that each word is for."""

_QUOTED = re.compile("'[^']*'")
_ZONE_LETTERS = re.compile("[VzOXxZ]")


def names_zone(pattern: str) -> bool:
    """Return whether texts of a datetime pattern say their zone, or may."""
    return bool(_ZONE_LETTERS.search(_QUOTED.sub("", pattern)))
