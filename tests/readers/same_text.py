"""Rows and types of any reader as texts that are equal where the rows are."""

from __future__ import annotations

import json
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any, Dict, Iterable, List, Mapping, Sequence

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
Columns = Dict[str, str]
"""The type of each column, as Spark writes it."""


def row_texts(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> List[str]:
    """Return a text for each row, sorted; columns without a value are left out."""
    return sorted(
        json.dumps(
            {n: plain(v) for n, v in zip(names, row) if v is not None}, sort_keys=True
        )
        for row in rows
    )


def plain(value: Any) -> Any:
    """Return a value as JSON that no other value of its type has.

    A map is a list of pairs, a timestamp its microseconds since 1970.
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (float, Decimal)):
        return repr(value)
    if isinstance(value, datetime):
        zoned = value if value.tzinfo else value.replace(tzinfo=timezone.utc)
        since = zoned - EPOCH
        return (since.days * 86400 + since.seconds) * 10**6 + since.microseconds
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if value and isinstance(value[0], tuple):
        return sorted(([plain(k), plain(v)] for k, v in value), key=json.dumps)
    return [plain(each) for each in value]
