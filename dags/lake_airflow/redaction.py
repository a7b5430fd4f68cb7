"""Masks secrets in texts that leave the run's own log."""

from __future__ import annotations

import re

_MASK = "***"
_KEY_ID = re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b")
_USER_INFO = re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)")
_NAMED = re.compile(
    r"((?:password|passwd|secret|token|signature|credentials?|api[_.-]?key|access[_.-]?key)"
    r"[\w.-]*[\"']?\s*[=:]\s*[\"']?)[^\s\"'&,;]+",
    re.IGNORECASE,
)


def masked(text: str) -> str:
    """Replace key ids, `user:password@` and values named as secrets by `***`."""
    text = _USER_INFO.sub(_MASK, _KEY_ID.sub(_MASK, text))
    return _NAMED.sub(rf"\g<1>{_MASK}", text)
