"""How numbers are written as text, where that is not as programs write them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Optional

from lake_spec.model.spec_field import setting


class DecimalMark(str, Enum):
    """The character between whole digits and fractions."""

    POINT = "."
    """As in 1234.56."""
    COMMA = ","
    """As in 1234,56."""


class GroupMark(str, Enum):
    """The character between groups of three whole digits."""

    POINT = "."
    """As in 1.234.567."""
    COMMA = ","
    """As in 1,234,567."""
    SPACE = " "
    """As in 1 234 567, also by a no-break space (U+00A0, U+202F) or a thin one (U+2009)."""
    APOSTROPHE = "'"
    """As in 1'234'567, also by U+2019."""


_SAME = {GroupMark.SPACE: " \u00a0\u202f\u2009", GroupMark.APOSTROPHE: "'\u2019"}
"""The characters that are written for one mark."""


@dataclass(frozen=True)
class NumberFormat:
    """How the numbers of a file or a column are written."""

    decimal: DecimalMark = setting(
        "Character before the fraction.", DecimalMark.POINT, example=","
    )
    group: Optional[GroupMark] = setting(
        "Character between groups of three digits; a number may be without groups. "
        "If left out, a number with groups is a bad row.",
        None,
        example=".",
    )

    @property
    def pattern(self) -> str:
        """A pattern of Java and Python: the text of a number in this format.

        All groups but the first must have three digits.
        """
        whole = "[0-9]+"
        if self.group is not None:
            groups = f"[{re.escape(self.groups)}]"
            whole = f"(?:[0-9]{{1,3}}(?:{groups}[0-9]{{3}})+|{whole})"
        point = re.escape(self.decimal.value)
        number = f"(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)"
        return f"[+-]?{number}(?:[eE][+-]?[0-9]+)?"

    @property
    def words(self) -> str:
        """How messages name the form."""
        group = f", group {self.group.value!r}" if self.group else ""
        return f"decimal {self.decimal.value!r}{group}"

    @property
    def groups(self) -> str:
        """The characters between groups; '' if there are none."""
        return _SAME.get(self.group, self.group.value) if self.group else ""
