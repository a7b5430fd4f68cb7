"""Schemas in Spark's JSON that others may have written: they may name no class.

A type `udt` names a class. PySpark unpickles it and Spark calls its constructor as soon as
the schema is parsed, so such JSON is judged before either of them sees it.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, Dict, Iterator, List, Optional, Tuple

from lake_spec.diagnostics.errors import LakeError

_PARTS = {"array": ("elementType",), "map": ("keyType", "valueType")}
_UNITS = {"long": ("day", "hour", "minute", "second"), "integer": ("year", "month")}
_INTERVALS = {
    number: {f"interval {unit}" for unit in units}
    | {f"interval {a} to {b}" for a, b in combinations(units, 2)}
    for number, units in _UNITS.items()
}
"""Type of a number -> the intervals that Spark stores as such."""
_LANGUAGES = (("class", "Java"), ("pyClass", "Python"))


class ClassInSchema(LakeError, ValueError):
    """A stored schema has a type that is not Spark's own, such as a class.

    No run of the lake writes such a schema, and to read it would run that class's code.

    Fix: Find out who wrote the file that the message names, and restore its earlier
    version, or remove it if the lake does not need it.
    """


def plain_schema(schema: Any, where: str) -> Dict[str, Any]:
    """Return the schema, which has Spark's own types alone.

    Args:
        schema: the JSON of a schema, parsed.
        where: the file that has it, for the message.

    Raises:
        ClassInSchema: it has another type.
    """
    for column, kind in _types(schema):
        if not isinstance(kind, str):
            what = _named(kind) or f"{str(kind)[:100]!r}, which is no type"
            raise ClassInSchema(
                f"{where}: the schema has column {column}: {what}. Only types of"
                " Spark's own are read. Restore an earlier version of the file."
            )
    plain: Dict[str, Any] = schema
    return plain


def class_in(schema: Any) -> Optional[str]:
    """Return in words the first class that a schema names, with its column; None if none."""
    for column, kind in _types(schema):
        named = _named(kind)
        if named:
            return f"column {column}: {named}"
    return None


def with_intervals(schema: Any, noted: Any) -> Any:
    """Return a schema with the intervals that another one notes for its numbers.

    Nothing else of the other one is taken.
    """
    if isinstance(schema, str):
        is_interval = isinstance(noted, str) and noted in _INTERVALS.get(schema, ())
        return noted if is_interval else schema
    if not isinstance(noted, dict) or noted.get("type") != schema["type"]:
        return schema
    parts = _PARTS.get(schema["type"], ())
    found = {part: with_intervals(schema[part], noted.get(part)) for part in parts}
    fields, others = schema.get("fields"), noted.get("fields")
    if fields is not None and isinstance(others, list):
        kinds = dict(_field("", each) for each in others)
        found["fields"] = [
            {**each, "type": with_intervals(each["type"], kinds.get(each["name"]))}
            for each in fields
        ]
    return {**schema, **found}


def _named(kind: Any) -> Optional[str]:
    if not isinstance(kind, dict) or kind.get("type") != "udt":
        return None
    for key, language in _LANGUAGES:
        if isinstance(kind.get(key), str):
            return f"the {language} class {kind[key][:200]}"
    return "a class without a name"


def _types(schema: Any) -> Iterator[Tuple[str, Any]]:
    """Yield every type that is not made of others, with its column."""
    waiting: List[Tuple[str, Any]] = [("", schema)]
    while waiting:
        column, kind = waiting.pop()
        name = kind.get("type") if isinstance(kind, dict) else None
        if name == "struct" and isinstance(kind.get("fields"), list):
            fields = reversed(kind["fields"])
            waiting += [_field(column, each) for each in fields]
        elif isinstance(name, str) and name in _PARTS:
            waiting += [(column, kind.get(part)) for part in reversed(_PARTS[name])]
        else:
            yield column, kind


def _field(column: str, field: Any) -> Tuple[str, Any]:
    if not isinstance(field, dict):
        return column, field
    name = str(field.get("name"))[:200]
    return f"{column}.{name}" if column else name, field.get("type")
