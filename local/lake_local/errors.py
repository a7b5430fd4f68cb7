"""What can end a command, and with which exit code.

LakeLocalError
├── BadRequest       the arguments cannot be followed            2
├── Missing          a prerequisite is not on this machine       3
├── HomeBusy         another command uses the same home          4
├── StartFailed      a process did not come up                   5
└── RunFailed        a run, or a part of it, failed              1
"""

from __future__ import annotations

from typing import Iterable

from lake_spec.diagnostics.suggestions import did_you_mean


class LakeLocalError(Exception):
    """An end that its message explains; never shown with a traceback."""

    exit_code = 1


class BadRequest(LakeLocalError):
    """The arguments name something that is not there or not allowed."""

    exit_code = 2


class Missing(LakeLocalError):
    """A tool or folder that every command needs is not there."""

    exit_code = 3


class HomeBusy(LakeLocalError):
    """Another command is using the home."""

    exit_code = 4


class StartFailed(LakeLocalError):
    """A process ended, or gave no sign of life, while it was started."""

    exit_code = 5


class RunFailed(LakeLocalError):
    """A run ended red."""


def unknown(kind: str, got: str, choices: Iterable[str]) -> str:
    """`no table 'moma.artits'. Did you mean 'moma.artists'?`, or all choices."""
    known = sorted(choices)
    hint = did_you_mean(got, known).strip()
    if hint:
        return f"no {kind} {got!r}. {hint}"
    return f"no {kind} {got!r}. Choose one of: {', '.join(known) or '(there is none)'}."
