"""Types that fit the values of all files of a folder, and how many rows show it."""

from __future__ import annotations

import csv
import json
import re
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterator, List, Mapping, Sequence, Tuple

from lake_local.onboard import personal
from lake_local.onboard.csv_dialect import rows_of
from lake_local.onboard.date_texts import COMPACT, DateTexts
from lake_local.onboard.file_types import (
    NOT_AVAILABLE,
    NULLS,
    TEXTS,
    json_records,
    type_of,
)
from lake_local.onboard.number_texts import NumberTexts
from lake_local.onboard.file_keys import KeyRows
from lake_local.onboard.stores import Store, opened
from lake_local.onboard.text_encoding import lines_of, UTF_8

SECONDS = 20.0
"""How long values are read, of all tables of one command together."""

LOOK_AT_CLOCK = 500
"""Rows between two looks at the clock."""

MOST_NESTED = 20_000
"""Lists and objects of a column that are kept to find their type."""

PLAUSIBLE_MISFITS = 100
NEAR_SHARE = 0.01
"""A type that all values but this share fit is worth a comment."""


TWO_NUMBERS = (
    "numbers in one of two forms: 1,234 may be 1234 or 1.234. Kept as text; if you know, "
    "declare a number with numbers"
)


@dataclass
class _Candidate:
    """A type that a column may have, and the values that do not fit it."""

    pattern: re.Pattern[str]
    misfits: int = 0
    first: str = ""
    """Where the first misfit is: file and row."""


@dataclass
class Column:
    """What is known of a column's values."""

    candidates: Dict[str, _Candidate] = field(
        default_factory=lambda: {x: _Candidate(p) for x, p in TEXTS.items()}
    )
    kinds: set[str] = field(default_factory=set)
    seen: int = 0
    places: int = 0
    has_point: bool = False
    nested: List[Any] = field(default_factory=list)
    emails: int = 0
    phones: int = 0
    absent: Dict[str, int] = field(default_factory=dict)
    """Words that may stand for no value, with how often they do."""
    date_texts: DateTexts = field(default_factory=DateTexts)
    number_texts: NumberTexts = field(default_factory=NumberTexts)

    def add(self, value: Any, where: Callable[[], str]) -> None:
        """Take a value in account; `where` says its file and row."""
        self.seen += 1
        if isinstance(value, (list, dict)):
            self.kinds.add("nested")
            if len(self.nested) < MOST_NESTED:
                self.nested.append(value)
        elif isinstance(value, bool):
            self.kinds.add("bool")
        elif isinstance(value, str) and value in NOT_AVAILABLE:
            self.seen -= 1
            self.absent[value] = self.absent.get(value, 0) + 1
        elif isinstance(value, str):
            self.kinds.add("text")
            self._text(value, where)
            self._looks(value)
        else:
            self.kinds.add("number")
            self._text(json.dumps(value), where)

    def _looks(self, text: str) -> None:
        if "@" in text:
            self.emails += bool(personal.EMAIL.fullmatch(text))
        elif text[:1] in "+0(":
            self.phones += bool(personal.PHONE.fullmatch(text))
        self.date_texts.add(text)
        self.number_texts.add(text)

    @property
    def is_text_with_absent(self) -> bool:
        """Whether words such as NA are texts here as the others are."""
        return bool(self.absent) and self.type == "string"

    @property
    def format(self) -> str:
        """The format that reads the values as dates or times, where they need one."""
        return self.date_texts.found if self._may_need_a_format else ""

    @property
    def _may_need_a_format(self) -> bool:
        read = [
            self.candidates[each]
            for each in ("date", "timestamp")
            if each in self.candidates
        ]
        return self.kinds == {"text"} and all(each.misfits for each in read)

    @property
    def numbers(self) -> Dict[str, Any]:
        """The form that all values are numbers in, where no type reads them without it."""
        return self.number_texts.found if self.kinds == {"text"} else {}

    def _text(self, text: str, where: Callable[[], str]) -> None:
        before, point, after = text.partition(".")
        if point:
            self.has_point = True
            if after.isdigit():
                self.places = max(self.places, len(after))
        for name, each in list(self.candidates.items()):
            if not each.pattern.fullmatch(text):
                each.misfits += 1
                each.first = each.first or where()
                rare = each.misfits <= PLAUSIBLE_MISFITS
                if not rare and each.misfits * 10 > self.seen:
                    del self.candidates[name]

    @property
    def type(self) -> str:
        """The type that holds all values; text where there are none."""
        if self.kinds == {"nested"}:
            return type_of(self.nested)
        if self.kinds == {"bool"}:
            return "boolean"
        if len(self.kinds) != 1:
            return "string"
        if self.format:
            return "timestamp" if self.date_texts.is_time else "date"
        if self.numbers:
            return self.number_texts.type
        for name, each in self.candidates.items():
            if not each.misfits and (name != "double" or self.has_point):
                return self._whole(name)
        return "string"

    def words(self, rows: int) -> str:
        """Return how sure the type is, for a comment; empty for text that nothing else fits.

        Args:
            rows: how many rows were read, with those that have no value here.
        """
        if not self.seen:
            return f"no value in {rows:,} rows"
        if self.kinds == {"nested"} and self.seen > len(self.nested):
            return f"fits the first {len(self.nested):,} of {self.seen:,} values"
        if self.kinds == {"text"} and self.number_texts.is_ambiguous:
            return TWO_NUMBERS
        if self._may_need_a_format and self.date_texts.doubt:
            return self.date_texts.doubt
        empty = rows - self.seen
        of_them = f", {empty:,} without a value" if empty else ""
        if self.type != "string":
            words = f"{rows:,} of {rows:,} rows fit{of_them}"
            compact = self.kinds == {"text"} and self.date_texts.is_compact
            return f"{words}; {COMPACT}" if compact else words
        return self._near(rows) if self.kinds == {"text"} else ""

    def _near(self, rows: int) -> str:
        """Return the type that nearly all values fit, and where the first other one is."""
        for name, each in self.candidates.items():
            if 0 < each.misfits <= self.seen * NEAR_SHARE:
                return (
                    f"{self._whole(name)} fits {rows - each.misfits:,} of {rows:,} rows,"
                    f" not {each.first}"
                )
        return ""

    def _whole(self, name: str) -> str:
        return f"decimal(38,{self.places})" if name == "decimal" else name


