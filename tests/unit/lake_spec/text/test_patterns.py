"""Regular expressions of specs: those that could take hours are refused."""

from __future__ import annotations

import re
from time import process_time

import pytest

from lake_spec.text.patterns import LONGEST, hint

QUICK = (
    *(r"artists_(\d{4}-\d{2}-\d{2})", r"^(.*)[.]csv$", r"region=([^/]+)/"),
    *(r"reload/(?P<updated_at>[^/]+)/", r"part-(\d+)-of-(\d+)"),
    *(r"(?<!\d)(\d{8}T\d{6})(?!\d)", r"^[^@]+@[^@]+\.[a-z]{2,}$"),
    *(r"(?:[^/]+/)*(\d+)", r"^(?:[a-z]+-)*[a-z]+$", r"^\w+( \w+)*$"),
    *(r"(?:ab|cd)*x", r"(\d{1,3}\.){3}\d{1,3}", r"^(?:https?://)?[^/]+(?:/.*)?$"),
    *(r".*/.*(\d{8}).*", r"(?i)(?:a|b)*c"),
)
SLOW = (
    *(r"(a+)+b", r"(a*)*b", r"(a|a)*b", r"([a-z]+)*$", r"(\w+\s?)*$", r"(x+x+)+y"),
    *(r".*a.*b.*c", r"(.*.*.*)x", r"(?:a{0,30}){0,30}b", r"(?:a?){40}a{40}"),
    *(
        r"(\d+|\w+)*:",
        r"(?=(a+)+b)",
        r"((ab)*|a)*c",
        r"(?:a?b?c?)*x",
        r"(?i)(a|ab)*(A)+A+A+b",
    ),
)


@pytest.mark.parametrize("pattern", QUICK)
def test_what_specs_write_is_quick_on_the_longest_path(pattern):
    assert hint(pattern) is None
    compiled = re.compile(pattern)
    for text in ("a" * LONGEST, "1" * LONGEST, "/" * LONGEST, "a-" * (LONGEST // 2)):
        started = process_time()
        compiled.fullmatch(text + "\0")
        assert process_time() - started < 1


@pytest.mark.parametrize("pattern", SLOW)
def test_quantifiers_that_share_a_text_in_many_ways_are_refused(pattern):
    assert "too many ways" in hint(pattern)


@pytest.mark.parametrize("pattern", ["(", "a**", "[z-a]", "(?P<x>a)(?P<x>b)"])
def test_what_is_no_regular_expression_says_why(pattern):
    assert hint(pattern).startswith("Fix the regular expression: ")
