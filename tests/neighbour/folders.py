"""Folders of a user: a checkout, a home, another program's state, tables that were edited."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Iterator, Sequence

import psutil
from lake_emulator import state_mark
from lake_local.cli.parser import parse
from lake_local.errors import BadRequest, StartFailed
from lake_local.stack import stack
from lake_local.stack.stack import Stack
from lake_local.workspace import background, dags_folder
from lake_local.workspace.project import find
from lake_local.workspace.specs import Specs
from lake_local.workspace.state_dir import StateDirectory

from tests.neighbour.scene import Beside, files_of, put

TABLES = str(state_mark.PROJECT / "dags" / "tables")
COMMANDS: Sequence[Sequence[str]] = (
    ("down",),
    ("status",),
    ("site", "--open", "no"),
    ("demo",),
    ("up", "--tables", TABLES),
    ("run", "moma_full_load"),
    ("put", "setup.py", "s3://lake/landing/moma/artists/"),
    ("connect", "moma"),
)
PLACES = {
    "home": (".bashrc", "airflow/airflow.cfg", "airflow/airflow.db"),
    "airflow": ("airflow.cfg", "airflow.db", "dags/theirs.py"),
    "another-program": ("stack.json", "lock", "logs/app.log"),
    "pages": ("site/index.html", "site.lock"),
    "dags": ("dags/theirs.py", "dags/shop.py", "release.json"),
    "keys": ("credentials", "config"),
}
"""Folders that a user may name with --state-dir, and what lies in each."""
OF_BEFORE = {
    "used": (
        *("airflow/airflow.db", "holders/1", "lock", "logs/scheduler.log", "aws.log"),
        *("calls.jsonl", "s3/objects/a", "services/s3.pickle", "emr/j-1/cluster.json"),
    ),
    "emulator": ("aws.pid", "credentials", "s3/objects/a", "policies.json"),
}
"""State directories as the release before left them."""


def named_with_state_dir(beside: Beside) -> Iterator:
    """Folders that others filled, named as the state directory of each command."""
    people, checkout = beside.folder / "people", beside.folder / "checkout"
    for name, paths in PLACES.items():
        put(people / name, *paths)
    put(
        checkout, ".git/HEAD", "dags/tables/shop/orders.yml", "dags/shop.py", "setup.sh"
    )
    put(checkout, ".venv-docs/pyvenv.cfg", "site/index.html")
    beside.patch.setenv("HOME", str(people / "home"))
    beside.patch.setattr(state_mark, "PROJECT", checkout)
    _starts_nothing(beside)
    yield lambda: {**files_of(people), **files_of(checkout)}
    for folder in (checkout, *sorted(people.iterdir())):
        for command in COMMANDS:
            args = parse([*command, "--state-dir", str(folder)])
            beside.refuses(f"{command[0]} in {folder.name}", BadRequest, args.run, args)
        refused = state_mark.NotAStateDirectory
        beside.refuses(
            f"the emulator in {folder.name}", refused, state_mark.claim, folder
        )
    yield None


def _starts_nothing(beside: Beside) -> None:
    """Let a start come as far as its first process: what came before it was done."""

    def start(home: StateDirectory, specs: Any, **_: Any) -> None:
        stack.sweep(home)
        specs.dags_folder(home.dags)
        raise StartFailed("nothing is started here")

    beside.patch.setattr(Stack, "start", start)


def of_the_release_before(beside: Beside) -> Iterator:
    """State directories without a mark, open to others: commands go on in them."""
    states = beside.folder / "states"
    for name, paths in OF_BEFORE.items():
        put(states / name, *paths).chmod(0o755)
    _starts_nothing(beside)
    yield lambda: {
        name: body
        for name, body in files_of(states).items()
        if not name.endswith(state_mark.FILE)
    }
    for folder in sorted(states.iterdir()):
        marks = []
        for command in (("status",), ("down",), ("status",)):
            args = parse([*command, "--state-dir", str(folder)])
            beside.does(f"{command[0]} in {folder.name}", args.run, args)
            beside.does("the emulator", state_mark.claim, folder)
            mark = folder / state_mark.FILE
            marks.append(mark.stat().st_mtime_ns if mark.exists() else None)
        is_once = None not in marks and len(set(marks)) == 1
        beside.expects(f"marks of {folder.name}: {marks}", is_once)
        is_closed = not folder.stat().st_mode & 0o077
        beside.expects(f"{folder.name} is open to others", is_closed)
    yield None


def in_a_state_directory(beside: Beside) -> Iterator:
    """Files that a user put among the generated DAGs, and a process of his beside ours."""
    home = StateDirectory.at(beside.folder / "state")
    home.create()
    put(home.root, "dags/notes.txt", "dags/mine.py", "dags/team/more.py", "notes.txt")
    (home.dags / "link").symlink_to(beside.folder)
    _starts_nothing(beside)
    tables = put(beside.folder / "tables", "shop/_domain.yml", "crm/_domain.yml")
    theirs = _process(background.MARK, str(beside.folder / "another"))
    names = ("dags/notes.txt", "dags/mine.py", "dags/team/more.py", "notes.txt")

    def seen() -> dict:
        there = {
            name: (home.root / name).read_bytes()
            for name in names
            if (home.root / name).exists()
        }
        link = home.dags / "link"
        return {
            **there,
            "a link": link.is_symlink() and os.readlink(link),
            "a process": theirs.is_running()
            and theirs.status() != psutil.STATUS_ZOMBIE,
            "tables": files_of(tables),
        }

    try:
        yield seen
        _make_and_sweep(beside, home, tables)
        yield None
    finally:
        with suppress(psutil.Error):  # it may have been ended
            theirs.kill()
            theirs.wait()


def _make_and_sweep(beside: Beside, home: StateDirectory, tables: Path) -> None:
    dags = find().dags
    make = dags_folder.generate
    beside.does("DAGs of tables", make, home.dags, project_dags=dags, tables=tables)
    (tables / "crm/_domain.yml").rename(tables / "crm/_domain.yml.off")
    beside.does("DAGs again", make, home.dags, project_dags=dags, tables=tables)
    (tables / "crm/_domain.yml.off").rename(tables / "crm/_domain.yml")
    beside.does("a sweep", stack.sweep, home)
    args = parse(["down", "--state-dir", str(home.root)])
    beside.does("down", args.run, args)


def _process(name: str, value: str) -> psutil.Popen:
    """A process of somebody else, with this variable."""
    wait = [sys.executable, "-c", "import time; time.sleep(300)"]
    return psutil.Popen(
        wait, env={**os.environ, name: value}, stdout=subprocess.DEVNULL
    )


def a_name_that_is_taken(beside: Beside) -> Iterator:
    """A DAG file of the user's under the name of a domain, where DAGs are generated."""
    home = StateDirectory.at(beside.folder / "state")
    home.create()
    put(home.root, "dags/shop.py", "dags/lake.py")
    tables = put(beside.folder / "tables", "shop/_domain.yml")
    yield lambda: files_of(home.dags)
    specs = SimpleNamespace(are_the_projects=False, tables=tables, project=find())
    make = Specs.dags_folder
    beside.refuses("DAGs of tables", BadRequest, make, specs, home.dags)
    yield None


def edited_specs(beside: Beside) -> Iterator:
    """Specs and a domain's file that a user edited, when the tables are onboarded again."""
    files, out = beside.folder / "files", beside.folder / "tables"
    for name in ("artists", "loans", "works"):
        (files / name).mkdir(parents=True)
        (files / name / "2026-01-01.csv").write_text("id,name\n1,Ana\n2,Bo\n")
    edited = ("shop/artists.yml", "shop/_domain.yml", "shop/notes.md", "crm/loans.yml")
    put(out, *edited)
    yield lambda: {name: (out / name).read_bytes() for name in edited}
    args = parse(
        ["onboard", "--files", str(files), "--domain", "shop", "--out", str(out)]
    )
    for _ in range(2):
        beside.does("onboard", args.run, args)
    beside.expects("onboard wrote no spec", (out / "shop/works.yml").exists())
    yield None


SCENES = (
    named_with_state_dir,
    of_the_release_before,
    in_a_state_directory,
    a_name_that_is_taken,
    edited_specs,
)
