"""The templates as in their files, with CloudFormation's short tags."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"
LAYERS = (
    *("network", "endpoints", "data", "emr", "domains"),
    *("alerts", "mwaa", "deploy", "readers"),
)
"""Layers in the order of their deployment."""

GENERATED = ("domains", "readers")
"""Layers whose templates are generated from the specs."""


# By libyaml where it is there, which is three times as fast: no checker follows that.
class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML with `!Ref`, `!Sub` and the like, read as their long forms."""


def _long_form(loader: _Loader, tag: str, node: yaml.Node) -> dict[str, Any]:
    if isinstance(node, yaml.ScalarNode):
        value: Any = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)
    if tag == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {tag if tag in ("Ref", "Condition") else f"Fn::{tag}": value}


_Loader.add_multi_constructor("!", _long_form)


def read_template(text: str) -> dict[str, Any]:
    """Parse a template as plain data."""
    found: dict[str, Any] = yaml.load(text, _Loader)  # safe, but for the tags above
    return found


def load_template(layer: str) -> dict[str, Any]:
    """Load the template of a layer that has a file."""
    return read_template((TEMPLATES / f"{layer}.yml").read_text(encoding="utf-8"))
