"""The words of the decoder's faults: what was expected and what to do."""

from __future__ import annotations

import json
import re
from typing import Any, Iterable, Sequence

from lake_check.messages.parsing_ids import ParsingId
from lake_spec.diagnostics.diagnostic import Path, Problem, got
from lake_spec.diagnostics.suggestions import did_you_mean
from lake_spec.model.field_types import (
    Choice,
    ListOf,
    MapOf,
    OneOf,
    Record,
    Scalar,
    Setting,
)

_KINDS = {int: "a whole number", float: "a number", bool: "true or false"}


def expected(shape: Any, value: Any) -> str:
    """Describe the values that a setting of this shape accepts."""
    if isinstance(shape, Choice):
        return choose(value, shape.choices)
    if isinstance(shape, Scalar):
        return _scalar(shape, value)
    if isinstance(shape, ListOf):
        inner = value if isinstance(value, (str, int, float)) else "..."
        return f"Write a list, as in [{inner}]."
    if isinstance(shape, MapOf):
        return "Write names with a value each, as in `name: value`."
    if isinstance(shape, OneOf):
        choices = ", ".join(shape.records)
        return f"Write settings, among them `{shape.tag}`: one of {choices}."
    return f"Write settings, of these: {', '.join(shape.settings)}."


def _scalar(shape: Scalar, value: Any) -> str:
    if shape.other:
        return f"Write {_KINDS[shape.type]} or text."
    if shape.type is not str:
        return f"Write {_KINDS[shape.type]}."
    if isinstance(value, (bool, int, float)):
        return "Write text: put the value in quotes."
    return "Write text."


def choose(value: Any, choices: Iterable[str]) -> str:
    """List the choices, the nearest one first."""
    choices = tuple(choices)
    hint = did_you_mean(value, choices) if isinstance(value, str) else ""
    # A mark alone would not be seen among the commas of the list.
    named = (each if each[:1].isalnum() else repr(each) for each in choices)
    return f"{hint}Choose one of: {', '.join(named)}."


def unknown_key(shape: Record, key: str, path: Path, known: Sequence[str]) -> Problem:
    """Report a key that the record does not have."""
    takes = f"{owner(shape, path)} takes: {', '.join(known)}."
    hint = did_you_mean(key, known)
    return Problem(
        (*path, key), key, "unknown key", hint + takes, ParsingId.UNKNOWN_KEY.value
    )


def missing(setting: Setting, path: Path) -> Problem:
    """Report a required setting that was left out."""
    hint = f"{setting.doc} Write for example {in_yaml(setting)}."
    return Problem(path, None, "missing", hint, ParsingId.MISSING_KEY.value)


def missing_tag(shape: OneOf, path: Path) -> Problem:
    """Report a union without the key that selects its member."""
    hint = f"Choose one of: {', '.join(shape.records)}."
    return Problem(
        (*path, shape.tag), None, "missing", hint, ParsingId.MISSING_KEY.value
    )


def wrong_tag(shape: OneOf, value: Any, path: Path) -> Problem:
    """Report a union whose tag selects no member."""
    hint, rule = choose(value, shape.records), ParsingId.VALUE_NOT_ALLOWED
    return got((*path, shape.tag), value, hint, rule.value)


def owner(shape: Record, path: Path) -> str:
    """Return the name of a record in a message: its key, or its kind."""
    if path and isinstance(path[-1], str) and not shape.shorthand:
        return path[-1]
    name = re.sub(r"Spec$", "", shape.cls.__name__)
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    return f"{'An' if name[0] in 'aeiou' else 'A'} {name}"


def in_yaml(setting: Setting) -> str:
    """Format the setting's example as a line of YAML."""
    return f"`{setting.name}: {_flow(setting.example)}`"


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{%s}" % ", ".join(
            f"{key}: {_flow(each)}" for key, each in value.items()
        )
    if isinstance(value, list):
        return "[%s]" % ", ".join(_flow(each) for each in value)
    if isinstance(value, str) and re.fullmatch(r"[\w][\w ./:'-]*", value):
        return value if ": " not in value else json.dumps(value)
    return f"'{value}'" if isinstance(value, str) else json.dumps(value)
