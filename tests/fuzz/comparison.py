"""What the lake made of a file against the verdict about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, List, Mapping, Optional, Set

from tests.fuzz.judge import ANY, Record, Verdict


@dataclass(frozen=True)
class Ingested:
    """What the lake made of one file: rows by record, bad records, or its refusal."""

    rows: Mapping[int, Any]
    bad: Mapping[int, str]
    refused: Optional[str]


def difference(verdict: Verdict, found: Ingested) -> str:
    """What is wrong with the outcome, in words; '' if it is right."""
    if found.refused:
        if found.rows or found.bad:
            return f"refused ({found.refused}), and rows of it were ingested"
        if verdict.must_refuse or verdict.may_refuse:
            return "" if says_what(found.refused) else f"no reason: {found.refused}"
        return f"refused: {found.refused[:300]}"
    if verdict.must_refuse:
        kept = f"{len(found.rows)} rows ingested, {len(found.bad)} quarantined"
        return f"not refused, but {verdict.must_refuse}: {kept}"
    return _records_differ(verdict.records, found)


def says_what(reason: str) -> bool:
    """Whether a refusal is in words of the product: no name of a class alone."""
    return len(reason) > 10 and not reason.startswith("cannot be read: Caused by: java")


def _records_differ(records: Any, found: Ingested) -> str:
    """Records are compared by number; one that may be passed over shifts the others."""
    total = len(found.rows) + len(found.bad)
    for skipped in _passed_over(records):
        kept = [each for i, each in enumerate(records) if i not in skipped]
        if len(kept) == total or not skipped:
            words = _first_difference(kept, found)
            if not words:
                return ""
    return words


def _passed_over(records: Any) -> List[Set[int]]:
    optional = {i for i, each in enumerate(records) if each.optional}
    return [optional, set()] if optional else [set()]


def _first_difference(records: List[Record], found: Ingested) -> str:
    total = len(found.rows) + len(found.bad)
    if total != len(records):
        return f"{len(records)} records, of which the lake has {total}"
    for number, record in enumerate(records, 1):
        row, bad = found.rows.get(number), found.bad.get(number)
        if record.row is None:
            if row is not None:
                return f"record {number} is bad ({record.reason}), ingested as {_short(row)}"
        elif row is None:
            if not record.either:
                return f"record {number} is good, quarantined: {str(bad)[:300]}"
        elif not same(record.row, row):
            return f"record {number} is {_short(record.row)}, ingested as {_short(row)}"
    return ""


def same(wanted: Any, found: Any) -> bool:
    """Equal values of equal types; text exactly, decimals by their digits, NaN is NaN.

    A struct may have more fields: another file of the batch brought them.
    """
    if wanted is ANY:
        return True
    if isinstance(wanted, tuple):
        return (
            isinstance(found, tuple)
            and len(wanted) <= len(found)
            and all(same(one, other) for one, other in zip(wanted, found))
        )
    if isinstance(wanted, (bool, str, int, float, Decimal, datetime, date)):
        is_equal = wanted == found or (wanted != wanted and found != found)
        return type(wanted) is type(found) and is_equal
    return wanted is found


def _short(row: Any) -> str:
    return repr(row)[:400]
