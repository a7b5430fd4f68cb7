"""Rules on quality rules."""

from __future__ import annotations

from typing import Iterator, List, Tuple

from lake_check.rules.rule_set import RuleSet
from lake_spec.diagnostics.diagnostic import Path, Problem, got
from lake_spec.model import Rule, TableSpec
from lake_spec.text import patterns

QUALITY = RuleSet()

TESTS = ("not_null", "one_of", "matches", "at_least", "at_most")


def tests_of(rule: Rule) -> List[str]:
    """List the tests that a quality rule has; a valid one has exactly one."""
    absent = (None, False, ())
    return [name for name in TESTS if not _is_any(getattr(rule, name), absent)]


def _is_any(value: object, others: Tuple[object, ...]) -> bool:
    # 0 == False, and `at_least: 0` is a test.
    return any(value is other for other in others)


@QUALITY.rule("quality")
def quality_rules_have_one_test(spec: TableSpec) -> Iterator[Problem]:
    """Refuse a quality rule with no test, or with several.

    Fix: Write exactly one of not_null, one_of, matches, at_least and at_most; use one
    rule for each test.
    """
    for position, rule in enumerate(spec.quality):
        tests = tests_of(rule)
        if len(tests) != 1:
            message = f"has {' and '.join(tests) or 'no test'}"
            hint = f"Write exactly one test of: {', '.join(TESTS)}."
            yield Problem(("quality", position), tests, message, hint)


@QUALITY.rule("quality")
def quality_patterns_compile(spec: TableSpec) -> Iterator[Problem]:
    """Refuse a regular expression that is not valid or could run for hours.

    Fix: Correct the expression as the message says.
    """
    for position, rule in enumerate(spec.quality):
        if rule.matches is None:
            continue
        hint = patterns.java_hint(rule.matches)
        if hint is not None:
            path: Path = ("quality", position, "matches")
            yield got(path, rule.matches, hint)


@QUALITY.rule("quality", "columns")
def quality_limits_are_for_numbers(spec: TableSpec) -> Iterator[Problem]:
    """Refuse limits on a column that is not a number.

    Fix: Use another test, or correct the column's type.
    """
    for position, rule in enumerate(spec.quality):
        kind = spec.type_of(rule.column)
        for name in ("at_least", "at_most"):
            limit = getattr(rule, name)
            if limit is not None and kind and not kind.is_numeric:
                hint = (
                    f"Column {rule.column!r} is {kind.name}, not a number: use "
                    "another test."
                )
                yield got(("quality", position, name), limit, hint)
