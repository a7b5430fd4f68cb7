"""Build the pages of the lake: tables, columns, lineage, freshness, bad rows, runs, costs.

They go into the folder `site` of the state directory and can be opened as files. `up`
serves the pages too, as the runs leave them.

Examples:
  ./run_locally.sh site
  ./run_locally.sh site --open no --prices prices.yml
"""

from __future__ import annotations

import shutil
import webbrowser
from argparse import ArgumentParser, Namespace
from datetime import datetime, timezone
from pathlib import Path

from lake_check.costs.prices import load_prices
from lake_site.store import FolderStore, S3Store
from lake_spec.layout.site_pages import START, site_folder

from lake_local.cli.commands.scope import home_of, specs_of_args
from lake_local.stack import lock, objects, session
from lake_local.stack.session import Session
from lake_local.text import progress

NAME = "site"


def add_arguments(parser: ArgumentParser) -> None:
    """Add what is done with the pages, and the prices that they show."""
    parser.add_argument(
        "--open",
        choices=("yes", "no"),
        default="yes",
        help="open the start page in a browser; default yes",
    )
    parser.add_argument(
        "--prices",
        type=Path,
        metavar="FILE",
        help="show costs, from this file of your prices: docs/cost.md",
    )


def run(args: Namespace) -> int:
    """Build all pages and print the path of the first one."""
    specs = specs_of_args(args)
    with session.observed(home_of(args), specs, who=NAME) as opened:
        start = build(opened, prices=args.prices)
    print(start)
    if args.open == "yes":
        webbrowser.open(start.as_uri())
    return 0


def build(opened: Session, *, prices: Path | None = None) -> Path:
    """Write the whole site to the state directory and to S3; return its start page."""
    # Imports Jinja2, which no other command needs.
    from lake_site.collect import whole_site, write

    environment = opened.specs.environment
    s3, folder = opened.aws("s3"), opened.home.site
    with lock.hold_pages(opened.home):
        domains = opened.specs.planned_domains()  # a plan has the lineage of SQL
        files = whole_site(
            domains,
            environment,
            S3Store(s3, environment.runs),
            now=datetime.now(timezone.utc),
            prices=load_prices(prices) if prices else None,
        )
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        write(FolderStore(folder), files)
        objects.ensure_bucket(s3, objects.split(environment.runs)[0])
        write(S3Store(s3, site_folder(environment.runs)), files)
    progress(f"built {len(files)} pages and files of {len(domains)} domain(s)")
    return folder / START
