"""References to tables in the SQL of a product: `{{ current('shop.orders') }}`.

They are no templates: these forms alone are known, and each becomes the name of a view
in the same line, so that the lines of the text stay what they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Iterator, List, Optional, Tuple, Union

CURRENT, HISTORY = "current", "history"
FORMS = (
    "{{ current('domain.table') }}, {{ history('domain.table') }} or "
    "{{ as_of(history('domain.table'), alias.column) }}"
)
VIEW = re.compile(r"input_(0|[1-9][0-9]*)")
"""Names of the views; a text must not have tables of such names itself."""

_APART = re.compile(
    r"(?<!\w)[rR](?:'[^']*'|\"[^\"]*\")|"  # texts in which a backslash is one
    r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`"  # texts and quoted names
    r"|--[^\n]*|/\*.*?\*/"  # comments
    r"|\{\{(?P<inner>.*?)\}\}|(?P<other>\{[{%#])",
    re.DOTALL,
)
_NAME = r"[a-z][a-z0-9_]{0,62}"
_TABLE = (
    r"(?P<layer>current|history)\(\s*"
    rf"(?P<quote>['\"])(?P<table>{_NAME}\.{_NAME})(?P=quote)\s*\)"
)
_COLUMN = r"(?P<alias>[A-Za-z_]\w*)\.(?P<column>[A-Za-z_]\w*)"
_PLAIN = re.compile(rf"\s*{_TABLE}\s*")
_AS_OF = re.compile(rf"\s*as_of\(\s*{_TABLE}\s*,\s*{_COLUMN}\s*\)\s*")
_NO_DOMAIN = re.compile(rf"\s*(?:current|history)\(\s*['\"]({_NAME})['\"]\s*\)\s*")


@dataclass(frozen=True)
class Reference:
    """One use of a table, with its place in the text.

    `as_of` is the alias and the column of the time, if it joins by time.
    """

    view: str
    table: str
    layer: str
    line: int
    as_of: Optional[Tuple[str, str]] = None


@dataclass(frozen=True)
class BadReference:
    """Braces that are no reference, with what to do."""

    line: int
    text: str
    hint: str


@dataclass(frozen=True)
class ReferencedSql:
    """A text whose references are names of views, and what they refer to."""

    sql: str
    references: Tuple[Reference, ...]
    bad: Tuple[BadReference, ...]

    @property
    def tables(self) -> Tuple[str, ...]:
        """The tables that it reads, each once, in the order of the text."""
        return tuple(dict.fromkeys(each.table for each in self.references))


def find_references(text: str) -> ReferencedSql:
    """Replace the references of a text by names of views.

    Example: `FROM {{ current('shop.orders') }} AS o` becomes `FROM input_0  AS o` and one
    reference to `shop.orders`. Braces in texts and comments are no references.
    """
    parts: List[str] = []
    found: List[Reference] = []
    bad: List[BadReference] = []
    end = 0
    for match in _braces(text):
        line = text.count("\n", 0, match.start()) + 1
        reference = _reference(match["inner"], match[0], f"input_{len(found)}", line)
        if isinstance(reference, BadReference):
            bad.append(reference)
            continue
        found.append(reference)
        parts += [text[end : match.start()], _in_its_place(reference.view, match[0])]
        end = match.end()
    return ReferencedSql("".join(parts) + text[end:], tuple(found), tuple(bad))


def _braces(text: str) -> Iterator["re.Match[str]"]:
    for match in _APART.finditer(text):
        if match["inner"] is not None or match["other"]:
            yield match


def _reference(
    inner: Optional[str], text: str, view: str, line: int
) -> Union[Reference, BadReference]:
    if inner is None:
        return BadReference(line, text, f"Templates are not supported. Write {FORMS}.")
    plain, as_of = _PLAIN.fullmatch(inner), _AS_OF.fullmatch(inner)
    if plain:
        return Reference(view, plain["table"], plain["layer"], line)
    if as_of and as_of["layer"] == HISTORY:
        time = (as_of["alias"].lower(), as_of["column"].lower())
        return Reference(view, as_of["table"], HISTORY, line, time)
    if as_of:
        hint = f"as_of reads history: write history('{as_of['table']}') in it."
        return BadReference(line, text, hint)
    named = _NO_DOMAIN.fullmatch(inner)
    if named:
        hint = f"Name the domain too, as in current('shop.{named[1]}')."
        return BadReference(line, text, hint)
    return BadReference(line, text, f"Write {FORMS}.")


def _in_its_place(view: str, text: str) -> str:
    """Return the view's name with the line breaks of the text that it replaces."""
    return f"{view} " + "\n" * text.count("\n")
