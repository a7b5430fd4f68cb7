"""The arguments of a step: references, never the spec itself."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import List, Optional, Sequence

from lake_spark.table_run import Accepted, Window

_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
_RUN = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+")


@dataclass(frozen=True)
class Arguments:
    """What one step is asked to do."""

    release: str
    domain: str
    stage: str
    run: str
    tables: Sequence[str]
    window: Window
    dry_run: bool
    accepted: Accepted = Accepted()


def parse(argv: Sequence[str], stages: Sequence[str]) -> Arguments:
    """The arguments, or a usage error with exit code 2."""
    parser = argparse.ArgumentParser(prog="main.py", description=__doc__)
    parser.add_argument("--release", required=True, help="URI of the release's folder")
    parser.add_argument("--domain", required=True, type=_name)
    parser.add_argument("--stage", required=True, choices=sorted(stages))
    parser.add_argument("--run", required=True, type=_run, help="<dag id>/<run key>")
    parser.add_argument(
        "--tables", type=_names, default=[], help="a,b: all if left out"
    )
    parser.add_argument("--window", type=_window, default=Window(), help="FROM..TO")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument(
        "--accept-losses", action="store_true", help="extracts that lose many keys"
    )
    found = vars(parser.parse_args(argv))
    accepted = Accepted(losses=found.pop("accept_losses"))
    if accepted != Accepted() and found["stage"] != "incremental":
        parser.error("--accept-losses goes with --stage incremental alone")
    return Arguments(**found, accepted=accepted)


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no name: {_NAME.pattern}")
    return text


def _names(text: str) -> List[str]:
    return [_name(part) for part in text.split(",")]


def _run(text: str) -> str:
    if not _RUN.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no <dag id>/<run key>")
    return text


def _window(text: str) -> Window:
    start, dots, end = text.partition("..")
    if not dots:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no window: FROM..TO, one may be empty"
        )
    window = Window(_moment(start), _moment(end))
    if window.start and window.end and window.start >= window.end:
        raise argparse.ArgumentTypeError(f"{text!r} ends before it starts")
    return window


def _moment(text: str) -> Optional[datetime]:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no time: {error}") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
