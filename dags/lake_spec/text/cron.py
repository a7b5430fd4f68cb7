"""Checks schedules: five fields of cron, or a preset."""

from __future__ import annotations

from typing import Dict, NamedTuple, Set, Tuple

PRESETS = ("@hourly", "@daily", "@weekly", "@monthly", "@yearly")
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_DAYS = "sun mon tue wed thu fri sat".split()


class _Field(NamedTuple):
    """One field: what it is called, its bounds and the names of its numbers."""

    name: str
    low: int
    high: int
    names: Dict[str, int] = {}


_FIELDS: Tuple[_Field, ...] = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of month", 1, 31),
    _Field("month", 1, 12, {name: n for n, name in enumerate(_MONTHS, 1)}),
    _Field("day of week", 0, 7, {name: n for n, name in enumerate(_DAYS)}),
)


class BadCron(ValueError):
    """A text is not a schedule.

    Fix: Write five fields of cron, as in `0 3 * * *`, or a preset such as `@daily`.
    """


def check_cron(text: str) -> None:
    """Raise BadCron unless the text is a schedule."""
    if text in PRESETS:
        return
    parts = text.split(" ")
    if len(parts) != len(_FIELDS):
        names = ", ".join(field.name for field in _FIELDS)
        raise BadCron(
            f"Write five fields with single spaces ({names}), as in '0 3 * * *', or"
            f" one of: {', '.join(PRESETS)}."
        )
    for field, part in zip(_FIELDS, parts):
        for item in part.split(","):
            _check_item(field, item)
    _, _, days, months, weekdays = map(_numbers, _FIELDS, parts)
    if {day % 7 for day in weekdays} != set(range(7)):
        return  # cron takes a day that fits either of its two fields
    if min(days) > max(_LENGTHS[month - 1] for month in months):
        raise BadCron(
            f"No month of {parts[3]!r} has a day {parts[2]!r}, so it would never "
            "start. Choose a day that exists in one of the months."
        )


def _check_item(field: _Field, item: str) -> None:
    span, slash, step = item.partition("/")
    if slash and not (_is_number(step) and 1 <= int(step) <= field.high):
        raise BadCron(_words(field, item))
    if span == "*":
        return
    first, dash, last = span.partition("-")
    low = _number(field, first, item)
    if dash and _number(field, last, item) < low:
        raise BadCron(_words(field, item))


def _numbers(field: _Field, part: str) -> Set[int]:
    """Return the numbers that a checked part of a schedule matches."""
    found: Set[int] = set()
    for item in part.split(","):
        span, slash, step = item.partition("/")
        first, dash, last = span.partition("-")
        low, high = field.low, field.high
        if span != "*":
            low = _number(field, first, item)
            high = _number(field, last, item) if dash else high if slash else low
        found.update(range(low, high + 1, int(step or 1)))
    return found


def _number(field: _Field, text: str, item: str) -> int:
    number = field.names.get(text.lower(), int(text) if _is_number(text) else -1)
    if not field.low <= number <= field.high:
        raise BadCron(_words(field, item))
    return number


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 2


def _words(field: _Field, item: str) -> str:
    names = f" or {', '.join(field.names)}" if field.names else ""
    return (
        f"The {field.name} {item!r} is not valid: write {field.low} to "
        f"{field.high}{names}, `*`, a-b, a,b or */n."
    )
