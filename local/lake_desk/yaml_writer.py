"""Plain data as YAML text: the only module that writes YAML."""

from __future__ import annotations

from typing import Any

import yaml

_WIDTH = 100


def yaml_text(data: Any) -> str:
    """Return YAML of mappings, lists and scalars, keys in their order."""
    text: str = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=_WIDTH)
    return text
