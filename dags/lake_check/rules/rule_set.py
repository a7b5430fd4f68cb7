"""A set of rules, and how a spec is checked by them."""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from typing import Any, Callable, Collection, Iterator, List, Tuple, TypeVar

from lake_spec.diagnostics.diagnostic import Path, Problem

Rule = Callable[[Any], Iterator[Problem]]
AnyRule = TypeVar("AnyRule", bound=Callable[..., Iterator[Any]])


def rule(function: AnyRule) -> AnyRule:
    """Give the problems of a rule its id; used alone for a rule outside of any set.

    The id is the function's name with hyphens, as in `key-has-columns`. The function
    yields problems, or pairs of a table's position and a problem.
    """
    id = function.__name__.replace("_", "-")

    @wraps(function)
    def named(*args: Any, **kwargs: Any) -> Iterator[Any]:
        for found in function(*args, **kwargs):
            if isinstance(found, Problem):
                yield replace(found, rule=id)
            else:
                position, problem = found
                yield position, replace(problem, rule=id)

    return named  # type: ignore[return-value]


class RuleSet:
    """The rules of one kind of spec, in the order in which they were written."""

    def __init__(self) -> None:
        self.rules: List[Tuple[Rule, Tuple[Path, ...]]] = []

    def rule(self, *reads: str) -> Callable[[Rule], Rule]:
        """Add a rule and name the settings that it cannot judge without."""
        paths = tuple(tuple(read.split(".")) for read in reads)

        def add(function: Rule) -> Rule:
            named = rule(function)
            self.rules.append((named, paths))
            return named

        return add

    def problems(self, spec: Any, broken: Collection[Path] = ()) -> Iterator[Problem]:
        """List the problems of a spec, without those of unreadable settings."""
        for judge, reads in self.rules:
            if not any(_is_below(read, path) for read in reads for path in broken):
                for problem in judge(spec):
                    if not any(_is_below(problem.path, path) for path in broken):
                        yield problem


def _is_below(path: Path, top: Path) -> bool:
    return path[: len(top)] == top
