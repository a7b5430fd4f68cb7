"""Defaults of a folder, laid under each of its tables."""

from __future__ import annotations

from typing import Any, Tuple

from lake_check.parsing.node import Node
from lake_spec.model.field_types import ByKind, Choice, MapOf, Maybe, OneOf, Record


def merge(shape: Any, own: Node, base: Node) -> Node:
    """Merge a file's settings with the defaults; the file takes precedence.

    Mappings are merged key by key; lists and scalars of the file replace the
    default. A default of another kind (a csv format below a parquet one, an
    `order_by` below a table of snapshots) is none of the file's business and falls
    away.
    """
    if not isinstance(own.value, dict) or not isinstance(base.value, dict):
        return own
    if isinstance(shape, OneOf) and _is_of_another_kind(shape, own, base):
        return own
    if isinstance(shape, ByKind):
        shape, base = _of_the_kind(shape, own, base)
    merged = dict(base.value)
    for key, node in own.value.items():
        below = base.value.get(key)
        inner = _inner(shape, own, base, key)
        merged[key] = merge(inner, node, below) if below else node
    return Node(merged, own.file, own.line)


def _of_the_kind(shape: ByKind, own: Node, base: Node) -> Tuple[Any, Node]:
    """Return the record of a table's kind, and the defaults that it takes.

    Without a kind all are kept.
    """
    path = (shape.told_by, shape.tag)
    kind = own.at(path) or base.at(path)
    record = shape.record_of(kind.value if kind else None)
    if record is None:
        return Record(shape.widest.cls, shape.settings), base
    known = shape.settings
    kept = {
        key: node
        for key, node in base.value.items()
        if key not in known or _takes(record, key, known[key].shape, node.value)
    }
    return record, Node(kept, base.file, base.line)


def _takes(record: Record, key: str, of_any: Any, value: Any) -> bool:
    """Return whether a kind takes a default that tables of some kind take."""
    if key not in record.settings:
        return False
    shape = record.settings[key].shape
    is_of_another = isinstance(shape, Choice) and value in of_any.choices
    return not is_of_another or value in shape.choices


def _is_of_another_kind(shape: OneOf, own: Node, base: Node) -> bool:
    tags = {_tag(shape, own), _tag(shape, base)}
    return None not in tags and len(tags) == 2


def _tag(shape: OneOf, node: Node) -> Any:
    tag = node.value.get(shape.tag)
    return tag.value if tag and isinstance(tag.value, str) else None


def _inner(shape: Any, own: Node, base: Node, key: str) -> Any:
    """Return the shape below a key; None if the model has no such key."""
    if isinstance(shape, Maybe):
        return _inner(shape.inner, own, base, key)
    if isinstance(shape, MapOf):
        return shape.item
    if isinstance(shape, OneOf):
        shape = shape.records.get(_tag(shape, own) or _tag(shape, base))
    if not isinstance(shape, Record) or key not in shape.settings:
        return None
    return shape.settings[key].shape
