"""Which format the dates and times of a column are written in, where they need one.

A text that is a date in one order of day and month and another in a second proves nothing:
01/02/2026 may be in January or in February. A format is found where it alone reads all
texts of the column.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from typing import Dict, List, Optional, Set

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december"),
)
_LONG = frozenset(_MONTHS)
_NUMBERS_OF = {
    name: number
    for number, month in enumerate(_MONTHS, start=1)
    for name in (month, month[:3])
}

_CLOCK = (
    r"(?:(?P<joint>[T ])(?P<hour>\d{1,2}):(?P<minute>\d\d)(?P<second>:\d\d)?"
    r"(?P<fraction>[.,]\d{1,9})?(?P<half> ?[AaPp][Mm])?(?P<zone>Z|[+-]\d\d:?\d\d)?)?"
)
_NUMBERS = re.compile(
    r"(?P<one>\d{1,4})(?P<mark>[./-])(?P<two>\d{1,2})(?P=mark)(?P<three>\d{1,4})"
    + _CLOCK,
    re.ASCII,
)
_DAY_FIRST = re.compile(
    r"(?P<one>\d{1,2})(?P<mark>[ ./-])(?P<two>[A-Za-z]{3,9})(?P=mark)(?P<three>\d{4})"
    + _CLOCK,
    re.ASCII,
)
_MONTH_FIRST = re.compile(
    r"(?P<one>[A-Za-z]{3,9})(?P<mark> )(?P<two>\d{1,2})(?P<comma>,?) (?P<three>\d{4})"
    + _CLOCK,
    re.ASCII,
)
_COMPACT = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")
COMPACT = "all may be days too: if they are, declare {type: date, format: yyyyMMdd}"
_YEAR_DIGITS, _HOURS, _HALF, _MINUTES = 4, 24, 12, 60


@dataclass(frozen=True)
class _Shape:
    """How texts are written, but for what may differ from one to the next."""

    has_words: bool
    mark: str
    comma: str
    joint: str
    half: str
    zone: str


@dataclass
class DateTexts:
    """What is known of a column's texts as dates or times in some format."""

    orders: List[str] = field(default_factory=lambda: ["dMy", "Mdy", "yMd"])
    """Those that read all texts up to now."""
    shape: Optional[_Shape] = None
    first: str = ""
    is_short: Set[str] = field(default_factory=set)
    """The letters of what has one digit in some text."""
    seconds: Set[bool] = field(default_factory=set)
    fractions: Dict[str, int] = field(default_factory=dict)
    """Most digits of a fraction behind its mark; "" for none."""
    words: Set[bool] = field(default_factory=set)
    """Whether names of months are whole; of May, nothing shows it."""
    has_short_years: bool = False
    is_compact: bool = True
    """Whether all are eight digits that could be a day."""

    def add(self, text: str) -> None:
        """Take a text into account."""
        self.is_compact = self.is_compact and bool(_COMPACT.fullmatch(text))
        if not self.orders:
            return
        matches = (
            each.fullmatch(text) for each in (_NUMBERS, _DAY_FIRST, _MONTH_FIRST)
        )
        found = next(filter(None, matches), None)
        shape = _shape(found) if found else None
        if found is None or not self._clock(found) or (self.shape or shape) != shape:
            self.orders = []
            return
        self.shape, self.first = shape, self.first or text
        self._dates(found)

    def _clock(self, found: re.Match[str]) -> bool:
        """Note how the time is written; return whether there is one like it, or none."""
        if found["hour"] is None:
            return True
        hour = int(found["hour"])
        is_hour = 0 < hour <= _HALF if found["half"] else hour < _HOURS
        if len(found["hour"]) == 1:
            self.is_short.add("h")
        self.seconds.add(found["second"] is not None)
        mark = (found["fraction"] or "")[:1]
        digits = len(found["fraction"] or "")
        self.fractions[mark] = max(self.fractions.get(mark, 0), digits - 1)
        is_second = int((found["second"] or ":0")[1:]) < _MINUTES
        has_base = found["second"] is not None or not mark
        return is_hour and is_second and has_base and int(found["minute"]) < _MINUTES

    def _dates(self, found: re.Match[str]) -> None:
        parts = found["one"], found["two"], found["three"]
        fitting = []
        for order in self.orders:
            by_letter = dict(zip(order, parts))
            if not _is_date(by_letter):
                continue
            fitting.append(order)
            for letter in "dM":
                if len(by_letter[letter]) == 1:
                    self.is_short.add(letter)
            self.has_short_years |= len(by_letter["y"]) != _YEAR_DIGITS
            month = by_letter["M"].lower()
            if month.isalpha() and month != "may":
                self.words.add(month in _LONG)
        self.orders = fitting

    @property
    def found(self) -> str:
        """The format that alone reads all texts; empty if there is none, or two."""
        if len(self.formats) == 1 and not self.has_short_years:
            return self.formats[0]
        return ""

    @property
    def formats(self) -> List[str]:
        """The formats that read all texts, by Java's letters."""
        marks = set(self.fractions) - {""}
        if self.shape is None or len(marks) > 1 or len(self.words) > 1:
            return []
        return [self._format(order, self.shape) for order in self.orders]

    @property
    def is_time(self) -> bool:
        """Whether the texts have a time of day."""
        return bool(self.shape and self.shape.joint)

    @property
    def doubt(self) -> str:
        """Why texts that are dates get no format; empty if they are none, or have one."""
        formats = self.formats
        kind = "timestamp" if self.is_time else "date"
        if formats and self.has_short_years:
            return (
                f"dates with years of two digits, as {self.first}: no setting says their"
                " century. Kept as text"
            )
        if len(formats) > 1:
            return (
                f"dates in one of two forms, as {self.first}: {' or '.join(formats)}. Kept as"
                f" text; if you know, declare a {kind} with format"
            )
        return ""

    def _format(self, order: str, shape: _Shape) -> str:
        letters = {"y": "yyyy"}
        letters["d"] = "d" if "d" in self.is_short else "dd"
        letters["M"] = "M" if "M" in self.is_short else "MM"
        if shape.has_words:
            letters["M"] = "MMMM" if True in self.words else "MMM"
        one, two, three = (letters[each] for each in order)
        day = f"{one}{shape.mark}{two}{shape.comma}{shape.mark}{three}"
        if not shape.joint:
            return day
        hour = "h" if shape.half else "H"
        time = hour if "h" in self.is_short else hour * 2
        joint = "'T'" if shape.joint == "T" else shape.joint
        fraction = self._fraction()
        seconds = f":ss{fraction}"
        if self.seconds == {True, False}:
            seconds = f"[{seconds}]"
        elif self.seconds == {False}:
            seconds = ""
        return f"{day}{joint}{time}:mm{seconds}{shape.half}{shape.zone}"

    def _fraction(self) -> str:
        marks = sorted(set(self.fractions) - {""})
        if not marks:
            return ""
        fraction = marks[0] + "S" * self.fractions[marks[0]]
        return f"[{fraction}]" if "" in self.fractions else fraction


def _shape(found: re.Match[str]) -> _Shape:
    parts = found.groupdict()
    half, zone = parts["half"] or "", parts["zone"] or ""
    if half:
        half = " a" if half[0] == " " else "a"
    if zone:
        zone = "XXX" if zone == "Z" or ":" in zone else "XX"
    has_words = parts["one"].isalpha() or parts["two"].isalpha()
    joint, comma = parts["joint"] or "", parts.get("comma") or ""
    return _Shape(has_words, parts["mark"], comma, joint, half, zone)


def _is_date(parts: Dict[str, str]) -> bool:
    year, month, day = parts["y"], parts["M"], parts["d"]
    if not (year.isdigit() and day.isdigit()) or len(day) > 2:
        return False
    if len(year) not in (2, _YEAR_DIGITS) or month.isdigit() and len(month) > 2:
        return False
    number = int(month) if month.isdigit() else _NUMBERS_OF.get(month.lower(), 0)
    try:
        date(int(year) + (2000 if len(year) == 2 else 0), number, int(day))
    except ValueError:
        return False
    return True
