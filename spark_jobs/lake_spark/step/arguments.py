"""The arguments of a step: references, never the spec itself."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass, field, replace
from typing import Callable, Dict, Iterator, List, Mapping, Pattern, Sequence

from lake_spec.layout.stage_tables import FOLLOWING
from lake_spec.model.names import NAME
from lake_spec.run_options.asked import add_arguments, from_arguments, of_stage
from lake_spec.run_options.options import RunOptions
from lake_spec.run_options.window import bounds
from lake_spark.ingest.reprocess import Selection
from lake_spark.tables.table_run import Accepted, Window

_REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-[0-9]{1,2}")
_TOKEN = re.compile(r"[0-9]{1,18}")
_DIGESTS = re.compile(r"[a-z0-9_./]+=[0-9a-f]{64}(,[a-z0-9_./]+=[0-9a-f]{64})*")
_RUN = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+")


@dataclass(frozen=True)
class Arguments:
    """What one step is asked to do."""

    release: str
    region: str
    domain: str
    stage: str
    run: str
    lease_token: int
    options: RunOptions = RunOptions()
    sha256: Mapping[str, str] = field(default_factory=dict)
    """What files of the release must be; empty for runs that older releases began."""
    then: Sequence[str] = ()
    """Stages that the step plays after it, each with those of its options that it knows."""

    def in_turn(self) -> Iterator[Arguments]:
        """Return what the step is asked stage by stage, in their order."""
        for stage in (self.stage, *self.then):
            options = of_stage(self.options, stage)
            yield replace(self, stage=stage, options=options, then=())

    @property
    def window(self) -> Window:
        """The window of the run."""
        return Window(*bounds(self.options.window))

    @property
    def selection(self) -> Selection:
        """The files that a reprocess chooses."""
        asked = self.options
        return Selection(asked.files, asked.quarantined, asked.retract_missing)

    @property
    def accepted(self) -> Accepted:
        """What the run takes that no run takes by itself."""
        asked = self.options
        return Accepted(asked.accept_losses, asked.empty_scopes, asked.pull_from)


def _matching(
    pattern: Pattern[str], what: str, expected: str = ""
) -> Callable[[str], str]:
    """Return a type of arguments: texts of that pattern."""

    def checked(text: str) -> str:
        if not pattern.fullmatch(text):
            raise argparse.ArgumentTypeError(
                f"{text!r} is not a {what} (expected {expected or pattern.pattern})"
            )
        return text

    return checked


_name = _matching(re.compile(NAME.pattern), "name")
_region = _matching(_REGION, "region")
_run = _matching(_RUN, "run", "<dag id>/<run key>")
_digits = _matching(_TOKEN, "token")


def _parser(stages: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="main.py", description=__doc__)
    parser.add_argument("--release", required=True, help="URI of the release's folder")
    parser.add_argument(
        "--sha256",
        type=_sha256,
        default={},
        help="FILE=HEX,...: of the release's files",
    )
    parser.add_argument("--region", required=True, type=_region, help="of AWS")
    parser.add_argument("--domain", required=True, type=_name)
    parser.add_argument("--stage", required=True, choices=sorted(stages))
    parser.add_argument(
        "--then", type=_names, default=(), help="a,b: the stages that follow"
    )
    parser.add_argument("--run", required=True, type=_run, help="<dag id>/<run key>")
    parser.add_argument(
        "--lease-token", required=True, type=_token, help="of the lease's grant"
    )
    add_arguments(parser)
    return parser


def parse(argv: Sequence[str], stages: Sequence[str]) -> Arguments:
    """Return the arguments, or end with a usage error and exit code 2."""
    parser = _parser(stages)
    found = vars(parser.parse_args(argv))
    others = [name for name in found["then"] if name not in FOLLOWING]
    if others:
        parser.error(f"--then {','.join(others)}: choose from {', '.join(FOLLOWING)}")
    options = from_arguments(parser, found, found["stage"])
    return Arguments(**found, options=options)


def _token(text: str) -> int:
    return int(_digits(text))


def _sha256(text: str) -> Dict[str, str]:
    if not _DIGESTS.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text[:100]!r} is not FILE=SHA-256,...")
    return dict(each.split("=") for each in text.split(","))


def _names(text: str) -> List[str]:
    return [_name(part) for part in text.split(",")]
