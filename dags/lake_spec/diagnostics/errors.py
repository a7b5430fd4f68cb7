"""Errors of specs; a retry never helps.

LakeError
 +-- SpecErrors    files that break the rules of specs: all faults at once
 +-- NoSuchSpec    a domain, cluster or environment that has no file
 +-- NotASpec      JSON that was not written from a spec
 +-- UnreadableState  a file of state that only another release can read (state_format.py)
 +-- NoEstimate    an argument of an estimate that is out of its bounds
"""

from __future__ import annotations

from typing import Iterable, Sequence, Tuple

from lake_spec.diagnostics.diagnostic import Diagnostic, shown
from lake_spec.diagnostics.suggestions import did_you_mean


class LakeError(Exception):
    """Anything that the lake's own code refuses, with words for its user."""


class SpecErrors(LakeError):
    """Specs with faults; `faults` holds them all, in the order of the files."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics: Tuple[Diagnostic, ...] = tuple(diagnostics)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return "\n".join(str(diagnostic) for diagnostic in self.diagnostics)


class NoSuchSpec(LakeError):
    """Something is named that no file defines."""

    def __init__(self, kind: str, name: str, choices: Sequence[str]) -> None:
        super().__init__(kind, name, tuple(choices))
        self.kind = kind
        self.name = name
        self.choices = tuple(choices)

    def __str__(self) -> str:
        there = ", ".join(self.choices) or "none"
        hint = did_you_mean(self.name, self.choices)
        return f"{self.kind}: got {self.name!r}. {hint}There are: {there}."


class NoSuchFile(LakeError):
    """A file is named that is not there, or that is none of ours by its ending."""

    def __init__(self, kind: str, given: str, ending: str) -> None:
        super().__init__(kind, given, ending)
        self.kind, self.given, self.ending = kind, given, ending

    def __str__(self) -> str:
        return (
            f"{self.kind}: got {self.given!r}. No such file that ends in "
            f"{self.ending}. Give the path of such a file, or the name of one in "
            f"dags/{self.kind}s without its ending."
        )


class NotASpec(LakeError):
    """Stored JSON does not fit the model: another version wrote it."""


class NoEstimate(LakeError):
    """An argument of an estimate that nothing can be estimated for."""

    def __init__(self, name: str, value: object, hint: str) -> None:
        super().__init__(name, value, hint)
        self.name, self.value, self.hint = name, value, hint

    def __str__(self) -> str:
        return f"{self.name}: got {shown(self.value)}. {self.hint}"
