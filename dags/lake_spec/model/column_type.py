"""The types that a column can have: a small grammar of Spark SQL's."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import List, Tuple

from lake_spec.diagnostics.suggestions import did_you_mean
from lake_spec.text.sql_text import sql_identifier

SIMPLE = (
    "string boolean tinyint byte smallint short int integer bigint long float double"
    " date timestamp binary"
).split()
NESTED = ("array", "map", "struct")
_WHOLE = set("tinyint byte smallint short int integer bigint long".split())
FORMS = "decimal(p,s), array<type>, map<type, type>, struct<name: type, ...>"
MOST_DIGITS = 38
"""Of a decimal: Spark, Hudi and Athena have no longer ones."""

WHOLE_DIGITS = {"int": 10, "bigint": 19}
"""Decimal digits that a whole number can need, by its type in tables."""

DEEPEST = 8
"""Deepest nesting of types in a spec; files may nest them deeper."""

STORED_AS = {
    "long": "bigint",
    "integer": "int",
    # Hudi's schemas have no smaller integer.
    "short": "int",
    "smallint": "int",
    "byte": "int",
    "tinyint": "int",
}
"""Types that tables keep under another name."""

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TOKEN = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*|[0-9]{1,3}|[<>(),:]|\S)")


class BadType(ValueError):
    """A text is not a type of a column.

    Fix: Write one of the types in docs/sources/types.md, as in `decimal(10,2)`.
    """


@dataclass(frozen=True)
class ColumnType:
    """A type by its name in lower case, with the types inside a nested one.

    `fields` are a struct's names, one for each inner type; `digits` are a
    decimal's precision and scale.
    """

    name: str
    inner: Tuple["ColumnType", ...] = ()
    fields: Tuple[str, ...] = ()
    digits: Tuple[int, int] = (0, 0)

    @property
    def text(self) -> str:
        """The type as SQL writes it."""
        if self.name == "decimal":
            return "decimal({},{})".format(*self.digits)
        if not self.is_nested:
            return self.name
        parts = [each.text for each in self.inner]
        if self.fields:
            parts = [f"{_quoted(n)}:{part}" for n, part in zip(self.fields, parts)]
        return f"{self.name}<{','.join(parts)}>"

    @property
    def stored(self) -> "ColumnType":
        """The type under which tables keep it: `long` is bigint, `short` int."""
        name = STORED_AS.get(self.name, self.name)
        return replace(self, name=name, inner=tuple(t.stored for t in self.inner))

    @property
    def is_nested(self) -> bool:
        """True if values have parts."""
        return self.name in NESTED

    @property
    def is_numeric(self) -> bool:
        """True if values can be compared as numbers."""
        return self.is_whole or self.name in ("float", "double", "decimal")

    @property
    def is_whole(self) -> bool:
        """True if values are whole numbers."""
        return self.name in _WHOLE

    @property
    def is_time(self) -> bool:
        """True if values are dates or timestamps."""
        return self.name in ("date", "timestamp")


def _quoted(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else sql_identifier(name)


def parse_type(text: str, deepest: int = DEEPEST) -> ColumnType:
    """Parse a type. Raises BadType with the nearest and all types."""
    reader = _Reader([match.group(1) for match in _TOKEN.finditer(text)], deepest)
    found = reader.type(0)
    reader.end()
    return found


class _Reader:
    """Recursive descent over the tokens of one type."""

    def __init__(self, tokens: List[str], deepest: int) -> None:
        self.tokens = tokens + [""]
        self.at = 0
        self.deepest = deepest

    def next(self) -> str:
        token = self.tokens[self.at]
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def expect(self, wanted: str) -> None:
        found = self.next()
        if found != wanted:
            raise BadType(f"Found {found or 'the end'!r} where {wanted!r} is expected.")

    def end(self) -> None:
        if self.tokens[self.at]:
            raise BadType(f"Remove what follows the type: {self.tokens[self.at]!r}.")

    def type(self, depth: int) -> ColumnType:
        if depth > self.deepest:
            raise BadType(f"Types nest at most {self.deepest} levels.")
        written = self.next()
        name = written.lower()
        if name in SIMPLE:
            return ColumnType(name)
        if name == "decimal":
            return self.decimal()
        if name in NESTED:
            return self.nested(name, depth)
        known = [*SIMPLE, "decimal", *NESTED]
        raise BadType(
            f"{did_you_mean(written, known)}Types: {', '.join(SIMPLE)}, {FORMS}."
        )

    def decimal(self) -> ColumnType:
        self.expect("(")
        precision, scale = self.digits(), 0
        if not self.tokens[self.at]:
            raise BadType("Within {...} YAML splits at the comma: quote the type.")
        if self.tokens[self.at] == ",":
            self.next()
            scale = self.digits()
        self.expect(")")
        if not 1 <= precision <= MOST_DIGITS or scale > precision:
            words = f"p from 1 to {MOST_DIGITS} and s from 0 to p"
            raise BadType(f"Write decimal(p,s) with {words}.")
        return ColumnType("decimal", digits=(precision, scale))

    def digits(self) -> int:
        found = self.next()
        if not (found.isascii() and found.isdigit()):
            raise BadType("Write precision and scale, as in decimal(10,2).")
        return int(found)

    def nested(self, name: str, depth: int) -> ColumnType:
        self.expect("<")
        fields: List[str] = []
        inner: List[ColumnType] = []
        while not inner or self.tokens[self.at] == ",":
            if inner:
                self.next()
            if name == "struct":
                fields.append(self.field())
            inner.append(self.type(depth + 1))
        self.expect(">")
        if len(inner) != {"array": 1, "map": 2}.get(name, len(inner)):
            raise BadType(f"Write it as one of: {FORMS}.")
        if len({field.lower() for field in fields}) < len(fields):
            raise BadType(
                "Two fields of a struct have the same name without case: rename one."
            )
        return ColumnType(name, tuple(inner), tuple(fields))

    def field(self) -> str:
        found = self.next()
        if not _PLAIN_NAME.fullmatch(found):
            raise BadType(
                f"{found or 'the end'!r} is not a valid name of a struct's field."
            )
        self.expect(":")
        return found
