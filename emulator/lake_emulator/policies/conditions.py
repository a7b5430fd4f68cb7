"""The condition operators of IAM that are known here, and how they compare."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Callable, Mapping, Optional, Sequence, Tuple, Union

Value = Union[str, Tuple[str, ...]]
"""Of a condition key in a request: a text, or several of a key such as aws:TagKeys."""

Context = Mapping[str, Value]
"""The condition keys of a request by their names in lower case."""


@lru_cache(maxsize=None)
def pattern(text: str, flags: int = 0) -> "re.Pattern[str]":
    """Compile a text with IAM's `*` and `?`."""
    return re.compile(_regex(text, "."), re.DOTALL | flags)


@lru_cache(maxsize=None)
def _arn_pattern(text: str) -> "re.Pattern[str]":
    parts = text.split(":", 5)
    signs = ["[^:]"] * 5 + ["."]
    return re.compile(":".join(map(_regex, parts, signs)), re.DOTALL)


def _regex(text: str, any_sign: str) -> str:
    signs = {"*": f"{any_sign}*", "?": any_sign}
    return "".join(signs.get(p) or re.escape(p) for p in re.split(r"([*?])", text))


def is_like(text: str, wanted: str) -> bool:
    """Return whether a text fits a pattern with `*` and `?`, in the same case."""
    return pattern(wanted).fullmatch(text) is not None


def is_arn_like(arn: str, wanted: str) -> bool:
    """Return whether an ARN fits a pattern, each of its six parts by itself; `*` fits all."""
    return wanted == "*" or _arn_pattern(wanted).fullmatch(arn) is not None


def _is_equal_in_any_case(text: str, wanted: str) -> bool:
    return text.casefold() == wanted.casefold()


COMPARE: Mapping[str, Callable[[str, str], bool]] = {
    "StringEquals": str.__eq__,
    "StringEqualsIgnoreCase": _is_equal_in_any_case,
    "StringLike": is_like,
    "ArnEquals": is_arn_like,
    "ArnLike": is_arn_like,
    "Bool": _is_equal_in_any_case,
}
NEGATED = {
    "StringNotEquals": "StringEquals",
    "StringNotEqualsIgnoreCase": "StringEqualsIgnoreCase",
    "StringNotLike": "StringLike",
    "ArnNotEquals": "ArnEquals",
    "ArnNotLike": "ArnLike",
}
NULL = "Null"
_FORM = re.compile(r"(?:(ForAllValues|ForAnyValue):)?([A-Za-z]+?)(IfExists)?")


@dataclass(frozen=True)
class Condition:
    """One operator on one key, with the values that it is compared with."""

    operator: str
    key: str
    values: Tuple[str, ...]
    of_set: Optional[str] = None
    if_exists: bool = False

    def holds(self, context: Context) -> bool:
        """Return whether a request with these keys fulfils it."""
        found = context.get(self.key)
        if self.operator == NULL:
            return any((found is None) == (each == "true") for each in self.values)
        if found is None:
            return self._holds_without()
        values = (found,) if isinstance(found, str) else found
        every = all if self.of_set == "ForAllValues" else any
        return every(map(self._fits, values))

    def _holds_without(self) -> bool:
        if self.of_set:
            return self.of_set == "ForAllValues" or self.if_exists
        return self.if_exists or self.operator in NEGATED

    def _fits(self, value: str) -> bool:
        compare = COMPARE[NEGATED.get(self.operator, self.operator)]
        is_found = any(compare(value, wanted) for wanted in self.values)
        return is_found != (self.operator in NEGATED)


def condition(operator: str, key: str, values: Sequence[str]) -> Condition:
    """Make a condition; ValueError for an operator that is not known here."""
    found = _FORM.fullmatch(operator)
    of_set, name, if_exists = found.groups() if found else (None, "", None)
    if name == NULL:
        if of_set or if_exists or not set(values) <= {"true", "false"}:
            raise ValueError(f"condition operator {operator} with {list(values)}")
    elif name not in COMPARE and name not in NEGATED:
        raise ValueError(f"condition operator {operator}")
    return Condition(name, key.lower(), tuple(values), of_set, bool(if_exists))
