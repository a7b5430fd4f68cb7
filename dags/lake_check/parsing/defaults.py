"""Defaults of a folder, laid under each of its tables."""

from __future__ import annotations

from typing import Any

from lake_check.parsing.node import Node
from lake_check.rules.product import OF_FILES
from lake_spec.model import Product
from lake_spec.model.field_types import MapOf, Maybe, OneOf, Record

NOT_OF_PRODUCTS = (*OF_FILES, "engine")


def fitting(own: Node, base: Node) -> Node:
    """Return the defaults without the settings that a product does not have."""
    source = own.child("source")
    kind = source.child("kind") if source else None
    if kind is None or kind.value != Product.kind or not isinstance(base.value, dict):
        return base
    fit = {key: each for key, each in base.value.items() if key not in NOT_OF_PRODUCTS}
    return Node(fit, base.file, base.line)


def merge(shape: Any, own: Node, base: Node) -> Node:
    """Merge a file's settings with the defaults; the file takes precedence.

    Mappings are merged key by key; lists and scalars of the file replace the
    default. A default of another kind (a csv format below a parquet one) is
    none of the file's business and falls away.
    """
    if not isinstance(own.value, dict) or not isinstance(base.value, dict):
        return own
    if isinstance(shape, OneOf) and _is_of_another_kind(shape, own, base):
        return own
    merged = dict(base.value)
    for key, node in own.value.items():
        below = base.value.get(key)
        inner = _inner(shape, own, base, key)
        merged[key] = merge(inner, node, below) if below else node
    return Node(merged, own.file, own.line)


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
