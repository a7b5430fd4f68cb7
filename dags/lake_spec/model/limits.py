"""What a value of a setting must be beyond its type: numbers, lengths and forms of texts.

They stand at the fields of the model (`setting(..., limits=...)`). From there come the
rule that refuses other values (rules/limits.py), the JSON Schema and the reference pages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional, Union

Number = Union[int, float]


@dataclass(frozen=True)
class Limits:
    """The least and the greatest number, both allowed; `above` is not itself allowed."""

    least: Optional[Number] = None
    greatest: Optional[Number] = None
    above: Optional[Number] = None

    @property
    def words(self) -> str:
        """The limits, as in `1 to 64`."""
        if self.above is not None:
            return f"above {self.above}"
        if self.greatest is None:
            return f"{self.least} or more"
        return f"{self.least} to {self.greatest}"

    @property
    def how_many(self) -> str:
        """The limits of a number of entries, as in `1 to 30` or `up to 16`."""
        return self.words if self.least else f"up to {self.greatest}"

    @property
    def hint(self) -> str:
        """What to write in the place of a number beyond the limits."""
        if self.least is not None and self.greatest is not None:
            return f"Choose a number from {self.words}."
        return f"Write {'a number ' if self.above is not None else ''}{self.words}."

    def hold(self, value: Number) -> bool:
        """Return whether a number is within them; one that is not finite never is."""
        return (
            (self.least is None or value >= self.least)
            and (self.greatest is None or value <= self.greatest)
            and (self.above is None or value > self.above)
            and abs(value) != float("inf")
        )


SHARE = Limits(0, 1)


@dataclass(frozen=True)
class Form:
    """A regular expression of the whole text, and what to write in the place of others.

    The expression is of what Python, Java and JavaScript read alike.
    """

    pattern: str
    hint: str
    is_rough: bool = False
    """Whether a rule judges it, and says more: then this is for editors and pages alone."""

    def fits(self, text: str) -> bool:
        """Return whether a text has the form."""
        return re.fullmatch(self.pattern, text) is not None
