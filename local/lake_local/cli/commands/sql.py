"""Answer a query over all tables of the lake, in a second and without Java.

The query is one SELECT in DuckDB's SQL, or `-` for standard input, or a file that ends in
.sql. Without one, the tables are listed with their rows and columns. Tables have the
catalogue's names: moma.artists, moma.artists_history, moma.artists_changes (the change
log), and moma.artists_quarantine. Only what is committed is read, and nothing is written.

Examples:
  ./run_locally.sh sql
  ./run_locally.sh sql "SELECT nationality, count(*) FROM moma.artists GROUP BY 1"
  ./run_locally.sh sql report.sql --format csv > report.csv
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from lake_local.cli import lake_tables, programs
from lake_local.cli.commands.scope import home_of, specs_of_args
from lake_local.cli.completion import complete_sql, completed_by
from lake_local.errors import BadRequest
from lake_local.show.request import Format, LayerFiles
from lake_local.show.snapshot import has_commits
from lake_local.workspace.specs import Specs
from lake_local.workspace.state_dir import StateDirectory

NAME = "sql"
PROGRAM = "lake_local.show.sql"
TABLE_LIMIT = 20
FORMATS = (Format.TABLE, Format.CSV, Format.JSON)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the query and the output's form."""
    query = parser.add_argument(
        "query", nargs="?", metavar="SQL", help="one query, FILE.sql, or - to read it"
    )
    completed_by(query, complete_sql)
    add_output_arguments(parser)


def add_output_arguments(parser: ArgumentParser) -> None:
    """Add the form of the output, and how many rows it has."""
    formats = [each.value for each in FORMATS]
    parser.add_argument("--format", choices=formats, default=Format.TABLE.value)
    parser.add_argument(
        "--limit", type=int, metavar="N", help="default 20 for a table, 0 means all"
    )


def run(args: Namespace) -> int:
    """Write the rows to standard output."""
    home, specs = home_of(args), specs_of_args(args)
    sql = text_of(args.query)
    lake_tables.require_lake(home)
    limit = limit_of(args.limit, args.format, bool(sql))
    programs.by_duckdb(
        home,
        specs.project,
        PROGRAM,
        lambda: {
            "sql": sql,
            "format": args.format,
            "limit": limit,
            **question(home, specs, sql),
        },
    )
    return 0


def text_of(given: str | None) -> str | None:
    """Return the query that an argument gives, names or announces; None for none."""
    if given is None:
        return None
    text = given
    if given == "-":
        text = sys.stdin.read()
    elif given.lower().endswith(".sql"):
        try:
            text = Path(given).expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadRequest(
                f"{given}: {error}. Name a file with a query in UTF-8, or write the query."
            ) from None
    if not text.strip():
        raise BadRequest(f"{given!r}: there is no query. Write one SELECT.")
    return text


def question(home: StateDirectory, specs: Specs, sql: str | None) -> dict[str, Any]:
    """Return what the program is asked: the tables that the query may name.

    Those whose names do not stand in its text are not looked at.
    """
    domains = specs.domains() if sql is None else lake_tables.mentioned(specs, sql)
    known = lake_tables.named(domains, specs.environment.warehouse)
    lower = None if sql is None else sql.lower()
    asked = {
        name: each
        for name, each in known.items()
        if lower is None or name.partition(".")[2].lower() in lower
    }
    files = lake_tables.files_of(home, {each.folder for each in asked.values()})
    there = {n: each for n, each in asked.items() if has_commits(files[each.folder])}
    return {
        "tables": {
            name: vars(
                LayerFiles(files[each.folder], each.spec.full_name, each.layer.value)
            )
            for name, each in there.items()
        },
        "empty": {n: each.no_rows for n, each in asked.items() if n not in there},
        "known": sorted(known),
    }


def limit_of(given: int | None, how: str, has_query: bool = True) -> int:
    """Return how many rows are written at most; 0 is all. Raises BadRequest."""
    if given is None:
        return TABLE_LIMIT if how == Format.TABLE.value and has_query else 0
    if given < 0:
        raise BadRequest(f"--limit: got {given}. Write a number of rows, or 0 for all.")
    return given
