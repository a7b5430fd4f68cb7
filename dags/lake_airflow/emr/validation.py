"""A RunJobFlow request against AWS's own model of it, before anything is sent.

botocore itself holds a request to names, types and lower bounds alone; the choices
and upper bounds of its model are held to by EMR.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from botocore.model import ServiceModel, Shape
from botocore.validate import ParamValidator
from lake_spec.diagnostics.diagnostic import shown


def request_problems(request: dict[str, Any], model: ServiceModel) -> str:
    """What the model has against the request, as sentences; empty if nothing."""
    shape = model.operation_model("RunJobFlow").input_shape
    report = ParamValidator().validate(request, shape).generate_report()
    if report:
        return f"{report.rstrip('.')}."
    return " ".join(_beyond(request, shape, "RunJobFlow"))


def _beyond(value: Any, shape: Shape, path: str) -> Iterator[str]:
    """Values that are no choice of theirs, or above their bound."""
    if shape.type_name == "structure":
        for name, each in value.items():
            yield from _beyond(each, shape.members[name], f"{path}.{name}")
    elif shape.type_name == "list":
        for position, each in enumerate(value):
            yield from _beyond(each, shape.member, f"{path}[{position}]")
    elif shape.type_name != "map":  # properties: any text
        yield from _beyond_bounds(value, shape, path)


def _beyond_bounds(value: Any, shape: Shape, path: str) -> Iterator[str]:
    choices, most = shape.metadata.get("enum"), shape.metadata.get("max")
    size = len(value) if isinstance(value, str) else value
    if choices and value not in choices:
        yield f"{path}: got {shown(value)}. Choose one of: {', '.join(choices)}."
    if most is not None and size > most:
        unit = " characters" if isinstance(value, str) else ""
        yield f"{path}: got {size}{unit}. At most {most}."
