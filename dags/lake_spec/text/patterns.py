"""Limits the ways in which a regular expression of a spec can be tried.

Engines with backtracking (Python's, Java's) try every way in which quantifiers can share
a text before they give up, so `(a+)+` takes hours on 40 characters. Counted here is an
upper bound of those ways on a text of LONGEST characters. A quantifier whose characters
cannot also begin what follows it has one way: `[^/]*/` and `(?:[a-z]+-)*` cost nothing,
`.*` can end anywhere, and three of them in a row are too many.

Python's parser is what judges. Expressions that Java runs keep to what both engines read
alike, and are judged as Java tries them.
"""

from __future__ import annotations

import re
from typing import Any, FrozenSet, List, Optional, Tuple

try:
    from re import _constants as codes, _parser as parser  # type: ignore[attr-defined]
except ImportError:  # before Python 3.11
    import sre_constants as codes
    import sre_parse as parser

LONGEST = 1024
"""Characters of a text, as the longest key on S3 has."""
LONGEST_MATCHED = 4096
"""Characters of a value that `quality.matches` is tried on."""
MOST_WAYS = (LONGEST + 1) ** 2
"""Two quantifiers that can end anywhere."""

_OTHERS = 256
"""Stands for every character from 256 on."""
_ANY = frozenset(range(_OTHERS + 1))
_ENDS: FrozenSet[int] = frozenset()
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT)
_LOOKS = (codes.ASSERT, codes.ASSERT_NOT)
_SINGLE = (
    *(codes.LITERAL, codes.NOT_LITERAL, codes.IN, codes.ANY, codes.AT),
    *(codes.GROUPREF, codes.FAILURE),
)
"""Items that match in one way only; any item in no list is treated as unknown."""
Items = List[Tuple[Any, Any]]


