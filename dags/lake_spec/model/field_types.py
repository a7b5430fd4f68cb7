"""What a field of the model accepts, read once from its type.

Decoder, encoder, JSON Schema and reference page all walk these shapes, so a
new class in model/ needs no second description anywhere.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields, replace
from enum import Enum
from functools import cached_property, lru_cache
from keyword import iskeyword
from typing import Any, Dict, Literal, Optional, Tuple, Type, Union, get_type_hints

from lake_spec.model.limits import Form, Limits

TAGS = ("kind", "type")
"""Class variables that distinguish the members of a union."""


@dataclass(frozen=True)
class Scalar:
    """Text, a number or a truth value; or, with `other`, a value of either type."""

    type: Type[Any]
    other: Optional[Type[Any]] = None

    @property
    def types(self) -> Tuple[Type[Any], ...]:
        """The types that a value may have."""
        return (self.type, self.other) if self.other else (self.type,)


@dataclass(frozen=True)
class Choice:
    """One member of an enum; of those in `only`, if there are any."""

    enum: Type[Enum]
    only: Tuple[Enum, ...] = ()

    @property
    def choices(self) -> Tuple[str, ...]:
        """The texts of its members."""
        return tuple(member.value for member in self.only or self.enum)


@dataclass(frozen=True)
class Maybe:
    """A value or nothing."""

    inner: Any


@dataclass(frozen=True)
class ListOf:
    """Any number of values of one shape."""

    item: Any


@dataclass(frozen=True)
class MapOf:
    """Names, each with a value of one shape; kept as pairs, in their order."""

    item: Any


@dataclass(frozen=True)
class Setting:
    """One field of a record."""

    name: str
    shape: Any
    default: Any
    doc: str
    example: Any
    given: Optional[str]
    limits: Optional[Limits]
    entries: Optional[Limits]
    form: Optional[Form]

    @property
    def attribute(self) -> str:
        """The name of the field, which a keyword of Python is not: `from_`."""
        return f"{self.name}_" if iskeyword(self.name) else self.name

    @property
    def is_required(self) -> bool:
        """True if there is no default."""
        return self.default is MISSING

    @property
    def is_written(self) -> bool:
        """True if files may say it; others are derived from what they say."""
        return self.given in (None, "folder")


@dataclass(frozen=True, eq=False)
class Record:
    """A dataclass and its settings."""

    cls: type
    settings: Dict[str, Setting]

    def build(self, values: Dict[str, Any]) -> Any:
        """Build an instance from values by the names of its settings."""
        named = {self.settings[name].attribute: each for name, each in values.items()}
        return self.cls(**named)

    @property
    def shorthand(self) -> Optional[str]:
        """The setting that a plain text sets."""
        return getattr(self.cls, "shorthand", None)

    @property
    def words(self) -> str:
        """Its name in messages."""
        return self.cls.__name__


@dataclass(frozen=True, eq=False)
class OneOf:
    """One of several records, distinguished by a tag."""

    tag: str
    records: Dict[str, Record]


@dataclass(frozen=True, eq=False)
class ByKind:
    """A record of one of several classes; the tag of one of its settings tells which.

    So `source.kind` of a table tells whether it is a SnapshotTable, a FeedTable or another.
    """

    told_by: str
    tag: str
    records: Dict[str, Record]

    def record_of(self, told: Any) -> Optional[Record]:
        """Return the record of a kind; None for what is no kind."""
        return self.records.get(told) if isinstance(told, str) else None

    @cached_property
    def widest(self) -> Record:
        """The record with the most settings, for a table of no known kind."""
        return max(self.records.values(), key=lambda each: len(each.settings))

    def takers(self, name: str) -> Dict[str, Setting]:
        """Return the settings of a name, by the kinds that have one."""
        return {
            kind: record.settings[name]
            for kind, record in self.records.items()
            if name in record.settings
        }

    @cached_property
    def settings(self) -> Dict[str, Setting]:
        """The settings of all kinds; one that they have in several shapes has any of them."""
        names = dict.fromkeys(
            n for each in self.records.values() for n in each.settings
        )
        return {name: _any_of(*self.takers(name).values()) for name in names}


def _any_of(first: Setting, *others: Setting) -> Setting:
    shapes = [each.shape for each in (first, *others)]
    if all(isinstance(each, OneOf) for each in shapes):
        merged = {tag: one for each in shapes for tag, one in each.records.items()}
        return replace(first, shape=OneOf(first.shape.tag, merged))
    if all(isinstance(each, Choice) for each in shapes):
        return replace(first, shape=max(shapes, key=lambda each: len(each.choices)))
    return first


def shape_of(kind: Any) -> Any:
    """Return the shape of a type of the model. Raises TypeError for any other type."""
    return _shape_of(kind)


@lru_cache(maxsize=None)  # around what takes anything: mypy holds no class for hashable
def _shape_of(kind: Any) -> Any:
    if kind in (str, int, float, bool):
        return Scalar(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return Choice(kind)
    if hasattr(kind, "__dataclass_fields__"):
        return _by_kind(kind.kinds) if vars(kind).get("kinds") else _record(kind)
    origin = getattr(kind, "__origin__", None)
    args: Tuple[Any, ...] = getattr(kind, "__args__", ())
    if origin is tuple and len(args) == 2 and args[1] is Ellipsis:
        return _many(args[0])
    if origin is Literal:
        return Choice(type(args[0]), args)
    if origin is Union:
        return _union(args)
    raise TypeError(
        f"{kind!r}: the model has no such type. Teach it to model/field_types.py."
    )


def _by_kind(classes: Tuple[Any, ...]) -> ByKind:
    told_by = classes[0].told_by
    records = {}
    for cls in classes:
        record = shape_of(cls)
        of_source: OneOf = record.settings[told_by].shape
        (kind,) = of_source.records
        records[kind] = record
    return ByKind(told_by, of_source.tag, records)


def _record(cls: type) -> Record:
    hints = get_type_hints(cls)
    told_by = getattr(cls, "told_by", None)
    return Record(
        cls,
        {
            name: Setting(
                name=name,
                shape=(_tagged if name == told_by else shape_of)(hints[field.name]),
                default=field.default,
                **field.metadata,
            )
            for field in fields(cls)
            for name in [field.name.rstrip("_")]
        },
    )


def _tagged(hint: Any) -> Any:
    """Return the shape of a class, or of several, with the tag that tells which."""
    return _union(getattr(hint, "__args__", (hint,)))


def _many(item: Any) -> Any:
    args: Tuple[Any, ...] = getattr(item, "__args__", ())
    if getattr(item, "__origin__", None) is tuple and args[0] is str:
        return MapOf(shape_of(args[1]))
    return ListOf(shape_of(item))


def _union(args: Tuple[Any, ...]) -> Any:
    inner = tuple(arg for arg in args if arg is not type(None))
    if len(inner) < len(args):
        return Maybe(shape_of(Union[inner]))
    if inner == (int, str):
        return Scalar(*inner)
    tag = next(tag for tag in TAGS if all(tag in vars(cls) for cls in inner))
    return OneOf(tag, {vars(cls)[tag]: shape_of(cls) for cls in inner})
