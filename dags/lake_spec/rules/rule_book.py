"""A book of rules and how it is held against a spec."""

from __future__ import annotations

from typing import Any, Callable, Collection, Iterator, List, Tuple

from lake_spec.diagnostics.diagnostic import Path, Problem

Rule = Callable[[Any], Iterator[Problem]]


class RuleBook:
    """The rules of one kind of spec, in the order in which they were written."""

    def __init__(self) -> None:
        self.rules: List[Tuple[Rule, Tuple[Path, ...]]] = []

    def rule(self, *reads: str) -> Callable[[Rule], Rule]:
        """Add a rule and name the settings that it cannot judge without."""
        paths = tuple(tuple(read.split(".")) for read in reads)

        def add(rule: Rule) -> Rule:
            self.rules.append((rule, paths))
            return rule

        return add

    def problems(self, spec: Any, broken: Collection[Path] = ()) -> Iterator[Problem]:
        """List the problems of a spec, without those of unreadable settings."""
        for rule, reads in self.rules:
            if not any(_is_below(read, path) for read in reads for path in broken):
                for problem in rule(spec):
                    if not any(_is_below(problem.path, path) for path in broken):
                        yield problem


def _is_below(path: Path, top: Path) -> bool:
    return path[: len(top)] == top