def hint(pattern: str) -> Optional[str]:
    """Return what to do about an invalid or slow regular expression; else None."""
    try:
        ways = _ways(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"Fix the regular expression: {error}."
    return None if ways <= MOST_WAYS else _SLOW


def java_hint(pattern: str) -> Optional[str]:
    """Return the same about an expression that Java runs."""
    found = hint(pattern)
    if found is not None:
        return found
    try:
        _for_java(pattern)
    except re.error as error:
        return f"Java reads it in another way: {error}."
    return slow_in_java(pattern)


def slow_in_java(pattern: str) -> Optional[str]:
    """Return what to do about an expression that Java could try for hours.

    None also where it has what only Java reads, which is not judged.
    """
    try:
        is_slow = _ways(_for_java(pattern)) > MOST_WAYS
    except (re.error, RecursionError, OverflowError):
        return None
    return _SLOW if is_slow else None


_SLOW = (
    "Its quantifiers can match one text in too many ways, so that a text without a match "
    "could take hours. Remove a quantifier within another, as in (a+)+, and write a class "
    "that excludes what follows, as in [^/]*/, instead of .*."
)

_ATOM = re.compile(
    r"\\(?:[dDwWsSbBAafnrt]|[1-9](?![0-9])|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[^A-Za-z0-9])"
    r"|\((?:\?(?:[ims]*(?:-[ims]+)?:|<?[=!])|(?!\?))|(?P<end>\||\))"
    r"|\{[0-9]+(?:,[0-9]*)?\}"
    r"|\[\^?(?:\\(?:[dDwWsSafnrt]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[^A-Za-z0-9])"
    r"|&(?!&)|[^\\\[\]&])+\]|[^\\()\[\]{|]",
    re.DOTALL,
)
"""A part of an expression that Java reads as Python does."""
_FLAGS = re.compile(r"\(\?[ims]+\)")
_NO_MATTER = "(?=)"


def _for_java(pattern: str) -> str:
    """Return an expression that Python tries as Java tries this one.

    Python makes one class of choices that are single characters each, as in `a|[ab]`; Java
    tries each of them. Raises re.error for what the engines read in two ways.
    """
    flags = _FLAGS.match(pattern)
    at = flags.end() if flags else 0
    parts = [pattern[:at]]
    while at < len(pattern):
        match = _ATOM.match(pattern, at)
        if match is None:
            raise re.error(f"{pattern[at : at + 8]!r}", pattern, at)
        parts += [_NO_MATTER if match["end"] else "", match[0]]
        at = match.end()
    return "".join([*parts, _NO_MATTER])


def _ways(pattern: str) -> int:
    """Return the ways to try an expression. Raises re.error for an invalid one."""
    parsed = parser.parse(pattern)
    folds = bool(parsed.state.flags & re.IGNORECASE)
    return _Ways(folds).of(list(parsed), _ENDS)


class _Ways:
    """Upper bounds for parts of one expression; `folds`: case is ignored."""

    def __init__(self, folds: bool) -> None:
        self.folds = folds

    def of(self, items: Items, after: FrozenSet[int]) -> int:
        """Return the ways to match items in a row; `after` are the following
        characters."""
        ways = 1
        for at in range(len(items) - 1, -1, -1):
            ways = min(ways * self._of_one(items[at], after), MOST_WAYS + 1)
            first, is_optional = self._first([items[at]])
            after = first | after if is_optional else first
        return ways

    def _of_one(self, item: Tuple[Any, Any], after: FrozenSet[int]) -> int:
        code, value = item
        if code in _REPEATS:
            least, most, body = value
            return self._of_repeat(least, most, body, after)
        if code is codes.BRANCH:
            return self._of_branches([list(each) for each in value[1]], after)
        if code is codes.SUBPATTERN:
            return self._within(*value[1:3]).of(list(value[-1]), after)
        if code in _LOOKS:
            return self.of(list(value[1]), _ANY)
        if code in _SINGLE:
            return 1
        words = "possessive quantifiers, atomic groups and conditions are not supported"
        raise re.error(words)

    def _within(self, added: int, removed: int) -> "_Ways":
        """Return the bounds within a group, as `(?i:...)`, that sets flags of its own."""
        folds = (self.folds or added & re.IGNORECASE) and not removed & re.IGNORECASE
        return _Ways(bool(folds))

    def _of_repeat(
        self, least: int, most: int, body: Any, after: FrozenSet[int]
    ) -> int:
        items = list(body)
        times = min(int(most), LONGEST)
        first, is_optional = self._first(items)
        again = first if times > 1 else _ENDS
        inner = self.of(items, again | after)
        if inner > 1:
            # More than the bound from 21 times on.
            inner = inner ** min(times, 21)
        if is_optional and times > 1:
            return MOST_WAYS + 1
        is_sure = int(most) == least or not first & after
        return inner * (1 if is_sure else times - least + 1)

    def _of_branches(self, branches: List[Items], after: FrozenSet[int]) -> int:
        ways = [self.of(each, after) for each in branches]
        seen: FrozenSet[int] = _ENDS
        for each in branches:
            first, is_optional = self._first(each)
            first = first | after if is_optional else first
            if seen & first:
                return sum(ways)
            seen |= first
        return max(ways)

    def _first(self, items: Items) -> Tuple[FrozenSet[int], bool]:
        """Return the characters that items can begin with, and whether they can be
        empty."""
        found: FrozenSet[int] = _ENDS
        for code, value in items:
            first, is_optional = self._first_of(code, value)
            found |= first
            if not is_optional:
                return found, False
        return found, True

    def _first_of(self, code: Any, value: Any) -> Tuple[FrozenSet[int], bool]:
        if code in _REPEATS:
            first, is_optional = self._first(list(value[2]))
            return first, is_optional or value[0] == 0
        if code is codes.SUBPATTERN:
            return self._within(*value[1:3])._first(list(value[-1]))
        if code is codes.BRANCH:
            firsts = [self._first(list(each)) for each in value[1]]
            chars = frozenset().union(*(chars for chars, _ in firsts))
            return chars, any(is_optional for _, is_optional in firsts)
        if code is codes.AT or code in _LOOKS:
            return _ENDS, True
        if code is codes.GROUPREF:
            return _ANY, True
        return self._chars(code, value), False

    def _chars(self, code: Any, value: Any) -> FrozenSet[int]:
        if code is codes.LITERAL:
            return self._cased(value)
        if code is codes.NOT_LITERAL:
            return _ANY - ({value} if value < _OTHERS else set())
        if code is not codes.IN:
            return _ANY
        found: FrozenSet[int] = _ENDS
        sure: FrozenSet[int] = _ENDS
        for kind, what in value:
            if kind is codes.LITERAL:
                found |= self._cased(what)
                sure |= {what}
            elif kind is codes.RANGE:
                for char in range(what[0], min(what[1], _OTHERS) + 1):
                    found |= self._cased(char)
                found |= self._cased(_OTHERS) if what[1] >= _OTHERS else _ENDS
                sure |= frozenset(range(what[0], min(what[1] + 1, _OTHERS)))
            elif kind is not codes.NEGATE:
                found |= _CLASSES[what][0]
                sure |= _CLASSES[what][1]
        # A class leaves out what is in it for sure, and of the others only some.
        is_negated = value[0][0] is codes.NEGATE
        return (_ANY - sure) | {_OTHERS} if is_negated else found

    def _cased(self, char: int) -> FrozenSet[int]:
        """Return a character with all that are equal to it where case is ignored."""
        texts = {chr(char)}
        if self.folds:
            texts |= {chr(char).lower(), chr(char).upper()}
        found = frozenset(min(ord(each[0]), _OTHERS) for each in texts)
        if self.folds and found & _WITH_OTHERS:
            found |= _WITH_OTHERS
        return found


_WITH_OTHERS = frozenset([*map(ord, "iIkKsS\u00b5\u00df\u00c5\u00e5\u00ff"), _OTHERS])
"""Characters that ignored case makes equal to some of the others, as K to the Kelvin sign."""


def _of_class(letter: str) -> Tuple[FrozenSet[int], FrozenSet[int]]:
    """Return what may be in a class such as `d`, and what is in it for sure.

    In Java a class has ASCII alone, in Python what Unicode has too.
    """
    wide, narrow = (
        frozenset(i for i in range(_OTHERS) if re.match(f"\\{letter}", chr(i), flags))
        for flags in (0, re.ASCII)
    )
    return wide | {_OTHERS}, narrow


def _of_others(letter: str) -> Tuple[FrozenSet[int], FrozenSet[int]]:
    """Return the same of the class of all other characters, such as `D`."""
    wide, narrow = _of_class(letter)
    return _ANY - narrow, _ANY - wide


_CLASSES = {
    codes.CATEGORY_DIGIT: _of_class("d"),
    codes.CATEGORY_NOT_DIGIT: _of_others("d"),
    codes.CATEGORY_SPACE: _of_class("s"),
    codes.CATEGORY_NOT_SPACE: _of_others("s"),
    codes.CATEGORY_WORD: _of_class("w"),
    codes.CATEGORY_NOT_WORD: _of_others("w"),
}
