"""Run the demo: load a museum's artists from two snapshots and show their history.

It lands and loads the first snapshot, lands and ingests the second, and runs maintenance:
three DAG runs by Airflow's scheduler, each on an EMR cluster of its own. A second table,
loans of works, is loaded with them and then changed: one of its rows is quarantined, one
breaks a rule that warns, and maintenance compacts it. Then it prints the results. Exit
code 0 only if all runs succeeded; the data stays for `show`.
"""

from __future__ import annotations

import json
import tempfile
import time
from argparse import ArgumentParser, Namespace
from datetime import datetime
from pathlib import Path
from typing import Any, Iterable, Iterator

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.layout.site_pages import START, table_page
from lake_spec.layout.table_folders import table_folder
from lake_spec.model import TableSpec, VersionedTable

from lake_local import text
from lake_local.cli import query
from lake_local.cli.commands import site
from lake_local.cli.commands.run import lines as run_lines
from lake_local.cli.commands.scope import home_of, specs_of_args
from lake_local.cli.commands.show import order_of
from lake_local.errors import BadRequest
from lake_local.runs import dag_runs
from lake_local.runs.dag_runs import Ended
from lake_local.show.request import Format, Layer, Request
from lake_local.show.writing import cell
from lake_local.stack import objects, session
from lake_local.stack.session import Session
from lake_local.workspace.command_line import typed
from lake_local.workspace.state_dir import StateDirectory

NAME = "demo"
TABLE = "moma.artists"
CHECKED = "moma.loans"
"""The table with a bad row, a rule that warns and a compaction."""
STEPS = (
    (
        "moma_full_load",
        (
            ("artists_2016-03-03.csv.gz", "artists/"),
            ("loans_2016-03-03.csv", "loans/load/"),
        ),
    ),
    (
        "moma_incremental",
        (
            ("artists_2016-05-12.csv.gz", "artists/"),
            ("loans_2016-05-12.csv", "loans/changes/"),
        ),
    ),
    ("moma_maintenance", ()),
)
"""DAGs, each with the files that are landed before, and their folders."""
COLUMNS = ("display_name", "nationality", "artist_bio", "begin_date", "end_date")
Row = dict[str, Any]


def add_arguments(parser: ArgumentParser) -> None:
    """Add nothing: the command has no arguments of its own."""


def run(args: Namespace) -> int:
    """Land, load, ingest, maintain. Raises RunFailed for the first run that failed."""
    if args.tables is not None:
        raise BadRequest(
            f"--tables {args.tables}: the demo runs the project's own tables only. For others"
            f" write: ./run_locally.sh --tables {args.tables} run DAG_ID"
        )
    begin = time.monotonic()
    home, specs = home_of(args), specs_of_args(args)
    text.progress("starting Airflow and the local AWS emulator")
    with session.opened(
        home, specs, who=NAME, airflow=True, keep=args.keep_up
    ) as opened:
        table = opened.specs.table(TABLE)
        assert isinstance(table, VersionedTable)
        text.progress(
            f"started in {text.elapsed(time.monotonic() - begin)}; Airflow is at"
            f" {opened.stack.airflow_url}"
        )
        ended = [_step(opened, dag_id, files) for dag_id, files in STEPS]
        current, versions = _rows(opened, table)
        page = site.build(opened).as_uri()
    for line in (*_story(table, ended, current, versions), *checked(ended)):
        print(line)
    print(f"\nThe demo took {text.elapsed(time.monotonic() - begin)}.")
    stays_up = args.keep_up or not opened.is_own
    if stays_up and opened.stack.pages_port:
        page = opened.stack.pages_url
    for line in next_steps(home, opened.stack.airflow_url if stays_up else ""):
        print(line)
    of_table = page.removesuffix(START) + table_page(*CHECKED.split("."))
    print(f"\nThe bad row, both rules and the compaction: {of_table}")
    print(f"The catalogue of this lake: {page}")
    return 0


def _step(opened: Session, dag_id: str, files: Iterable[tuple[str, str]]) -> Ended:
    """Land the files, then run the DAG. Raises RunFailed if it failed."""
    text.progress("")
    for name, folder in files:
        uri = f"{opened.specs.environment.landing}/moma/{folder}{name}"
        source = opened.specs.project.root / "data" / "moma" / name
        new = objects.put_file(opened.aws("s3"), source, uri)
        text.progress(f"{'landed' if new else 'unchanged'}  {uri}")
    ended = dag_runs.run(opened, dag_id, {})
    for line in run_lines(ended):
        text.progress(f"  {line}")
    dag_runs.check(opened, ended)
    return ended


