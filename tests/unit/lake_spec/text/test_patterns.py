"""Regular expressions of specs: those that could take hours are refused."""

from __future__ import annotations

import re
from time import process_time

import pytest

from lake_spec.text.patterns import LONGEST, hint, java_hint

QUICK = (
    *(r"artists_(\d{4}-\d{2}-\d{2})", r"^(.*)[.]csv$", r"region=([^/]+)/"),
    *(r"reload/(?P<updated_at>[^/]+)/", r"part-(\d+)-of-(\d+)"),
    *(r"(?<!\d)(\d{8}T\d{6})(?!\d)", r"^[^@]+@[^@]+\.[a-z]{2,}$"),
    *(r"(?:[^/]+/)*(\d+)", r"^(?:[a-z]+-)*[a-z]+$", r"^\w+( \w+)*$"),
    *(r"(?:ab|cd)*x", r"(\d{1,3}\.){3}\d{1,3}", r"^(?:https?://)?[^/]+(?:/.*)?$"),
    *(r".*/.*(\d{8}).*", r"(?i)(?:a|b)*c", r"(?i:[a-z]+-)*x", r"(?i)(?-i:aB|Ab)*c"),
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
    # Flags of a group, and what they leave out again.
    *(
        r"(?i:(?:aB|Ab)*)c",
        r"(?i)(?-i:(?:aB|Ab)*)(?:aB|Ab)*c",
        r"(?i:(?:xk|X\u212a)*)c",
    ),
    *(r"(?i:(?:ks|[\u2100-\u2200]s)*)c", r"(?:(?i:a)b|(?i:A)b)*c"),
    # Groups by name, and around what looks ahead and behind.
    *(r"(?P<a>(?P<b>x+)+)y", r"(?:(?<=a)a|aa)*b", r"((a+)\2?)+b", r"(?:x|(a+)+)*y"),
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


@pytest.mark.parametrize("pattern", ["a++b", "(?>a+)b", "(a)?(?(1)b|c)"])
def test_what_is_not_judged_is_refused(pattern):
    assert hint(pattern).startswith("Fix the regular expression: ")


JAVA = (
    *(r".*@.*", r"^[^@]+@[^@]+\.[a-z]{2,}$", r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", r"a{2,}"),
    *(r"(?i)(?:mr|mrs|dr)\.? \w+", r"(?i:eur|usd|gbp)", r"(\w)\1", r"(?<!x)y(?=z)"),
    *(
        r"^(?:foo|four)(?:,(?:foo|four))*$",
        r"[^\s,;]+(?:;[^\s,;]+)*",
        r"[\]\[&-]",
        r"é+",
    ),
)


@pytest.mark.parametrize("pattern", JAVA)
def test_what_java_reads_alike_is_accepted(pattern):
    assert java_hint(pattern) is None


@pytest.mark.filterwarnings("ignore:Possible:FutureWarning")
@pytest.mark.parametrize(
    "pattern, part",
    [
        (r"(?P<year>\d{4})", "'(?P<year' at position 0"),
        (r"[a-z&&[^b]]+", "'[a-z&&[^' at position 0"),
        (r"x[[:alpha:]]", "'[[:alpha' at position 1"),
        (r"[]a]", "'[]a]' at position 0"),
        (r"a{,3}", "'{,3}' at position 1"),
        (r"\{x{y}", "'{y}' at position 3"),
        (r"a(?#b)", "'(?#b)' at position 1"),
        (r"(?x) a b", "'(?x) a b' at position 0"),
        (r"\vx", "'\\\\vx' at position 0"),
        (r"x\Z", "'\\\\Z' at position 1"),
        (r"\012", "'\\\\012' at position 0"),
        (r"[\b]", "'[\\\\b]' at position 0"),
        (r"\N{DIGIT ONE}", "'\\\\N{DIGIT' at position 0"),
    ],
)
def test_what_java_reads_in_another_way_is_refused(pattern, part):
    assert hint(pattern) is None
    assert java_hint(pattern) == f"Java reads it in another way: {part}."


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?:a|[ab])*c",  # a class in Python, two choices in Java
        r"(?i)(?:a|A)*c",
        r"(?:\d|[0-9])+x",
        r"(?:é-|\W-)*x",  # é is a letter in Python alone
        r"(?:[^\w]-|é-)*x",
    ],
)
def test_what_takes_long_in_java_alone_is_refused_there(pattern):
    assert "too many ways" in java_hint(pattern)
