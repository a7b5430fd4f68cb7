"""A check, its result, and how checks are played in their order."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import Enum
from typing import Any, Callable, Iterable, List, Optional, Sequence, Tuple

from botocore.exceptions import BotoCoreError, ClientError


class Outcome(str, Enum):
    """What became of a check."""

    PASSED = "passed"
    FAILED = "FAILED"
    NOT_REACHED = "not reached"
    """A check that it needs did not pass."""
    NOT_EMULATED = "not emulated"
    """Only an account can answer it."""


class CheckFailed(Exception):
    """The deployment is not as it must be.

    Fix: do what the message says, then start the acceptance run again.
    """

    def __init__(self, cause: str, fix: str) -> None:
        super().__init__(cause)
        self.cause, self.fix = cause, fix


@dataclass(frozen=True)
class Check:
    """One question to a deployment, and the function that answers it.

    `answer` returns the evidence, or raises CheckFailed. A check that is `only_in` an
    account says there why the emulator cannot answer it. One that `always` runs does so
    after every other, however they went: it ends and removes what the run made.
    """

    name: str
    question: str
    answer: Callable[[Any], str]
    needs: Tuple[str, ...] = ()
    only_in_account: str = ""
    always: bool = False


@dataclass(frozen=True)
class Result:
    """What a check found, and in how many seconds."""

    check: Check
    outcome: Outcome
    evidence: str = ""
    fix: str = ""
    seconds: float = 0.0

    def __str__(self) -> str:
        line = f"{self.outcome.value:12} {self.check.name:22} {self.seconds:6.1f} s  "
        return line + self.evidence + (f" {self.fix}" if self.fix else "")


def play(
    checks: Sequence[Check],
    subject: Any,
    *,
    emulated: bool,
    say: Callable[[str], None],
) -> List[Result]:
    """Play all checks in their order and return the results.

    An interrupt, or an error that no check expects, ends those that do not `always` run,
    and is raised when these are done.
    """
    results: List[Result] = []
    interrupt: Optional[BaseException] = None
    for check in checks:
        if interrupt and not check.always:
            continue
        try:
            result = _play(check, subject, results, emulated)
        except BaseException as error:
            interrupt = interrupt or error
            say(
                f"{type(error).__name__} in {check.name}: ending what was started. "
                "This may take some minutes."
            )
            continue
        results.append(result)
        say(str(result))
    if interrupt:
        raise interrupt
    return results


def _play(
    check: Check, subject: Any, before: Iterable[Result], emulated: bool
) -> Result:
    if emulated and check.only_in_account:
        return Result(check, Outcome.NOT_EMULATED, check.only_in_account)
    passed = {each.check.name for each in before if each.outcome is Outcome.PASSED}
    lacking = [name for name in check.needs if name not in passed]
    if lacking:
        reason = f"needs {', '.join(lacking)}, which did not pass"
        return Result(check, Outcome.NOT_REACHED, reason)
    started = time.monotonic()
    try:
        outcome, evidence, fix = Outcome.PASSED, check.answer(subject), ""
    except CheckFailed as error:
        outcome, evidence, fix = Outcome.FAILED, error.cause, error.fix
    except (ClientError, BotoCoreError) as error:
        outcome, evidence = Outcome.FAILED, f"{type(error).__name__}: {error}"
        fix = "Compare the policies of who runs this with docs/acceptance.md."
    return Result(check, outcome, evidence, fix, time.monotonic() - started)
