"""The arguments of a step: references, never the spec itself."""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import (
    Callable,
    Dict,
    Iterator,
    List,
    Mapping,
    Optional,
    Pattern,
    Sequence,
    Tuple,
)

from lake_spec.contract.erase_request import REQUEST
from lake_spec.contract.partition_folders import EXPECTED, is_folder
from lake_spec.contract.pull_folders import PULLS, is_pull_from
from lake_spec.contract.stage_tables import FOLLOWING, PRODUCT, REBUILD_PRODUCT
from lake_spec.model.forms import NAME
from lake_spec.text.times import GRAMMAR, parse_timestamp
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
    tables: Sequence[str]
    window: Window
    selection: Selection
    dry_run: bool
    accepted: Accepted = Accepted()
    verify: Optional[float] = None
    request: Optional[str] = None
    partitions: Sequence[str] = ()
    sha256: Mapping[str, str] = field(default_factory=dict)
    """What files of the release must be; empty for runs that older releases began."""
    move_foreign_files: bool = False
    then: Sequence[str] = ()
    """Stages that the step plays after it, with tables, window and dry run alone."""

    def in_turn(self) -> Iterator[Arguments]:
        """Return what the step is asked stage by stage, in their order."""
        yield self
        for stage in self.then:
            yield replace(
                self,
                stage=stage,
                selection=Selection(),
                accepted=Accepted(),
                verify=self.verify if stage == REBUILD_PRODUCT else None,
                request=None,
                partitions=(),
                move_foreign_files=False,
                then=(),
            )


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
_request = _matching(REQUEST, "name")
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
    parser.add_argument(
        "--tables", type=_names, default=[], help="a,b: all if left out"
    )
    parser.add_argument("--window", type=_window, default=Window(), help="FROM..TO")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument(
        "--accept-losses", action="store_true", help="snapshots that lose many keys"
    )
    parser.add_argument(
        "--empty-scopes", type=_texts, default=(), help="JSON list of scope values"
    )
    parser.add_argument(
        "--pull-from", type=_pull_from, help="value of a cursor, or start"
    )
    parser.add_argument("--file", type=_file, action="append", help="path or glob")
    parser.add_argument("--quarantined", action="store_true")
    parser.add_argument("--retract-missing", action="store_true")
    parser.add_argument(
        "--verify", type=_share, help="compare this share of keys instead"
    )
    parser.add_argument(
        "--request", type=_request, help="name of the object that says what to erase"
    )
    parser.add_argument(
        "--partition",
        type=_partition,
        action="append",
        dest="partitions",
        help="folder of partitions of products to make again",
    )
    parser.add_argument(
        "--move-foreign-files",
        action="store_true",
        help="move what others wrote out of the folders of tables",
    )
    return parser


def parse(argv: Sequence[str], stages: Sequence[str]) -> Arguments:
    """Return the arguments, or end with a usage error and exit code 2."""
    parser = _parser(stages)
    found = vars(parser.parse_args(argv))
    pull_from = found.pop("pull_from")
    if pull_from is not None and found["stage"] not in PULLS:
        parser.error("--pull-from goes with --stage incremental")
    others = [name for name in found["then"] if name not in FOLLOWING]
    if others:
        parser.error(f"--then {','.join(others)}: choose from {', '.join(FOLLOWING)}")
    accepted = Accepted(found.pop("accept_losses"), found.pop("empty_scopes"))
    if accepted != Accepted() and found["stage"] not in ("incremental", "reprocess"):
        parser.error(
            "--accept-losses and --empty-scopes go with --stage incremental or reprocess"
        )
    verifying = ("rebuild", REBUILD_PRODUCT)
    if found["verify"] is not None and found["stage"] not in verifying:
        parser.error(f"--verify goes with --stage {' or '.join(verifying)} alone")
    if (found["request"] is None) == (found["stage"] == "erase"):
        parser.error("--request goes with --stage erase, which needs it")
    found["partitions"] = tuple(found["partitions"] or ())
    if found["partitions"] and found["stage"] != PRODUCT:
        parser.error(f"--partition goes with --stage {PRODUCT}")
    if found["move_foreign_files"] and found["stage"] != "maintenance":
        parser.error("--move-foreign-files goes with --stage maintenance")
    selection = Selection(
        tuple(found.pop("file") or ()),
        found.pop("quarantined"),
        found.pop("retract_missing"),
    )
    _check_reprocess(parser, found["stage"], found["window"], selection)
    accepted = replace(accepted, pull_from=pull_from)
    return Arguments(**found, accepted=accepted, selection=selection)


def _check_reprocess(
    parser: argparse.ArgumentParser, stage: str, window: Window, selection: Selection
) -> None:
    """Check that a reprocess chooses its files; no other stage can."""
    if stage != "reprocess" and selection != Selection():
        parser.error(
            f"--file, --quarantined, --retract-missing: for reprocess, not {stage}"
        )
    chooses = selection.globs or selection.quarantined or window != Window()
    if stage == "reprocess" and not chooses:
        parser.error("reprocess: give at least one of --window, --file, --quarantined")


def _token(text: str) -> int:
    return int(_digits(text))


def _sha256(text: str) -> Dict[str, str]:
    if not _DIGESTS.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text[:100]!r} is not FILE=SHA-256,...")
    return dict(each.split("=") for each in text.split(","))


def _file(text: str) -> str:
    if not text or text.startswith("/") or not text.isprintable():
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a path or glob below the table's landing folder"
        )
    return text


def _partition(text: str) -> str:
    if not is_folder(text):
        raise argparse.ArgumentTypeError(f"{text[:100]!r} is not one of {EXPECTED}")
    return text


def _pull_from(text: str) -> str:
    if not is_pull_from(text):
        raise argparse.ArgumentTypeError(
            f"{text[:100]!r} is not a cursor value (expected 2026-01-31T12:00:00, 12345 or start)"
        )
    return text


def _names(text: str) -> List[str]:
    return [_name(part) for part in text.split(",")]


def _texts(text: str) -> Tuple[str, ...]:
    try:
        texts = json.loads(text)
    except ValueError:
        texts = None
    if not isinstance(texts, list) or not all(isinstance(t, str) for t in texts):
        raise argparse.ArgumentTypeError(f"{text!r} is not a JSON list of strings")
    return tuple(texts)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a share (expected above 0, up to 1)"
        )
    return share


def _window(text: str) -> Window:
    start, dots, end = text.partition("..")
    if not dots:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a window (expected FROM..TO, one may be empty)"
        )
    window = Window(_timestamp(start), _timestamp(end))
    if window.start and window.end and window.start >= window.end:
        raise argparse.ArgumentTypeError(f"{text!r} ends before it starts")
    return window


def _timestamp(text: str) -> Optional[datetime]:
    if not text:
        return None
    timestamp = parse_timestamp(text)
    if timestamp is None:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a valid timestamp (expected {GRAMMAR})"
        )
    return timestamp
