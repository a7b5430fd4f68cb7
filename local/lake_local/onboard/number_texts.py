"""Which form the numbers of a column are written in, where no type reads them as they are.

A text that is one number in one form and another in a second proves nothing: `1,234` may be
1234 or 1.234. A form is found where it alone reads all texts of the column, and one of them
shows it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Dict, List, Tuple

from lake_spec.model.number_format import DecimalMark, GroupMark, NumberFormat

from lake_local.onboard.file_types import FLOAT

_COMMA, _POINT = DecimalMark.COMMA, DecimalMark.POINT
FORMS: Tuple[NumberFormat, ...] = tuple(
    NumberFormat(decimal, group)
    for decimal, groups in (
        (_COMMA, (GroupMark.POINT, GroupMark.SPACE, GroupMark.APOSTROPHE)),
        (_POINT, (GroupMark.COMMA, GroupMark.SPACE, GroupMark.APOSTROPHE)),
    )
    for group in groups
)
_PATTERNS = {form: re.compile(form.pattern, re.ASCII) for form in FORMS}
_WHOLE = re.compile("[1-9][0-9]*")
_CODE = re.compile("[+]|-?0[0-9]|.*[eE]")
"""How a phone number or a code begins, and no number; and numbers by a power of ten."""
MOST_DIGITS = 18
"""Characters of a whole number that a bigint always holds."""


@dataclass
class NumberTexts:
    """What is known of a column's texts as numbers in some form."""

    forms: List[NumberFormat] = field(default_factory=lambda: list(FORMS))
    """Those that read all texts up to now."""
    shows: bool = False
    """Whether one of them is no number as programs write it."""
    places: Dict[NumberFormat, int] = field(default_factory=dict)
    """Most digits behind the decimal mark, by form; none where no text has one."""
    grouped: Dict[NumberFormat, bool] = field(default_factory=dict)
    digits: int = 0

    def add(self, text: str) -> None:
        """Take a text into account."""
        self.digits = max(self.digits, len(text))
        if not self.forms or _WHOLE.fullmatch(text):  # fits all forms
            return
        fitting = (each for each in self.forms if _PATTERNS[each].fullmatch(text))
        self.forms = [] if _CODE.match(text) else list(fitting)
        self.shows = self.shows or not FLOAT.fullmatch(text)
        for each in self.forms:
            _, mark, fraction = text.partition(each.decimal.value)
            if mark:
                self.places[each] = max(self.places.get(each, 0), len(fraction))
            if any(group in text for group in each.groups):
                self.grouped[each] = True

    @property
    def found(self) -> Dict[str, Any]:
        """The form as a spec has it; empty if none is needed, or two are possible."""
        values = {self._value(each) for each in self.forms} if self.shows else set()
        if len(values) != 1 or self._is_code:
            return {}
        decimal, group = values.pop()
        found = {"decimal": decimal} if decimal == _COMMA.value else {}
        return {**found, "group": group} if group else found

    @property
    def is_ambiguous(self) -> bool:
        """Whether the texts are numbers in two forms that read them differently."""
        values = {self._value(each) for each in self.forms}
        return self.shows and len(values) > 1 and not self._is_code

    @property
    def type(self) -> str:
        """The type of the numbers in the form that was found."""
        places = self.places.get(self.forms[0])
        if places is None and self.digits <= MOST_DIGITS:
            return "bigint"
        return f"decimal(38,{places or 0})"

    @property
    def _is_code(self) -> bool:
        """Whether all are whole and in groups by a blank or the like: `552 100 554`."""
        marks = (GroupMark.SPACE, GroupMark.APOSTROPHE)
        return not any(self.places.values()) and self.forms[0].group in marks

    def _value(self, form: NumberFormat) -> Tuple[str, str]:
        """Return what of a form counts: a group that no text has does not."""
        assert form.group is not None  # each of FORMS has one
        return form.decimal.value, form.group.value if self.grouped.get(form) else ""
