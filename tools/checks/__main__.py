"""`./run_tests_locally.sh`: choose tests, and run their commands."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from tools.checks.choices import NoSuchChoice, chosen, help_text
from tools.checks.commands import Checkout
from tools.checks.running import run
from tools.processes import ProcessGroups, exit_on_interrupts

ROOT = Path(__file__).resolve().parents[2]
SECONDS_TO_END = 60.0
"""Until an interrupted command is killed: end-to-end tests stop servers of their own."""


def main(arguments: list[str], root: Path) -> None:
    """Run what the arguments ask for.

    Raises:
        SystemExit: 2 for arguments that ask for nothing, 130 after an interrupt, else the
            exit code of the command that failed.
    """
    if arguments[:1] in (["-h"], ["--help"]):
        print(help_text())
        return
    try:
        stages, rest = chosen(arguments)
    except NoSuchChoice as error:
        print(f"run_tests_locally.sh: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    # Else each process compiles all of Airflow: 7 s.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    exit_on_interrupts()
    # As Ctrl-C does, so that pytest ends what it started.
    with ProcessGroups(signal.SIGINT, SECONDS_TO_END) as groups:
        run(stages(Checkout(root, rest)), root, groups)


if __name__ == "__main__":
    main(sys.argv[1:], ROOT)
