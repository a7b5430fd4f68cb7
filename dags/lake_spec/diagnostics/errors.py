"""Errors of specs; a retry never helps.

LakeError
 +-- SpecErrors    files that break the rules of specs: all diagnostics at once
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
    """Something was refused before anything was changed.

    Base class of the errors of specs and state.

    Fix: Follow the message.
    """


class SpecErrors(LakeError):
    """Specs do not follow the rules.

    `diagnostics` has all of them, in the order of the files.

    Fix: Correct each line of the message; `./run_locally.sh explain ID` explains the id
    in its brackets, and `validate` lists all of them again.
    """

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics: Tuple[Diagnostic, ...] = tuple(diagnostics)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return "\n".join(str(diagnostic) for diagnostic in self.diagnostics)


class NoSuchSpec(LakeError):
    """A domain, cluster or environment is named that has no spec.

    Fix: Write one of the names in the message, or create the spec's file.
    """

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
    """A file is named that does not exist or has another ending.

    Fix: Give the path of an existing file with the ending in the message.
    """

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
    """Stored JSON does not fit the specs of this version: another version wrote it.

    Fix: Build or deploy the release again.
    """


class NoEstimate(LakeError):
    """An argument of `estimate` is out of its bounds.

    Fix: Correct the argument as the message says.
    """

    def __init__(self, name: str, value: object, hint: str) -> None:
        super().__init__(name, value, hint)
        self.name, self.value, self.hint = name, value, hint

    def __str__(self) -> str:
        return f"{self.name}: got {shown(self.value)}. {self.hint}"
