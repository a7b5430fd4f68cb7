"""Print the cluster-minutes of runs, tables or domains, from the ledger of the runs.

A table is charged its share of a cluster's busy minutes, and the same share of those in
which the cluster started or was idle. On this machine clusters start at once:
--start-minutes 9 counts them as if EMR had started them.

Examples:
  ./run_locally.sh cost --by table --start-minutes 9
  ./run_locally.sh cost --since 2026-01-31 --csv > minutes.csv
  ./run_locally.sh cost --by table --start-minutes 9 --prices prices.yml
  ./run_locally.sh cost --ledger costs --by table --csv
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

from lake_check.costs import ledger
from lake_check.costs.prices import Prices, load_prices
from lake_spec.state.state_format import parse_state, refuse_newer

from lake_local import text
from lake_local.cli.commands.scope import home_of, specs_of_args
from lake_local.errors import BadRequest
from lake_local.stack import objects, session

NAME = "cost"
DAYS = 30


def add_arguments(parser: ArgumentParser) -> None:
    """Add the period, and how its minutes are printed."""
    parser.add_argument(
        "--since",
        type=date.fromisoformat,
        metavar="DATE",
        help=f"clusters created on this day (UTC) or later; default {DAYS} days ago",
    )
    parser.add_argument("--by", choices=ledger.BY, default=ledger.BY[0])
    parser.add_argument(
        "--ledger",
        type=Path,
        metavar="DIR",
        help="a copy of <runs>/costs of an account, in place of this machine's; all days",
    )
    parser.add_argument(
        "--start-minutes",
        type=float,
        metavar="N",
        help="count every cluster as if it had taken N minutes to start",
    )
    parser.add_argument(
        "--prices",
        type=Path,
        metavar="FILE",
        help="add costs, from this file of your prices: docs/cost.md",
    )
    parser.add_argument("--csv", action="store_true", help="for other programs")


def run(args: Namespace) -> int:
    """Print one row for each, the most expensive first, and their sum."""
    prices = load_prices(args.prices) if args.prices else None
    if args.ledger:
        entries = _copied(args.ledger, args.since or date.min)
    else:
        specs = specs_of_args(args)
        with session.observed(home_of(args), specs, who=NAME) as opened:
            entries = _entries(opened.aws("s3"), specs.environment.runs, _since(args))
    start = args.start_minutes
    rows = ledger.rows(entries, args.by, start_minutes=start, prices=prices)
    if args.csv:
        print(ledger.to_csv(rows, args.by), end="")
    else:
        _show(rows, prices)
    lacking = prices and ledger.without_cost(entries, prices, start_minutes=start)
    if lacking:
        print(lacking, file=sys.stderr if args.csv else sys.stdout)
    return 0


def _show(rows: list[dict[str, Any]], prices: Prices | None) -> None:
    """Print rows as a table for people; money has three digits, minutes one."""
    head = [name.replace("_", " ") for name in rows[0]]
    column = prices.column if prices else None
    shown = [
        [_money(row[name]) if name == column else row[name] for name in row]
        for row in rows
    ]
    for line in text.table(head, shown):
        print(line)


def _money(cost: float | None) -> Decimal | None:
    return None if cost is None else Decimal(f"{cost:.3f}")


def _since(args: Namespace) -> date:
    today = datetime.now(timezone.utc).date()
    return args.since or today - timedelta(days=DAYS)


def _copied(folder: Path, since: date) -> list[ledger.Entry]:
    """Return the entries of a folder; BadRequest where there is none."""
    if not folder.is_dir():
        raise BadRequest(f"--ledger {folder}: no such folder. Copy <runs>/costs there.")
    names = ledger.made_since(map(str, folder.rglob("*.json")), since)
    return [
        parse_state(Path(name).read_text("utf-8"), what="a ledger entry", where=name)
        for name in names
    ]


def _entries(s3: Any, runs: str, since: date) -> list[ledger.Entry]:
    folder = ledger.ledger_folder(runs)
    bucket, _ = objects.split(folder)
    keys = ledger.made_since(objects.under(s3, folder), since)
    entries = []
    for key in keys:
        where = f"s3://{bucket}/{key}"
        entries.append(objects.read_json(s3, where))
        refuse_newer(entries[-1], what="a ledger entry", where=where)
    return entries
