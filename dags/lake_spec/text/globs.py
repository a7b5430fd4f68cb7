"""Matches paths of landing files against globs.

`*` matches any text within a folder, `**` for any text over folders, `**/` for any
number of whole folders or none, `?` for one character other than `/`. Every other
character, a line break too, matches itself. Matching takes time in proportion to
the lengths of path and glob: nothing is ever tried twice.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Dict, List, Tuple

_PARTS = re.compile(r"(\*\*/|\*\*|\*|\?)")
_MEANING = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
_LONG = ("**/", "**", "*")
_MOST_LONG = 2
"""Up to so many wildcards of any length `re` is quick enough: quadratic at worst."""

_MOST_KEPT = 4096


class Glob:
    """A compiled glob."""

    def __init__(self, glob: str) -> None:
        tokens = _tokens(glob)
        self._states = None
        if sum(each in _LONG for each in tokens) <= _MOST_LONG:
            text = "".join(_MEANING.get(each, re.escape(each)) for each in tokens)
            self._pattern = re.compile(text, re.DOTALL)
        else:
            self._states = _States(tokens)

    def fullmatch(self, path: str) -> bool:
        """Return whether the glob matches the whole path."""
        if self._states is None:
            return self._pattern.fullmatch(path) is not None
        return self._states.end_of(path)


@lru_cache(maxsize=256)
def glob_pattern(glob: str) -> Glob:
    """Return the compiled glob."""
    return Glob(glob)


def _tokens(glob: str) -> List[str]:
    """Split a glob into wildcards and characters; a `**` absorbs its neighbours."""
    tokens: List[str] = []
    for part in _PARTS.split(glob):
        for each in [part] if part in _MEANING else part:
            last = tokens[-1] if tokens else ""
            if last == "**" and each in _LONG or last == each == "**/":
                continue
            if each == "**" and last in _LONG:
                tokens[-1] = each
            else:
                tokens.append(each)
    return tokens


class _States:
    """All states of a glob at once, as the bits of a number: bit i is before token i.

    What follows a state at a character is kept, up to a bound: paths of one folder
    go the same way.
    """

    def __init__(self, tokens: List[str]) -> None:
        self._chars: Dict[str, int] = {}
        self._stay = self._stay_in_folder = self._one = self._folder = 0
        self._skip = self._skip_two = 0
        at = 0
        for token in tokens:
            bit = 1 << at
            if token == "**/":  # two states: before it, and within the text before `/`
                self._skip |= bit
                self._skip_two |= bit
                self._stay |= bit << 1
                self._folder |= bit << 1
                at += 1
            elif token == "**":
                self._stay |= bit
                self._skip |= bit
            elif token == "*":
                self._stay_in_folder |= bit
                self._skip |= bit
            elif token == "?":
                self._one |= bit
            else:
                self._chars[token] = self._chars.get(token, 0) | bit
            at += 1
        self._end = 1 << at
        self._start = self._skipped(1)
        self._kept: Dict[Tuple[int, str], int] = {}

    def _skipped(self, states: int) -> int:
        """Return the states and those reachable from them without a character."""
        while True:
            more = states | (states & self._skip) << 1 | (states & self._skip_two) << 2
            if more == states:
                return states
            states = more

    def _next(self, states: int, char: str) -> int:
        moved = states & self._chars.get(char, 0)
        stay = self._stay
        if char == "/":
            moved |= states & self._folder
        else:
            moved |= states & self._one
            stay |= self._stay_in_folder
        return self._skipped(moved << 1 | states & stay)

    def end_of(self, path: str) -> bool:
        """Return whether the end is among the states after the path's last
        character."""
        states = self._start
        for char in path:
            found = self._kept.get((states, char))
            if found is None:
                found = self._next(states, char)
                if len(self._kept) >= _MOST_KEPT:
                    self._kept.clear()
                self._kept[states, char] = found
            states = found
            if not states:
                return False
        return bool(states & self._end)
