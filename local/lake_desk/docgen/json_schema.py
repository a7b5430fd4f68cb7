"""JSON Schemas (2020-12) of the spec files, for editors; made from the model."""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, Optional

from lake_desk.docgen.meanings import meanings_of
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
from lake_spec.model.json_codec import encode_value
from lake_spec.model.limits import Limits

DIALECT = "https://json-schema.org/draft/2020-12/schema"

Schema = Dict[str, Any]

_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def schema_of(cls: type, *, is_complete: bool = True) -> Schema:
    """Return the JSON Schema of a file that holds one spec of a class.

    Not complete: nothing is required, as in a file of defaults.
    """
    writer = _Writer(is_complete)
    shape = shape_of(cls)
    is_by_kind = isinstance(shape, ByKind)
    top = writer.by_kind(cls, shape) if is_by_kind else writer.body(shape, None)
    defs = dict(sorted(writer.defs.items()))
    return {"$schema": DIALECT, "title": cls.__name__, **top, "$defs": defs}


class _Writer:
    """One schema; records below the top become definitions."""

    def __init__(self, is_complete: bool) -> None:
        self.is_complete = is_complete
        self.defs: Dict[str, Schema] = {}

    def schema(self, shape: Any) -> Schema:
        return _WRITERS[type(shape)](self, shape)

    def scalar(self, shape: Scalar) -> Schema:
        names = [_TYPES[each] for each in shape.types]
        return {"type": names if shape.other else names[0]}

    def choice(self, shape: Choice) -> Schema:
        meanings = meanings_of(shape.enum, shape.choices).items()
        return {"anyOf": [{"const": e, "description": what} for e, what in meanings]}

    def maybe(self, shape: Maybe) -> Schema:
        return {"anyOf": [self.schema(shape.inner), {"type": "null"}]}

    def list_of(self, shape: ListOf) -> Schema:
        return {"type": "array", "items": self.schema(shape.item)}

    def map_of(self, shape: MapOf) -> Schema:
        return {"type": "object", "additionalProperties": self.schema(shape.item)}

    def one_of(self, shape: OneOf) -> Schema:
        members = [
            self.reference(record, shape.tag, tag)
            for tag, record in shape.records.items()
        ]
        # Several parts of a default can fit; of whole values just one does.
        return {"oneOf" if self.is_complete else "anyOf": members}

    def record(self, shape: Record) -> Schema:
        reference = self.reference(shape, None, None)
        if shape.shorthand:
            text = _limited(shape.settings[shape.shorthand], {"type": "string"})
            return {"anyOf": [text, reference]}
        return reference

    def reference(self, shape: Record, tag: Optional[str], value: Any) -> Schema:
        name = _definition(shape)
        if name not in self.defs:
            self.defs[name] = {}
            self.defs[name] = self.body(shape, tag, value)
        return {"$ref": f"#/$defs/{name}"}

    def body(self, shape: Record, tag: Optional[str], value: Any = None) -> Schema:
        written = {k: s for k, s in shape.settings.items() if s.is_written}
        properties = {tag: {"const": value}} if tag else {}
        properties.update((k, self.setting(s)) for k, s in written.items())
        required = [tag] if tag else []
        required += [k for k, s in written.items() if s.is_required and not s.given]
        body = {
            "description": (shape.cls.__doc__ or "").strip(),
            "type": "object",
            "properties": properties,
            "additionalProperties": False,
        }
        return {**body, "required": required} if self.is_complete and required else body

    def by_kind(self, cls: type, shape: ByKind) -> Schema:
        """Return the schema of a file whose kind says which of all keys it takes."""
        top = self.body(Record(cls, shape.settings), None)
        if not self.is_complete:
            return top
        rules = [
            {
                "if": _is_of(shape, kind),
                "then": {"properties": self._own(shape, record)},
            }
            for kind, record in shape.records.items()
        ]
        return {**top, "allOf": [each for each in rules if each["then"]["properties"]]}

    def _own(self, shape: ByKind, record: Record) -> Dict[str, Any]:
        """Return what a kind says otherwise of keys of all kinds: false where it lacks one."""
        found: Dict[str, Any] = {}
        for name, of_any in shape.settings.items():
            own = record.settings.get(name)
            if own is None:
                found[name] = False
            elif isinstance(own.shape, Choice) and own.shape != of_any.shape:
                found[name] = self.setting(own)
        return found

    def setting(self, setting: Setting) -> Schema:
        limited = _limited(setting, self.schema(setting.shape))
        schema = {**limited, "description": setting.doc}
        if not setting.is_required:
            schema["default"] = _default(setting)
        if setting.example is not None:
            schema["examples"] = [setting.example]
        return schema


def _is_of(shape: ByKind, kind: str) -> Schema:
    tag = {"properties": {shape.tag: {"const": kind}}, "required": [shape.tag]}
    return {"properties": {shape.told_by: tag}, "required": [shape.told_by]}


def _limited(setting: Setting, schema: Schema) -> Schema:
    """Return the schema with the setting's limits, wherever in it a value has them."""
    if "anyOf" in schema:
        return {"anyOf": [_limited(setting, each) for each in schema["anyOf"]]}
    kinds = schema.get("type", ())
    names = [kinds] if isinstance(kinds, str) else list(kinds)
    if kinds == "array":
        items = _limited(setting, schema["items"])
        return {**schema, "items": items, **_sizes(setting.entries, "Items")}
    if kinds == "object":
        each = _limited(setting, schema["additionalProperties"])
        sizes = _sizes(setting.entries, "Properties")
        return {**schema, "additionalProperties": each, **sizes}
    limits, form = setting.limits, setting.form
    added: Schema = {}
    if limits is not None and {"integer", "number"}.intersection(names):
        bounds = (limits.least, limits.greatest, limits.above)
        keys = ("minimum", "maximum", "exclusiveMinimum")
        added = {key: each for key, each in zip(keys, bounds) if each is not None}
    if form is not None and "string" in names:
        # The message is what editors of VS Code's language services show.
        added["pattern"] = f"^(?:{form.pattern})$"
        added["patternErrorMessage"] = form.hint
    return {**schema, **added}


def _sizes(entries: Optional[Limits], what: str) -> Schema:
    if entries is None:
        return {}
    bounds = {f"min{what}": entries.least, f"max{what}": entries.greatest}
    return {key: each for key, each in bounds.items() if each}


def _default(setting: Setting) -> Any:
    if isinstance(setting.shape, MapOf):
        return dict(setting.default)
    return encode_value(setting.shape, setting.default)


def _definition(shape: Record) -> str:
    """Convert `HistoryColumns` to `history_columns`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", shape.cls.__name__).lower()


_WRITERS: Dict[type, Callable[[_Writer, Any], Schema]] = {
    Scalar: _Writer.scalar,
    Choice: _Writer.choice,
    Maybe: _Writer.maybe,
    ListOf: _Writer.list_of,
    MapOf: _Writer.map_of,
    OneOf: _Writer.one_of,
    Record: _Writer.record,
}
