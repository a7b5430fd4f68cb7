"""`./setup.sh`: install what the project runs on."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from tools.processes import ProcessGroups, exit_on_interrupts
from tools.setup.folders import SetupFailed
from tools.setup.machine import Machine
from tools.setup.pieces import BY_DEFAULT, TARGETS
from tools.setup.work import Setup

ROOT = Path(__file__).resolve().parents[2]
SECONDS_TO_END = 5.0
"""Less than the tests give a set-up that they started."""
NOT_FOR_COMMANDS = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")

BEFORE = """\
Installs what the project runs on, all of it into folders of this checkout that
git ignores. The second time it finds everything in place and ends at once; with
--quiet it says so only where there is something to do.

  ./setup.sh [--quiet] [--only NAME]...
"""
AFTER = """
Without --only: {}. LAKE_PYTHON picks the Python (3.11 or 3.12),
LAKE_SPARK_PYTHON another for spark, streamer and bench."""


@dataclass(frozen=True)
class Asked:
    """What the arguments ask for."""

    quiet: bool
    targets: tuple[str, ...]


def read(arguments: list[str]) -> Asked:
    """Return what arguments ask for.

    Raises:
        SetupFailed: nothing is called so.
    """
    quiet, targets, left = False, [], list(arguments)
    while left:
        each = left.pop(0)
        if each == "--quiet":
            quiet = True
        elif each == "--only":
            targets.append(_target(left.pop(0) if left else ""))
        else:
            raise SetupFailed(
                [
                    f"unknown argument '{each}'; it takes [--quiet] [--only NAME]..., see"
                    " --help"
                ]
            )
    return Asked(quiet, tuple(targets or BY_DEFAULT))


def _target(name: str) -> str:
    names = [each.name for each in TARGETS]
    if name not in names:
        raise SetupFailed([f"--only '{name}': choose one of {', '.join(names)}"])
    return name


def help_text() -> str:
    """Return what --help prints."""
    lines = [
        f"  {name:<14} {place:<21} {words}"
        for each in TARGETS
        for name, place, words in zip(
            (each.name, ""), (*each.place, ""), (*each.words,)
        )
    ]
    by_default = f"{', '.join(BY_DEFAULT[:-1])} and {BY_DEFAULT[-1]}"
    return "\n".join([BEFORE, *lines, AFTER.format(by_default)])


def main(arguments: list[str], root: Path) -> None:
    """Set up what the arguments ask for.

    Raises:
        SystemExit: 1 where set-up cannot go on, 130 after an interrupt.
    """
    if {"-h", "--help"} & set(arguments):
        print(help_text())
        return
    environ = {k: v for k, v in os.environ.items() if k not in NOT_FOR_COMMANDS}
    cache = {"UV_CACHE_DIR": str(root / ".local/cache/uv")}
    environ |= {**cache, "UV_PYTHON_DOWNLOADS": "never", "UV_NO_PROGRESS": "1"}
    try:
        asked = read(arguments)
        exit_on_interrupts()
        Setup(root, asked.targets, environ, Machine(environ)).run(
            asked.quiet,
            lambda lock: ProcessGroups(signal.SIGTERM, SECONDS_TO_END, [lock]),
        )
    except SetupFailed as failed:
        for each in failed.reasons:
            print(f"setup: {each}", file=sys.stderr)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main(sys.argv[1:], ROOT)
