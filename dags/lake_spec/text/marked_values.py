"""Values of rows in messages: marked where a message is built, left out where it is written.

Who builds a message knows which part of it is from a row; who writes it knows whether the
table shows values:

    words = f"column name: cannot be read as int: {row_value('Jane')}"
    unmarked(words)      # column name: cannot be read as int: Jane
    without_values(words)  # column name: cannot be read as int: (not shown)

The marks are characters of the text, so they stay in errors, in SQL and in texts that are
made of others. They are noncharacters of Unicode, which no text that is meant for others
has; U+FDD0 is another mark (schema/json_text.py).
"""

from __future__ import annotations

import re
from typing import Any

from lake_spec.text.sql_text import sql_literal

BEGIN, END = "\ufdd1", "\ufdd2"
NOT_SHOWN = "(not shown)"
"""What a message has in the place of a value."""

_MARKED = re.compile(f"{BEGIN}[^{END}]*(?:{END}|$)")
_REPEATED = re.compile(rf"{re.escape(NOT_SHOWN)}(?:, {re.escape(NOT_SHOWN)})+")


def row_value(text: Any) -> str:
    """Mark a text that is, or may quote, a value of a row."""
    return f"{BEGIN}{unmarked(str(text))}{END}"


def quoted_value(text: Any) -> str:
    """Mark a value as Python writes it, in quotes."""
    return row_value(repr(text))


def sql_value(text: str) -> str:
    """Return SQL that marks a text; null of null."""
    plain = f"translate({text}, {sql_literal(BEGIN + END)}, '')"
    return f"{sql_literal(BEGIN)} || {plain} || {sql_literal(END)}"


def unmarked(text: str) -> str:
    """Return the text with its values, without marks."""
    return text.replace(BEGIN, "").replace(END, "")


def without_values(text: str) -> str:
    """Return the text without its values; one that was cut off goes to its end."""
    return _REPEATED.sub(NOT_SHOWN, _MARKED.sub(NOT_SHOWN, text).replace(END, ""))
