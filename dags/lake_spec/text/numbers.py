"""Numbers as texts for people."""

from __future__ import annotations

_ALL_DIGITS = 10**15
"""Below it a float has all digits of a whole number."""


def plain_number(value: float) -> str:
    """Return a number as a spec declares it: 0, not 0.0, for a whole one."""
    is_whole = abs(value) < _ALL_DIGITS and value == int(value)
    return str(int(value)) if is_whole else repr(value)
