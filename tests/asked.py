"""What a program of random tests is asked for: how many, and with which seed."""

from __future__ import annotations

import argparse
import time
from typing import Callable, Optional


def parser(
    prog: str,
    what: str,
    description: Optional[str],
    *others: str,
    default: Optional[int] = None,
) -> argparse.ArgumentParser:
    """Takes `--<what> N`, or another one, and `--seed S`, else one of the clock's.

    One of the counts is required unless they have a default.
    """
    made = argparse.ArgumentParser(prog=prog, description=description)
    made.formatter_class = argparse.RawDescriptionHelpFormatter
    counts = made.add_mutually_exclusive_group(required=default is None)
    for each in (what, *others):
        of = {"type": _positive(each), "default": default, "metavar": "N"}
        counts.add_argument(f"--{each}", **of)
    made.add_argument("--seed", type=int, default=int(time.time()), metavar="S")
    return made


def _positive(what: str) -> Callable[[str], int]:
    def number(text: str) -> int:
        if int(text) < 1:
            raise argparse.ArgumentTypeError(f"{text} is no number of {what}")
        return int(text)

    return number
