"""Stand-ins for values that could not be read, so that the rest can be judged."""

from __future__ import annotations

from typing import Any

from lake_spec.model.field_types import (
    ByKind,
    Choice,
    ListOf,
    MapOf,
    Maybe,
    OneOf,
    Record,
    Scalar,
)


def of(shape: Any) -> Any:
    """Return an empty value of a shape; None for a shape with alternatives.

    A table of no kind is one of the widest: the rules see most of it.
    """
    if isinstance(shape, Scalar):
        return shape.type()
    if isinstance(shape, Choice):
        return next(iter(shape.only or shape.enum))
    if isinstance(shape, (ListOf, MapOf)):
        return ()
    if isinstance(shape, Record):
        return _record(shape)
    if isinstance(shape, ByKind):
        return _record(shape.widest)
    if isinstance(shape, OneOf) and len(shape.records) == 1:
        return _record(*shape.records.values())
    assert isinstance(shape, (Maybe, OneOf))
    return None


def _record(shape: Record) -> Any:
    required = (each for each in shape.settings.values() if each.is_required)
    return shape.cls(**{each.name: of(each.shape) for each in required})