def _rows(opened: Session, table: TableSpec) -> tuple[int, list[Row]]:
    """Return the number of artists now, and every version of all of them."""
    text.progress("\nreading the tables")
    root = table_folder(opened.specs.environment.warehouse, table.stored_as)
    with tempfile.TemporaryDirectory(prefix="demo-", dir=opened.home.root) as folder:
        current, history = Path(folder) / "current", Path(folder) / "history"
        questions = [
            Request(
                TABLE, "current", f"{root}/current", output=str(current), count=True
            ),
            Request(
                TABLE,
                "history",
                f"{root}/history",
                output=str(history),
                order=order_of(table, Layer.HISTORY),
                format=Format.JSON.value,
            ),
        ]
        query.ask(opened, questions)
        return int(current.read_text()), json.loads(history.read_text())


def example(table: TableSpec, versions: Iterable[Row]) -> list[Row]:
    """Return the versions of the artist who changed most; none if nobody changed."""
    by_key: dict[tuple[Any, ...], list[Row]] = {}
    for row in versions:
        by_key.setdefault(tuple(row[name] for name in table.key), []).append(row)
    changed = [rows for rows in by_key.values() if len(rows) > 1]
    return max(changed, key=lambda rows: (len(rows), _differences(rows)), default=[])


def _differences(rows: list[Row]) -> int:
    return sum(len({str(row.get(name)) for row in rows}) > 1 for name in COLUMNS)


def _story(
    table: VersionedTable, ended: list[Ended], current: int, versions: list[Row]
) -> Iterator[str]:
    names = table.history.columns
    is_open = sum(1 for row in versions if row[names.is_current])
    seconds = sum(each.seconds for each in ended)
    yield ""
    yield from text.table(
        ("table", "rows", "versions", "open", "seconds of runs"),
        [(TABLE, current, len(versions), is_open, seconds)],
    )
    yield ""
    yield from text.table(("dag", "stage", "table", "state", "seconds"), _stages(ended))
    one = example(table, versions)
    if one:
        head = (*table.key, *COLUMNS, names.valid_from, names.valid_to)
        yield "\nOne artist's history"
        times = (names.valid_from, names.valid_to)
        yield from text.table(head, [as_shown(row, head, times) for row in one])


def checked(ended: Iterable[Ended]) -> Iterator[str]:
    """Format bad rows, rules that warned, and what compactions did, from reports."""
    reports = [report for each in ended for report in each.reports()]
    bad = [
        (each["table"], row["path"], row["record"], row["reason"])
        for each in reports
        for row in each.get("samples") or ()
    ]
    if bad:
        yield "\nBad rows, in the quarantine"
        yield from text.table(("table", "file", "record", "reason"), bad)
    warned = [
        warning.partition("quality: ")[2]
        for each in reports
        for warning in each.get("warnings") or ()
        if warning.startswith(WarningId.FAILED_QUALITY_RULE.value)
    ]
    if warned:
        yield f"\nRules that warned: {'; '.join(warned)}"
    compacted = [
        (
            f"{report['table']} {each['layer']}",
            *(
                each[at][name]
                for name in ("files", "bytes")
                for at in ("before", "after")
            ),
        )
        for report in reports
        for each in report.get("maintained") or ()
        if "compaction" in each["done"]
    ]
    if compacted:
        yield "\nCompactions: the files that a reader opens"
        head = ("table", "files before", "after", "bytes before", "after")
        yield from text.table(head, compacted)


def _stages(ended: list[Ended]) -> list[tuple[Any, ...]]:
    return [
        (
            each.dag_id,
            report["stage"],
            report["table"],
            report["state"],
            report["seconds"],
        )
        for each in ended
        for report in each.reports()
    ]


def as_shown(row: Row, names: Iterable[str], times: Iterable[str]) -> list[str]:
    """Format values as `show` does: times are texts in the JSON that rows come from."""
    values = {
        name: datetime.fromisoformat(row[name].rstrip("Z"))
        for name in times
        if row.get(name) is not None
    }
    return [cell(values.get(name, row.get(name))) for name in names]


def next_steps(home: StateDirectory, airflow: str) -> Iterator[str]:
    """List the next commands.

    Args:
        airflow: the address of Airflow's pages; empty where it was stopped.
    """

    def command(words: str) -> str:
        return f"  {typed(words, home=home)}"

    yield "Next:"
    yield command(f'show {TABLE} --layer history --where "not is_current"')
    yield command(f"show {TABLE} --layer history --valid-at 2016-04-01 --count")
    yield command(f'sql "SELECT nationality, count(*) FROM {TABLE} GROUP BY 1"')
    if airflow:
        yield f"  {airflow}/dags   # Airflow's pages of these runs"
        yield f"{command('up')}   # prints their user and password"
        yield f"{command('down')}   # stops everything; the data stays"
    else:
        yield f"{command('up')}   # for Airflow's pages of these runs"
    yield f"{command('onboard --files FOLDER --domain NAME')}   # your own files"
