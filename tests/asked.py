"""What a program of random tests is asked for: how many, and with which seed."""

from __future__ import annotations

import argparse
import time
from typing import Callable, Optional


def parser(prog: str, what: str, description: Optional[str]) -> argparse.ArgumentParser:
    """Takes `--<what> N` and `--seed S`; without a seed, it is one of the clock's."""
    made = argparse.ArgumentParser(prog=prog, description=description)
    made.formatter_class = argparse.RawDescriptionHelpFormatter
    made.add_argument(f"--{what}", type=_positive(what), required=True, metavar="N")
    made.add_argument("--seed", type=int, default=int(time.time()), metavar="S")
    return made


def _positive(what: str) -> Callable[[str], int]:
    def number(text: str) -> int:
        if int(text) < 1:
            raise argparse.ArgumentTypeError(f"{text} is no number of {what}")
        return int(text)

    return number
