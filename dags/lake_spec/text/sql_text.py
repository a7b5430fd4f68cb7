"""Values and names inside a SQL text that Spark, and HoodieStreamer, read.

HoodieStreamer cuts its SQL file at every semicolon, also inside a literal, and
Spark replaces `${name}` anywhere in a statement. So a literal spells whatever
is not plain as `\\uXXXX`, which Spark turns back after both have looked.
"""

from __future__ import annotations

import string

_PLAIN = frozenset(string.ascii_letters + string.digits + " /._-=:,+@")
_GLOB = frozenset("\\*?[]{}")


def sql_literal(text: str) -> str:
    """Return a string literal of this text: plain ASCII, without semicolons."""
    return "'" + "".join(_spelled(character) for character in text) + "'"


def sql_path(path: str) -> str:
    """Return a literal for the `path` of a data source: one file, never a pattern."""
    escaped = (f"\\{each}" if each in _GLOB else each for each in path)
    return sql_literal("".join(escaped))


def sql_identifier(name: str) -> str:
    """Return a quoted name. Raises ValueError for one that SQL files cannot contain.

    There is no escape inside a quoted name but the doubled quote.
    """
    reason = not_a_name(name)
    if reason:
        raise ValueError(
            f"{name!r} cannot be used as a name in SQL files: {reason}. Rename it in "
            "the source."
        )
    return "`" + name.replace("`", "``") + "`"


def _spelled(character: str) -> str:
    if character in _PLAIN:
        return character
    # Java counts in units of UTF-16: an emoji is two of them.
    units = character.encode("utf-16-be", "surrogatepass")
    pairs = (units[at : at + 2] for at in range(0, len(units), 2))
    return "".join(f"\\u{int.from_bytes(pair, 'big'):04X}" for pair in pairs)


def not_a_name(name: str) -> str:
    """Return why a name cannot stand in a SQL file; empty where it can."""
    if not name:
        return "it is empty"
    if ";" in name:
        return "a semicolon ends the statement"
    if "${" in name:
        return "'${' starts a variable"
    if not name.isprintable():
        return "it contains a character that does not print"
    return ""
