"""JSON Schema of OpenLineage's events and facets, from the classes of its client.

OpenLineage generates these classes from its specification, and gives the two together.
"""

from __future__ import annotations

import types
import typing
from enum import Enum
from functools import lru_cache
from typing import Any, Iterator

import attr
from jsonschema import Draft202012Validator, FormatChecker
from openlineage.client import facet_v2
from openlineage.client.generated import base

FORMATS = {
    "runId": "uuid",
    "eventTime": "date-time",
    "_producer": "uri",
    "_schemaURL": "uri",
    "producer": "uri",
    "schemaURL": "uri",
}
_SIMPLE = {str: "string", bool: "boolean", int: "integer", float: "number"}


def faults(event: dict[str, Any]) -> list[str]:
    """What is wrong with a run event, and with each facet of a class that it names."""
    found = list(_faults(event, base.RunEvent, "event"))
    for where, facet in _facets(event):
        cls = _class_of(facet.get("_schemaURL", ""))
        found += _faults(facet, cls, where)
    return found


def _faults(data: Any, cls: type, where: str) -> Iterator[str]:
    for each in _validator(cls).iter_errors(data):
        yield f"{where}/{'/'.join(map(str, each.path))}: {each.message[:200]}"


@lru_cache(maxsize=None)
def _validator(cls: type) -> Draft202012Validator:
    return Draft202012Validator(schema_of(cls), format_checker=FormatChecker())


def schema_of(cls: type) -> dict[str, Any]:
    """The JSON Schema of one class: its fields, no others but where facets may have more."""
    hints = typing.get_type_hints(cls)
    fields = attr.fields(cls)
    return {
        "type": "object",
        "required": [
            field.name
            for field in fields
            if field.default is attr.NOTHING
            or field.name in ("_producer", "_schemaURL")
        ],
        "properties": {
            field.name: {
                **_of_type(hints[field.name]),
                **({"format": FORMATS[field.name]} if field.name in FORMATS else {}),
            }
            for field in fields
        },
        "additionalProperties": cls in _OPEN,
    }


_OPEN = (
    *(base.RunFacet, base.JobFacet, base.DatasetFacet, base.BaseFacet),
    *(base.InputDatasetFacet, base.OutputDatasetFacet),
)
"""Classes of which custom facets have more fields."""


def _of_type(kind: Any) -> dict[str, Any]:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        kinds = [_of_type(each) for each in arguments if each is not type(None)]
        return {"anyOf": kinds}
    if origin is list:
        return {"type": "array", "items": _of_type(arguments[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": _of_type(arguments[1])}
    if kind is Any:
        return {}
    if kind in _SIMPLE:
        return {"type": _SIMPLE[kind]}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [each.value for each in kind]}
    if attr.has(kind) and kind.__name__ != "SchemaDatasetFacetFields":
        return schema_of(kind)
    if attr.has(kind):  # it holds itself: nested structs, which our columns are not
        return {"type": "object", "required": ["name"]}
    raise AssertionError(f"no schema of {kind}")


def _facets(event: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    places = [("run", event["run"]), ("job", event["job"])]
    for side in ("inputs", "outputs"):
        places += [(f"{side}/{d['name']}", d) for d in event[side]]
    for where, place in places:
        for kind in ("facets", "inputFacets", "outputFacets"):
            for name, facet in place.get(kind, {}).items():
                yield f"{where}/{name}", facet


@lru_cache(maxsize=None)
def _class_of(url: str) -> type:
    """The class whose schema a facet names."""
    name = url.rpartition("/")[2]
    modules = [vars(base)] + [
        vars(module)
        for module in vars(facet_v2).values()
        if hasattr(module, "__file__")
    ]
    found = {m[name] for m in modules if name in m and m[name]._get_schema() == url}
    assert len(found) == 1, f"{url}: {found}"
    return found.pop()
