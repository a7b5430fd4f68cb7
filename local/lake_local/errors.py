"""Errors that end a command, with their exit codes.

LakeLocalError
├── BadRequest          an argument is not valid                 2
├── Missing             a prerequisite is not on this machine    3
├── StateDirectoryBusy  another command uses the state directory 4
├── StartFailed         a process did not start                  5
└── RunFailed           a run, or a part of it, failed           1
"""

from __future__ import annotations

from typing import Iterable

from lake_spec.diagnostics.suggestions import did_you_mean


class LakeLocalError(Exception):
    """A command of ./run_locally.sh could not be completed.

    It is shown without a traceback.

    Fix: Follow the message; the log that it names has the details.
    """

    exit_code = 1


class BadRequest(LakeLocalError):
    """An argument of a command names something that does not exist or is not allowed.

    Fix: Correct the argument as the message says; `./run_locally.sh COMMAND --help`
    lists what the command accepts.
    """

    exit_code = 2


class Missing(LakeLocalError):
    """A tool or a folder that every command needs is missing on this machine.

    Fix: Run ./setup.sh, or install what the message names.
    """

    exit_code = 3


class StateDirectoryBusy(LakeLocalError):
    """Another command is using the state directory.

    Fix: Wait until it ends (`./run_locally.sh status` names it), or give this command a
    state directory of its own with --state-dir DIR.
    """

    exit_code = 4


class StartFailed(LakeLocalError):
    """A process ended or did not respond while it was started.

    Fix: Read the end of its log in the message and fix the cause, often too little
    memory or disk or a port in use; then run the command again.
    """

    exit_code = 5


class RunFailed(LakeLocalError):
    """A DAG run on this machine failed.

    Fix: Read the cause in the message and in `./run_locally.sh logs RUN`, fix it, and
    start the run again.
    """


def unknown(kind: str, got: str, choices: Iterable[str]) -> str:
    """Return `no table 'moma.artits'. Did you mean 'moma.artists'?`, or all choices."""
    known = sorted(choices)
    if not known:
        return f"no {kind} {got!r}. There is no {kind} yet."
    hint = did_you_mean(got, known).strip()
    return f"no {kind} {got!r}. {hint or 'Choose one of: ' + ', '.join(known) + '.'}"
