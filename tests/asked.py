"""What a program of random tests is asked for: how many, and with which seed."""

from __future__ import annotations

import argparse
import time
from typing import Callable, Optional


def parser(
    prog: str, what: str, description: Optional[str], *others: str
) -> argparse.ArgumentParser:
    """Takes `--<what> N`, or another one, and `--seed S`, else one of the clock's."""
    made = argparse.ArgumentParser(prog=prog, description=description)
    made.formatter_class = argparse.RawDescriptionHelpFormatter
    counts = made.add_mutually_exclusive_group(required=True)
    for each in (what, *others):
        counts.add_argument(f"--{each}", type=_positive(each), metavar="N")
    made.add_argument("--seed", type=int, default=int(time.time()), metavar="S")
    return made


def _positive(what: str) -> Callable[[str], int]:
    def number(text: str) -> int:
        if int(text) < 1:
            raise argparse.ArgumentTypeError(f"{text} is no number of {what}")
        return int(text)

    return number
