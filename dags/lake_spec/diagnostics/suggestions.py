"""The name that was probably meant."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Iterable

RENAMED = {
    "--home": "--state-dir",
    "absence": "missing_keys",
    "extract_time": "snapshot_time",
    "marker": "tombstone",
    "redo": "reprocess",
    "reloads": "full_refresh",
    "when_busy": "concurrency",
    "withdraw_missing": "retract_missing",
}
"""Old name -> present name: keys, values, params, options and DAGs."""


def nearest(got: str, choices: Iterable[str]) -> str:
    """Return the choice most similar to the given text; None if none is similar."""
    by_lower = {choice.lower(): choice for choice in choices}
    renamed = renamed_to(got, by_lower)
    if renamed:
        return by_lower[renamed]
    # Long texts are no typing mistakes, and comparing them takes long.
    found = get_close_matches(got.lower()[:64], by_lower, n=1, cutoff=0.6)
    return by_lower[found[0]] if found else ""


def renamed_to(got: str, choices: Iterable[str]) -> str:
    """Return the present name of an old name, if it is among the choices.

    A name may end with the old one, as DAGs do: `moma_redo` is `moma_reprocess`.
    """
    start, _, last = got.rpartition("_")
    names = [RENAMED.get(got, "")]
    if start and last in RENAMED:
        names.append(f"{start}_{RENAMED[last]}")
    return next((name for name in names if name and name in choices), "")


def did_you_mean(got: str, choices: Iterable[str]) -> str:
    """Return `Did you mean 'track'? ` with its space, or ""; for an old name the new
    one."""
    choices = list(choices)
    renamed = renamed_to(got, choices)
    if renamed:
        return f"It was renamed: write {renamed!r}. "
    found = nearest(got, choices)
    return f"Did you mean {found!r}? " if found else ""