@dataclass
class Survey:
    """What the files of a folder hold, as far as they were read in time."""

    columns: Dict[str, Column] = field(default_factory=dict)
    rows: int = 0
    files: int = 0
    of_files: int = 0
    in_time: bool = True
    nulls: set[str] = field(default_factory=set)
    keys: KeyRows = field(default_factory=KeyRows)
    unread: List[str] = field(default_factory=list)
    is_csv: bool = True

    def no_numbers(self) -> NumberTexts:
        """Return what is known of texts before any: only those of CSV have a form."""
        return NumberTexts() if self.is_csv else NumberTexts(forms=[])

    @property
    def words(self) -> str:
        """How much was read."""
        files = f"{self.files:,} of {self.of_files:,} files"
        if self.in_time:
            return f"types fit all {self.rows:,} rows of {files}"
        return f"types fit the {self.rows:,} rows, of {files}, that were read in time"


def survey(
    store: Store, paths: Sequence[str], form: Mapping[str, Any], deadline: float
) -> Survey:
    """Read the files, in their order, until all are read or time is up.

    Args:
        form: the files' format, as a spec has it.
        deadline: a time of `time.monotonic`; some rows are read even after it.
    """
    found = Survey(of_files=len(paths), is_csv=form["type"] == "csv")
    for path in paths:
        if found.rows and time.monotonic() > deadline:
            found.in_time = False
            break
        before = found.rows
        try:
            with opened(store, path) as stream:
                lines = lines_of(stream, form.get("encoding", UTF_8))
                records = _csv if form["type"] == "csv" else json_records
                _read(found, path, records(path, lines, form), deadline)
            found.files += found.rows > before
        except (ValueError, OSError, EOFError, csv.Error) as error:
            found.files += found.rows > before
            found.unread.append(f"{path} after {found.rows - before:,} rows: {error}")
    return found


def _read(
    found: Survey, path: str, records: Iterator[Dict[str, Any]], deadline: float
) -> None:
    begun = found.rows
    found.keys.begin()
    for record in records:
        found.rows += 1
        number = found.rows - begun
        found.keys.add({n: None if v in NULLS else v for n, v in _single(record)})
        for name, value in record.items():
            column = found.columns.get(name)
            if column is None:
                column = found.columns[name] = Column(number_texts=found.no_numbers())
            if value in NULLS and isinstance(value, str):
                found.nulls.add(value)
            elif value is not None and value != "":
                column.add(value, lambda: f"row {number:,} of {path}")
        if not number % LOOK_AT_CLOCK and time.monotonic() > deadline:
            found.in_time = False
            return


def _single(record: Dict[str, Any]) -> List[Tuple[str, Any]]:
    """Return the values that are no lists and no objects: others are no part of a key."""
    pairs = record.items()
    return [(n, v) for n, v in pairs if not isinstance(v, (list, dict))]


def _csv(path: str, text: Any, form: Mapping[str, Any]) -> Iterator[Dict[str, Any]]:
    rows = rows_of(text, form)
    names = next(rows, [])
    yield from (dict(zip(names, row)) for row in rows)


def readable(paths: Sequence[str], chosen: str) -> Tuple[List[str], List[str]]:
    """Return the paths of the chosen file's kind, it first and then the newest; and the others."""
    kind = kind_of(chosen)
    same = [each for each in paths if kind_of(each) == kind and each != chosen]
    others = [each for each in paths if kind_of(each) != kind]
    return [chosen, *sorted(same, reverse=True)], others


def kind_of(path: str) -> str:
    """Return the kind of a file by its name, whatever it is packed by."""
    plain = re.sub(r"\.(gz|bz2)$", "", path)
    ending = plain.rsplit(".", 1)[-1].lower()
    return "json" if ending in ("json", "jsonl", "ndjson") else ending
