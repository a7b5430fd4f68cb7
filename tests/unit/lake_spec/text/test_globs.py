"""Globs name the paths that their page says, in a time that nothing can stretch."""

from __future__ import annotations

import re
from random import Random
from time import process_time

import pytest

from lake_spec.text.globs import Glob, glob_pattern
from tests.kinds import one_by_day

_MEANING = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def matches_by_backtracking(glob: str, path: str) -> bool:
    """The meaning of a glob, as a regular expression of Python."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
    text = "".join(_MEANING.get(part, re.escape(part)) for part in parts)
    return re.fullmatch(text, path, re.DOTALL) is not None


@pytest.mark.parametrize("globs", one_by_day([2_000, 10_000]))
def test_globs_mean_the_same_as_their_regular_expressions(globs):
    random = Random(20260101)
    pieces = ["a", "b", "/", "*", "**", "**/", "?", "[", "\n"]
    matched = 0
    for _ in range(globs):
        glob = "".join(random.choice(pieces) for _ in range(random.randint(0, 7)))
        ours = Glob(glob)
        for _ in range(4):  # to compile a glob takes longer than to match a path
            path = "".join(random.choices("aab//[\n", k=random.randint(0, 8)))
            wanted = matches_by_backtracking(glob, path)
            matched += wanted
            assert ours.fullmatch(path) is wanted, (glob, path)
    assert matched > globs / 5


@pytest.mark.parametrize(
    "glob, path, wanted",
    [
        ("**/" * 12 + "b", "x/" * 24 + "c", False),
        ("**a*a*a*a*a*a*a*a*b", "a" * 40, False),
        ("**/**/b", "x/b", True),
        ("*a*a*b", "aa/b", False),
        ("*a" * 500 + "b", "a" * 1024, False),
        ("**a" * 340 + "b", "a" * 1024, False),
        ("**a**b", "a" * 1024, False),
        ("**/*?a", "a/" * 511 + "b", False),
        ("**/a*" * 200, "/a" * 512, True),
    ],
)
def test_no_glob_takes_a_tenth_of_a_second(glob, path, wanted):
    glob_pattern.cache_clear()
    started = process_time()
    assert glob_pattern(glob).fullmatch(path) is wanted
    assert process_time() - started < 0.1


def test_a_line_break_is_a_character_like_others():
    for glob in ("**", "**/*.csv", "*.csv", "x?y.csv"):
        assert glob_pattern(glob).fullmatch("x\ny.csv"), glob
    assert glob_pattern("**/*.csv").fullmatch("a\nb/c.csv")


def test_what_other_systems_read_as_a_pattern_stands_for_itself():
    for path in ("[ab].csv", "{a,b}.csv", "a\\b.csv", "100%.csv", "a+b.csv", "(a).csv"):
        assert glob_pattern(path).fullmatch(path)
        assert not glob_pattern(path).fullmatch("a.csv")
