"""A diagnostic: what is wrong with a spec, where, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Tuple, Union

LONGEST_VALUE = 60

Path = Tuple[Union[str, int], ...]
"""Keys and list positions from the top of a file down to a value."""


def key_path(path: Path) -> str:
    """Format a path for people: `quality[1].column`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}"
    return text.lstrip(".")


def shown(value: Any) -> str:
    """Format a value for a message: quoted, escaped and truncated."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    return text if len(text) <= LONGEST_VALUE else text[:LONGEST_VALUE] + "..."


def as_written(value: Any) -> Any:
    """Return a value as a spec has it: a list, and the word of a choice."""
    if isinstance(value, tuple):
        return [as_written(each) for each in value]
    return value.value if isinstance(value, Enum) else value


@dataclass(frozen=True)
class Diagnostic:
    """One fault of one file; line 0 means the file as a whole.

    `rule` is the id of the rule that found it: a function of rules/ or a ParsingId.
    """

    file: str
    line: int
    key_path: str
    value: Any
    message: str
    hint: str
    rule: str

    @property
    def what(self) -> str:
        """The diagnostic without its hint and rule."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        where = f"{self.key_path}: " if self.key_path else ""
        return f"{place}: {where}{self.message}."

    def __str__(self) -> str:
        return f"{self.what} {self.hint} [{self.rule}]"


@dataclass(frozen=True)
class Problem:
    """A problem of a value in a spec, before its file and line are known."""

    path: Path
    value: Any
    message: str
    hint: str
    rule: str = ""


def got(path: Path, value: Any, hint: str, rule: str = "") -> Problem:
    """Build a problem whose message is the value itself, as a spec has it."""
    written = as_written(value)
    return Problem(path, written, f"got {shown(written)}", hint, rule)
