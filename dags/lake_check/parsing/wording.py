"""The words of the decoder's faults: what was expected and what to do."""

from __future__ import annotations

import json
import re
from typing import Any, Iterable, Optional, Sequence

from lake_check.messages.parsing_ids import ParsingId
from lake_spec.diagnostics.diagnostic import Path, Problem, got
from lake_spec.diagnostics.suggestions import did_you_mean
from lake_spec.model.field_types import (
    ByKind,
    Choice,
    ListOf,
    MapOf,
    Maybe,
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
    if isinstance(shape, ByKind):
        return "Write the settings of a table."
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


def unknown_key(
    shape: Record,
    key: str,
    path: Path,
    known: Sequence[str],
    kinds: Optional[ByKind] = None,
) -> Problem:
    """Report a key that the record does not have, and the kinds of tables that do."""
    at, rule = (*path, key), ParsingId.UNKNOWN_KEY.value
    others = takers(kinds, at)
    if others and not path:
        hint = f"Remove it: {getattr(shape.cls, 'lacks')}.{others}"
        return Problem(at, key, f"no key of {_with_article(_words(shape))}", hint, rule)
    takes = f"{owner(shape, path)} takes: {', '.join(known)}."
    hint = did_you_mean(key, known)
    return Problem(at, key, "unknown key", hint + takes + others, rule)


def takers(kinds: Optional[ByKind], path: Path, value: Any = None) -> str:
    """Say which kinds have a key at a path, or take a value there; empty for none."""
    named = [
        _with_article(kind)
        for kind, record in (kinds.records.items() if kinds else ())
        for shape in [_shape_at(record, path)]
        if shape and (value is None or value in getattr(shape, "choices", ()))
    ]
    if not named:
        return ""
    *first, last = named
    listed = f"{', '.join(first)} or {last}" if first else last
    return f" Only {listed} takes it."


def _shape_at(shape: Any, path: Path) -> Any:
    """Return the shape of the setting at a path below a record; None without one."""
    for step in path:
        shape = _only_one(shape)
        found = shape.settings.get(str(step)) if isinstance(shape, Record) else None
        if found is None or not found.is_written:
            return None
        shape = found.shape
    return _only_one(shape)


def _only_one(shape: Any) -> Any:
    """Return the shape of a value that is there, where it cannot be of several."""
    if isinstance(shape, Maybe):
        return _only_one(shape.inner)
    if isinstance(shape, OneOf) and len(shape.records) == 1:
        return next(iter(shape.records.values()))
    return shape


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
    return _with_article(_words(shape)).capitalize()


def _words(shape: Record) -> str:
    """Return the name of a record's class as people say it."""
    name = re.sub(r"(Spec|(?<=\w)Table)$", "", shape.cls.__name__)
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


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
