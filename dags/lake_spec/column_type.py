"""The types that a column can have: a small grammar of Spark SQL's."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import List, Tuple

from lake_spec.nearest import did_you_mean

SIMPLE = (
    "string boolean tinyint byte smallint short int integer bigint long float double"
    " date timestamp binary"
).split()
NESTED = ("array", "map", "struct")
NUMERIC = set(
    "tinyint byte smallint short int integer bigint long float double".split()
)
FORMS = "decimal(p,s), array<type>, map<type, type>, struct<name: type, ...>"
DEEPEST = 8
_SYNONYMS = {
    "long": "bigint",
    "integer": "int",
    "short": "smallint",
    "byte": "tinyint",
    "real": "float",
    "numeric": "decimal",
}

_TOKEN = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*|[0-9]{1,3}|[<>(),:]|\S)")


class BadType(ValueError):
    """A text that is no type; says what to write."""


@dataclass(frozen=True)
class ColumnType:
    """A type by its name in lower case, with the types inside a nested one."""

    name: str
    inner: Tuple["ColumnType", ...] = ()

    @property
    def is_nested(self) -> bool:
        """Whether values have parts."""
        return self.name in NESTED

    @property
    def is_numeric(self) -> bool:
        """Whether values can be smaller or larger as numbers."""
        return self.name in NUMERIC or self.name == "decimal"


def parse_type(text: str) -> ColumnType:
    """The type that a text says. Raises BadType with the nearest and all types."""
    reader = _Reader([match.group(1) for match in _TOKEN.finditer(text)])
    found = reader.type(0)
    reader.end()
    return found


class _Reader:
    """Recursive descent over the tokens of one type."""

    def __init__(self, tokens: List[str]) -> None:
        self.tokens = tokens + [""]
        self.at = 0

    def next(self) -> str:
        token = self.tokens[self.at]
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def expect(self, wanted: str) -> None:
        found = self.next()
        if found != wanted:
            raise BadType(f"It has {found or 'its end'!r} where {wanted!r} belongs.")

    def end(self) -> None:
        if self.tokens[self.at]:
            raise BadType(f"Remove what follows the type: {self.tokens[self.at]!r}.")

    def type(self, depth: int) -> ColumnType:
        if depth > DEEPEST:
            raise BadType(f"Types nest at most {DEEPEST} levels.")
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
        if not 1 <= precision <= 38 or scale > precision:
            raise BadType("decimal(p,s) has p from 1 to 38 and s from 0 to p.")
        return ColumnType("decimal")

    def digits(self) -> int:
        found = self.next()
        if not (found.isascii() and found.isdigit()):
            raise BadType("Write its digits, as in decimal(10,2).")
        return int(found)

    def nested(self, name: str, depth: int) -> ColumnType:
        self.expect("<")
        inner = [self.part(name, depth)]
        while self.tokens[self.at] == ",":
            self.next()
            inner.append(self.part(name, depth))
        self.expect(">")
        if len(inner) != {"array": 1, "map": 2}.get(name, len(inner)):
            raise BadType(f"Write it as one of: {FORMS}.")
        return ColumnType(name, tuple(inner))

    def part(self, name: str, depth: int) -> ColumnType:
        if name == "struct":
            self.field()
        return self.type(depth + 1)

    def field(self) -> None:
        found = self.next()
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", found):
            raise BadType(f"{found or 'its end'!r} is no name of a struct's field.")
        self.expect(":")


def canonical_type(text: str) -> str:
    """A type's own name: `long` is `bigint`, without spaces or capitals."""
    plain = "".join(text.lower().split())
    return _SYNONYMS.get(plain, plain)
