"""Specs as JSON-able data and back: what releases and compiled domains hold.

`from_data(cls, to_data(spec)) == spec` for every spec.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Callable, Dict, Type, TypeVar

from lake_spec.diagnostics.errors import NotASpec
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
    shape_of,
)

T = TypeVar("T")
Reader = Callable[[Any], Any]


def to_data(spec: Any, *, with_defaults: bool = True) -> Dict[str, Any]:
    """Return the spec as dicts, lists and scalars, optionally without defaults."""
    data: Dict[str, Any] = _encode(shape_of(type(spec)), spec, with_defaults)
    return data


def from_data(cls: Type[T], data: Any) -> T:
    """Build the spec from the data of `to_data`. Raises NotASpec for any other data."""
    try:
        spec: T = _reader(shape_of(cls))(data)
        return spec
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        words = f"{type(error).__name__}: {error}"
        raise NotASpec(
            f"not a {cls.__name__} of this version ({words}). Build the release again."
        ) from error


def encode_value(shape: Any, value: Any) -> Any:
    """Convert one value of a shape to JSON-able data, such as a setting's default."""
    return _encode(shape, value, True)


def _encode(shape: Any, value: Any, full: bool) -> Any:
    if isinstance(shape, Maybe):
        return None if value is None else _encode(shape.inner, value, full)
    if isinstance(shape, Choice):
        return value.value
    if isinstance(shape, ListOf):
        return [_encode(shape.item, each, full) for each in value]
    if isinstance(shape, MapOf):
        # Pairs, since their order counts and JSON writers may sort keys.
        return [[name, _encode(shape.item, each, full)] for name, each in value]
    if isinstance(shape, OneOf):
        tag = getattr(type(value), shape.tag)
        return {shape.tag: tag, **_encode(shape.records[tag], value, full)}
    if isinstance(shape, ByKind):
        shape = shape_of(type(value))
    if isinstance(shape, Record):
        return _encode_record(shape, value, full)
    return value


def _encode_record(shape: Record, value: Any, full: bool) -> Dict[str, Any]:
    return {
        name: _encode(setting.shape, each, full)
        for name, setting in shape.settings.items()
        for each in [getattr(value, setting.attribute)]
        if full or setting.is_required or each != setting.default
    }


@lru_cache(maxsize=None)
def _reader(shape: Any) -> Reader:
    """Return a function that reads data of a shape; cached, as specs are many."""
    return _MAKERS[type(shape)](shape)


def _scalar(shape: Scalar) -> Reader:
    wanted = shape.types

    def read(value: Any) -> Any:
        if type(value) not in wanted:
            names = " or ".join(each.__name__ for each in wanted)
            raise TypeError(f"{value!r} is not one of {names}")
        return value

    return read


def _maybe(shape: Maybe) -> Reader:
    inner = _reader(shape.inner)
    return lambda value: None if value is None else inner(value)


def _list_of(shape: ListOf) -> Reader:
    item = _reader(shape.item)
    return lambda values: tuple([item(value) for value in values])


def _map_of(shape: MapOf) -> Reader:
    item = _reader(shape.item)
    return lambda pairs: tuple([(name, item(value)) for name, value in pairs])


def _choice(shape: Choice) -> Reader:
    return shape.enum


def _one_of(shape: OneOf) -> Reader:
    readers = {tag: _reader(record) for tag, record in shape.records.items()}
    tag = shape.tag

    def read(value: Dict[str, Any]) -> Any:
        rest = {key: each for key, each in value.items() if key != tag}
        return readers[value[tag]](rest)

    return read


def _by_kind(shape: ByKind) -> Reader:
    readers = {kind: _reader(record) for kind, record in shape.records.items()}
    takes = {kind: set(record.settings) for kind, record in shape.records.items()}
    known = set().union(*takes.values())

    def read(value: Dict[str, Any]) -> Any:
        kind = value[shape.told_by][shape.tag]
        # Releases before there was a class for each kind say settings of all kinds.
        foreign = known - takes[kind]
        return readers[kind]({k: v for k, v in value.items() if k not in foreign})

    return read


def _record(shape: Record) -> Reader:
    readers = {name: _setting(each) for name, each in shape.settings.items()}
    build = shape.build
    return lambda data: build({key: readers[key](each) for key, each in data.items()})


def _setting(setting: Setting) -> Reader:
    return _reader(setting.shape)


_MAKERS: Dict[type, Callable[[Any], Reader]] = {
    Scalar: _scalar,
    Maybe: _maybe,
    ListOf: _list_of,
    MapOf: _map_of,
    Choice: _choice,
    ByKind: _by_kind,
    OneOf: _one_of,
    Record: _record,
}
