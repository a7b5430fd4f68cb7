"""From plain data to the dataclasses of the model, gathering every fault.

A value that cannot be used is replaced by its default or an empty value of its
type, and its path is kept as broken: so the rules can still judge the rest,
and no diagnostic is reported twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Mapping, Optional, Set

from lake_check.messages.parsing_ids import ParsingId
from lake_check.parsing import empty_values, wording
from lake_check.parsing.node import Node, REFUSED
from lake_spec.diagnostics.diagnostic import Diagnostic, Path, Problem, got
from lake_spec.diagnostics.suggestions import nearest
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


@dataclass
class DecodeResult:
    """A spec as far as it could be read, and what is wrong with it."""

    spec: Any
    diagnostics: List[Diagnostic] = field(default_factory=list)
    broken: Set[Path] = field(default_factory=set)


def decode(
    cls: type, root: Node, *, given: Optional[Mapping[str, Any]] = None
) -> DecodeResult:
    """Decode a spec of a class; `given` are top settings that its place determines."""
    shape = shape_of(cls)
    kinds = shape if isinstance(shape, ByKind) else None
    decoder = _Decoder(root, given or {}, kinds)
    spec = decoder.value(shape, root, ())
    return DecodeResult(spec, decoder.diagnostics, decoder.broken)


class _Decoder:
    """One pass over one file."""

    def __init__(
        self, root: Node, given: Mapping[str, Any], kinds: Optional[ByKind]
    ) -> None:
        self.root = root
        self.given = given
        self.kinds = kinds
        self.diagnostics: List[Diagnostic] = []
        self.broken: Set[Path] = set()

    def value(self, shape: Any, node: Node, path: Path) -> Any:
        if node.value is REFUSED:
            return self._broken(shape, path)
        return _READERS[type(shape)](self, shape, node, path)

    def report(self, problem: Problem) -> None:
        self.diagnostics.append(self.root.diagnostic(problem))

    def _broken(self, shape: Any, path: Path) -> Any:
        self.broken.add(path)
        return empty_values.of(shape)

    def wrong(self, shape: Any, node: Node, path: Path) -> Any:
        is_choice = isinstance(shape, Choice)
        rule = ParsingId.VALUE_NOT_ALLOWED if is_choice else ParsingId.WRONG_TYPE
        hint = wording.expected(shape, node.value)
        if is_choice and isinstance(node.value, str):
            hint += wording.takers(self.kinds, path, node.value)
        self.report(got(path, node.plain(), hint, rule.value))
        return self._broken(shape, path)

    def maybe(self, shape: Maybe, node: Node, path: Path) -> Any:
        return None if node.value is None else self.value(shape.inner, node, path)

    def scalar(self, shape: Scalar, node: Node, path: Path) -> Any:
        value = node.value
        if type(value) in shape.types:
            return value
        if shape.type is float and type(value) is int:
            return float(value)
        return self.wrong(shape, node, path)

    def choice(self, shape: Choice, node: Node, path: Path) -> Any:
        if node.value in shape.choices:
            return shape.enum(node.value)
        return self.wrong(shape, node, path)

    def by_kind(self, shape: ByKind, node: Node, path: Path) -> Any:
        if not isinstance(node.value, dict):
            return self.wrong(shape, node, path)
        kind = node.at((shape.told_by, shape.tag))
        record = shape.record_of(kind.value if kind else None)
        if record is not None:
            return self._settings(record, node, path, "")
        # The kind is reported with the setting that lacks it. What else is wrong is looked
        # for as in a table of the widest kind, which takes the place of this one.
        found = self._values(Record(shape.widest.cls, shape.settings), node, path, "")
        found[shape.told_by] = empty_values.of(
            shape.widest.settings[shape.told_by].shape
        )
        names = shape.widest.settings
        return shape.widest.build({n: each for n, each in found.items() if n in names})

    def list_of(self, shape: ListOf, node: Node, path: Path) -> Any:
        if not isinstance(node.value, list):
            return self.wrong(shape, node, path)
        return tuple(
            self.value(shape.item, item, (*path, position))
            for position, item in enumerate(node.value)
        )

    def map_of(self, shape: MapOf, node: Node, path: Path) -> Any:
        if not isinstance(node.value, dict):
            return self.wrong(shape, node, path)
        return tuple(
            (name, self.value(shape.item, item, (*path, name)))
            for name, item in node.value.items()
        )

    def one_of(self, shape: OneOf, node: Node, path: Path) -> Any:
        if not isinstance(node.value, dict):
            return self.wrong(shape, node, path)
        tag = node.value.get(shape.tag)
        if tag is None:
            self.report(wording.missing_tag(shape, path))
            return self._broken(shape, path)
        if not isinstance(tag.value, str) or tag.value not in shape.records:
            self.report(wording.wrong_tag(shape, tag.plain(), path))
            return self._broken(shape, path)
        return self._settings(shape.records[tag.value], node, path, shape.tag)

    def record(self, shape: Record, node: Node, path: Path) -> Any:
        if shape.shorthand and isinstance(node.value, str):
            node = Node({shape.shorthand: node}, node.file, node.line)
        if not isinstance(node.value, dict):
            return self.wrong(shape, node, path)
        return self._settings(shape, node, path, "")

    def _settings(self, shape: Record, node: Node, path: Path, tag: str) -> Any:
        return shape.build(self._values(shape, node, path, tag))

    def _values(
        self, shape: Record, node: Node, path: Path, tag: str
    ) -> Dict[str, Any]:
        given = self.given if not path else {}
        meant = self._unknown_keys(shape, node, path, tag)
        values: Dict[str, Any] = {}
        for name, setting in shape.settings.items():
            if name in given:
                values[name] = self._given(setting, node, path, given[name])
            elif name in node.value and setting.is_written:
                values[name] = self.value(
                    setting.shape, node.value[name], (*path, name)
                )
            elif setting.is_required:
                values[name] = self._missing(setting, path, name in meant)
        return values

    def _unknown_keys(
        self, shape: Record, node: Node, path: Path, tag: str
    ) -> Set[str]:
        """Report unknown keys; return the settings that were probably meant."""
        known = [name for name, each in shape.settings.items() if each.is_written]
        absent = [name for name in known if name not in node.value]
        meant = set()
        for key in node.value:
            if key not in known and key != tag:
                self.report(wording.unknown_key(shape, key, path, known, self.kinds))
                meant.add(nearest(key, absent))
        return meant

    def _given(self, setting: Setting, node: Node, path: Path, value: Any) -> Any:
        here = node.value.get(setting.name)
        if here is not None and setting.given == "folder" and here.value != value:
            hint = f"The folder is named {value!r}: remove the key, or move the file."
            at, rule = (*path, setting.name), ParsingId.NAME_DIFFERS
            self.report(got(at, here.plain(), hint, rule.value))
        return value

    def _missing(self, setting: Setting, path: Path, is_misspelt: bool) -> Any:
        at = (*path, setting.name)
        if not is_misspelt:
            self.report(wording.missing(setting, at))
        return self._broken(setting.shape, at)


_READERS: Dict[type, Callable[..., Any]] = {
    Maybe: _Decoder.maybe,
    Scalar: _Decoder.scalar,
    Choice: _Decoder.choice,
    ByKind: _Decoder.by_kind,
    ListOf: _Decoder.list_of,
    MapOf: _Decoder.map_of,
    OneOf: _Decoder.one_of,
    Record: _Decoder.record,
}
