"""Prove that a deployment works.

It lands rows of its own, creates one EMR cluster, runs real steps on three small tables,
checks what they left, ends the cluster and removes all that it made. What it will cost is
printed first; nothing starts before you agree.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Optional, Sequence

from botocore.exceptions import BotoCoreError, ClientError

from lake_acceptance import (
    account,
    athena,
    claim,
    cost,
    optimizers,
    preparation,
    removal,
    report,
    step_facts,
    steps,
    tables,
)
from lake_acceptance.check import Check, Result, play
from lake_acceptance.subject import PREFIX, PROJECT, ROOTS, Subject, load
from lake_check.costs.prices import Prices, load_prices
from lake_spec.diagnostics.errors import LakeError

CHECKS = (
    *preparation.CHECKS,
    *steps.CHECKS,
    *step_facts.CHECKS,
    *steps.LOADS,
    *tables.CHECKS,
    *athena.CHECKS,
    *optimizers.CHECKS,
    *steps.ENDS,
    *removal.CHECKS,
)
"""All checks, in their order."""

REPORTS = PROJECT / ".local" / "build" / "acceptance"


def main(
    argv: Optional[Sequence[str]] = None,
    checks: Sequence[Check] = CHECKS,
    prog: str = "infra/acceptance.py",
) -> int:
    """Run what was asked for; 1 if a check failed or nothing could be started."""
    args = _parser(prog).parse_args(argv)
    try:
        subject = load(
            args.environment,
            cluster=args.cluster,
            emulated=bool(os.environ.get("AWS_ENDPOINT_URL")),
            say=_say,
        )
        prices = load_prices(args.prices) if args.prices else None
    except LakeError as error:
        print(error, file=sys.stderr)
        return 1
    if args.preflight:
        results = play(account.CHECKS, subject, emulated=subject.emulated, say=_say)
        print(report.counts(results))
        return 1 if report.failed(results) else 0
    if args.remove:
        checks = (*steps.ENDS, *removal.CHECKS)
        try:
            if not _claims(subject):
                return 0
        except (ClientError, BotoCoreError) as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            return 1
    else:
        _describe(subject, prices)
    if not _agreed(asked=args.yes):
        print("Nothing was started.")
        return 1
    results = play(checks, subject, emulated=subject.emulated, say=_say)
    _write(subject, results, args.report)
    print(report.counts(results))
    return 1 if report.failed(results) else 0


def _claims(subject: Subject) -> bool:
    """Print what an earlier run claims and left, and go on as that run; False without
    any."""
    found = claim.of_earlier(subject)
    if found is None:
        print(f"No acceptance run claims {PREFIX}/: nothing is removed.")
        return False
    subject.key = found.run
    print(f"Left by the acceptance run {found.run} of {found.at}, to be removed:")
    for line in (f"clusters of {found.run}", *removal.planned(subject)):
        print(f"  {line}")
    return True


def _describe(subject: Subject, prices: Optional[Prices]) -> None:
    """Print what the run does and costs."""
    print(
        f"Acceptance of {subject.deployed.name}: writes below {PREFIX}/ of "
        f"{', '.join(ROOTS)}, creates one cluster"
        + ("" if subject.emulated else f" and the stack {subject.stack}")
        + ", and removes all of it."
    )
    print(cost.words(subject.cluster, prices, emulated=subject.emulated))


def _agreed(*, asked: bool) -> bool:
    """Return whether the run may start."""
    if asked:
        return True
    if not sys.stdin.isatty():
        print("Start it in a terminal, or with --yes.", file=sys.stderr)
        return False
    return input("Start it? [y/N] ").strip().lower() in ("y", "yes")


def _write(subject: Subject, results: Sequence[Result], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    data = json.dumps(report.to_json(subject, results), indent=1)
    (folder / "report.json").write_text(data, encoding="utf-8")
    page = report.to_markdown(subject, results)
    (folder / "report.md").write_text(page, encoding="utf-8")
    print(f"Report: {folder / 'report.md'}")


def _say(line: str) -> None:
    print(line, flush=True)


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=prog,
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("environment", help="a file of dags/environments/")
    parser.add_argument(
        "--cluster", metavar="NAME", help="a file of dags/clusters/; default: its own"
    )
    parser.add_argument(
        "--prices", type=Path, metavar="FILE", help="print the cost by your prices"
    )
    parser.add_argument("--yes", action="store_true", help="start without asking")
    parser.add_argument(
        "--remove", action="store_true", help="only remove what an earlier run claims"
    )
    parser.add_argument(
        "--preflight",
        action="store_true",
        help="only look whether the account is ready to be deployed to; makes nothing",
    )
    parser.add_argument(
        "--report",
        type=Path,
        default=REPORTS,
        metavar="DIR",
        help="folder for the report; default: .local/build/acceptance",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
