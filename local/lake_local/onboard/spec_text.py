"""Specs as YAML with comments: what a person would have written manually."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from textwrap import wrap
from typing import Any, Dict, Iterable, List, Tuple
from zlib import crc32

GUESS = "GUESS"
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./<>()*-]*(?:,[A-Za-z0-9_<>()]+)*")
_WORDS = frozenset("null true false yes no on off y n".split())
_UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff\ufeff]+"
)
_LONGEST_COMMENT = 160
_WIDTH = 84
"""Characters of a line of a comment that stands above its setting."""


@dataclass(frozen=True)
class ColumnText:
    """A column of a spec; `sources` where the source names it otherwise.

    `left_out` says why it stands there as a comment only.
    """

    name: str
    type: str
    sources: Tuple[str, ...] = ()
    format: str | None = None
    numbers: Dict[str, Any] = field(default_factory=dict)
    guess: str = ""
    comment: str = ""
    description: str = ""
    """What the database's own comment says of it."""
    sensitivity: str = ""
    left_out: str = ""
    is_ignored: bool = False
    """Whether the source sends it now and then although it is left out."""


@dataclass(frozen=True)
class Guess:
    """A value of a spec, and what to check of it.

    `meaning` is what the setting means, by its field in the model.
    """

    value: Any
    why: str
    meaning: str = ""


@dataclass(frozen=True)
class SpecText:
    """All that a table's file says. Values may be a Guess."""

    head: Tuple[str, ...]
    name: str
    description: Any
    owner: Any
    source: Dict[str, Any]
    columns: Tuple[ColumnText, ...]
    key: Any
    order_by: Any = None
    storage: Dict[str, Any] = field(default_factory=dict)
    size: str = ""
    columns_guess: str = ""
    """What to check of all columns at once."""

    @property
    def guesses(self) -> int:
        """How many marks its text has."""
        return self.text.count(f"# {GUESS}: ")

    @property
    def text(self) -> str:
        """The file."""
        lines = [f"# {one_line(each)}" for each in self.head]
        lines += _entry("name", self.name)
        lines += _entry("description", self.description)
        lines += _entry("owner", self.owner)
        lines += _entry("source", self.source)
        if self.columns:
            lines.append(f"columns:{_comment(self.columns_guess)}")
            lines += [_column(each) for each in self.columns]
        lines += _entry("key", self.key)
        if self.order_by is not None:
            lines += _entry("order_by", self.order_by)
        if self.storage:
            lines.append(f"storage: {flow(self.storage)}{_comment('', self.size)}")
        return "\n".join(lines) + "\n"


def domain_text(name: str, owner: str) -> str:
    """Return the text of _domain.yml for a domain without one."""
    head = [f"# GUESS: check what {name} is about, and who answers for it."]
    words = f"Tables of {name}, onboarded from their source"
    lines = [*_entry("name", name), *_entry("description", words)]
    lines += [*_entry("owner", owner), *_entry("schedules", _schedules(name))]
    return "\n".join([*head, *lines]) + "\n"


def _schedules(domain: str) -> Dict[str, str]:
    """Return a weekly maintenance, on Sunday mornings, of each domain at another minute."""
    minutes = crc32(domain.encode()) % (4 * 60)
    return {"maintenance": f"{minutes % 60} {1 + minutes // 60} * * 0"}


def _entry(name: str, value: Any, indent: str = "") -> List[str]:
    why = meaning = ""
    if isinstance(value, Guess):
        value, why, meaning = value.value, value.why, value.meaning
    mark = _comment(why)
    lines = [f"{indent}# {each}" for each in wrap(meaning, _WIDTH - len(indent))]
    if not isinstance(value, dict) or "type" in value or len(value) == 1:
        return [*lines, f"{indent}{name}: {flow(value, inside=False)}{mark}"]
    lines.append(f"{indent}{name}:{mark}")
    for each, inner in value.items():
        lines += _entry(each, inner, indent + "  ")
    return lines


def _column(column: ColumnText) -> str:
    settings: Dict[str, Any] = {"type": column.type}
    if column.sources:
        settings["source"] = list(column.sources)
    if column.format:
        settings["format"] = column.format
    if column.numbers:
        settings["numbers"] = column.numbers
    if column.sensitivity:
        settings["sensitivity"] = column.sensitivity
    if column.description:
        settings["description"] = column.description
    bare = len(settings) == 1
    value = flow(column.type, inside=False) if bare else flow(settings)
    line = f"{scalar(column.name)}: {value}"
    if column.left_out:
        return f"  # {line}  # left out: {one_line(column.left_out)}"
    return f"  {line}{_comment(column.guess, column.comment)}"


def _comment(guess: str, words: str = "") -> str:
    parts = [f"{GUESS}: {one_line(guess)}"] if guess else []
    parts += [one_line(words)] if words else []
    return f"  # {'; '.join(parts)}" if parts else ""


def one_line(text: str) -> str:
    """Format a text of the source for a comment: printable, short, on one line."""
    plain = " ".join(_UNSEEN.sub(" ", text).split())
    if len(plain) > _LONGEST_COMMENT:
        plain = f"{plain[: _LONGEST_COMMENT - 3]}..."
    return plain


def flow(value: Any, *, inside: bool = True) -> str:
    """Return a value on one line; `inside` braces a comma in a text needs quotes."""
    if isinstance(value, dict):
        parts = (f"{scalar(name)}: {flow(each)}" for name, each in value.items())
        return "{%s}" % ", ".join(parts)
    if isinstance(value, (list, tuple)):
        return "[%s]" % ", ".join(_items(value))
    if isinstance(value, str):
        return scalar(value, inside=inside)
    if isinstance(value, float):  # YAML takes 5e-07 as a text
        return re.sub(r"^(-?\d+)e", r"\1.0e", json.dumps(value))
    return json.dumps(value)


def _items(values: Iterable[Any]) -> Iterable[str]:
    return (flow(each) for each in values)


def scalar(text: str, *, inside: bool = True) -> str:
    """Return a text, in quotes unless every reader of YAML takes it as it stands."""
    is_words = not inside and re.fullmatch(
        r"[A-Za-z][\w ,.()/-]*[\w.)]", text, re.ASCII
    )
    is_plain = _PLAIN.fullmatch(text) and not (inside and "," in text)
    if (is_plain or is_words) and text.lower() not in _WORDS:
        return text
    return _UNSEEN.sub(_escaped, json.dumps(text, ensure_ascii=False))


def _escaped(found: re.Match[str]) -> str:
    return "".join(f"\\u{ord(each):04x}" for each in found[0])
