"""A book of rules, and how a spec is checked by them."""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from typing import Any, Callable, Collection, Iterator, List, Tuple, TypeVar

from lake_spec.diagnostics.diagnostic import Path, Problem

Rule = Callable[[Any], Iterator[Problem]]
AnyRule = TypeVar("AnyRule", bound=Callable[..., Iterator[Any]])


def rule(function: AnyRule) -> AnyRule:
    """Mark a rule outside of any book: its problems carry its id.

    It yields problems, or pairs of a table's position and a problem.
    """

    @wraps(function)
    def named(*args: Any, **kwargs: Any) -> Iterator[Any]:
        for found in function(*args, **kwargs):
            if isinstance(found, Problem):
                yield replace(found, rule=rule_id(function))
            else:
                position, problem = found
                yield position, replace(problem, rule=rule_id(function))

    return named  # type: ignore[return-value]


def rule_id(function: Callable[..., Any]) -> str:
    """Return the id of a rule: its function's name, as in `key-has-columns`."""
    return function.__name__.replace("_", "-")


class RuleBook:
    """The rules of one kind of spec, in the order in which they were written."""

    def __init__(self) -> None:
        self.rules: List[Tuple[Rule, Tuple[Path, ...]]] = []

    def rule(self, *reads: str) -> Callable[[Rule], Rule]:
        """Add a rule and name the settings that it cannot judge without."""
        paths = tuple(tuple(read.split(".")) for read in reads)

        def add(function: Rule) -> Rule:
            self.rules.append((function, paths))
            return function

        return add

    def problems(self, spec: Any, broken: Collection[Path] = ()) -> Iterator[Problem]:
        """List the problems of a spec, without those of unreadable settings."""
        for judge, reads in self.rules:
            if not any(_is_below(read, path) for read in reads for path in broken):
                for problem in judge(spec):
                    if not any(_is_below(problem.path, path) for path in broken):
                        yield replace(problem, rule=rule_id(judge))


def _is_below(path: Path, top: Path) -> bool:
    return path[: len(top)] == top
