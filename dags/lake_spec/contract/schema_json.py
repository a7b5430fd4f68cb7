"""Schemas in Spark's JSON that others may have written: they may name no class.

A type `udt` names a class. PySpark unpickles it and Spark calls its constructor as soon as
the schema is parsed, so such JSON is judged before either of them sees it.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional, Tuple

from lake_spec.diagnostics.errors import LakeError

_PARTS = {"array": ("elementType",), "map": ("keyType", "valueType")}
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
    return schema


def class_in(schema: Any) -> Optional[str]:
    """Return in words the first class that a schema names, with its column; None if none."""
    for column, kind in _types(schema):
        named = _named(kind)
        if named:
            return f"column {column}: {named}"
    return None


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
