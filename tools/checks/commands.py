"""What a choice of tests is made of: commands, words, and parts that run side by side."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Mapping, Union

NO_TEST = 5
"""The exit code of pytest where it found no test."""
PYTHONPATH = "dags:spark_jobs:emulator:local:infra:."


@dataclass(frozen=True)
class Command:
    """A command from the checkout's root, and what beside 0 is no failure of it.

    `env` is added to the environment of the command.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    fine: tuple[int, ...] = ()

    def __str__(self) -> str:
        """Return it as it can be typed again."""
        variables = [f"{name}={shlex.quote(value)}" for name, value in self.env.items()]
        return " ".join([*variables, shlex.join(self.argv)])


Step = Union[Command, str]
"""A command, or words that are shown."""


@dataclass(frozen=True)
class SideBySide:
    """Parts by name, all at once; the steps of each one after the other."""

    parts: Mapping[str, list[Step]]


Stage = Union[Step, SideBySide]


@dataclass(frozen=True)
class Checkout:
    """The checkout that is tested, and the arguments for pytest that somebody chose."""

    root: Path
    chosen: tuple[str, ...] = ()

    def tests(self, python: str, *arguments: str, **env: str) -> Command:
        """Return pytest with the Python of an environment, on the folders named."""
        # Where the user chose tests, others of these folders may hold the chosen ones.
        fine = (NO_TEST,) if self.chosen else ()
        argv = (python, "-m", "pytest", *arguments, *self.chosen)
        return Command(argv, env, fine)

    def program(self, python: str, module: str, *arguments: str) -> Command:
        """Return a program of the tests; `arguments` stand in the place of the chosen."""
        argv = (python, "-m", module, *(arguments or self.chosen))
        return Command(argv, {"PYTHONPATH": PYTHONPATH})

    def has(self, program: str) -> bool:
        """Whether this program of an environment can be run."""
        return os.access(self.root / program, os.X_OK)


def set_up(*targets: str) -> Command:
    """Return the set-up of these targets."""
    only = [word for each in targets for word in ("--only", each)]
    return Command(("./setup.sh", "--quiet", *only))
