"""The name that was probably meant."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Iterable


def nearest(got: str, choices: Iterable[str]) -> str:
    """The choice most like what was written, or nothing if none is like it."""
    by_lower = {choice.lower(): choice for choice in choices}
    # Long texts are no typing mistakes, and comparing them takes long.
    found = get_close_matches(got.lower()[:64], by_lower, n=1, cutoff=0.6)
    return by_lower[found[0]] if found else ""


def did_you_mean(got: str, choices: Iterable[str]) -> str:
    """`Did you mean 'track'? ` with its space, or nothing."""
    found = nearest(got, choices)
    return f"Did you mean {found!r}? " if found else ""
