"""What takes the pictures of Airflow's pages, as far as it needs no browser."""

from __future__ import annotations

import gzip
import os
import signal
import threading
from pathlib import Path

import pytest

from docs.screens import chromium
from docs.screens.lake import ROOT, CommandFailed, Lake, airflow, cut_off, run_id

PROGRAM = """#!/usr/bin/env bash
cd "$(dirname "$0")"
echo "$*" >>notes
case "$1" in
    up) printf 'Airflow   http://127.0.0.1:1\\n          user admin, password secret\\n' ;;
    put) wc -c <"$2" >>notes ;;
    run)
        [ "$2" != forever ] || { trap 'echo ended >>notes; exit 130' TERM; sleep 60 & wait; }
        echo "$2  run cli__$(grep -c ^run notes)  release abc" >&2
        [ "$(grep -c ^run notes)" != 2 ] || exit 1
        ;;
esac
"""


@pytest.fixture
def lake(tmp_path):
    program = tmp_path / "program"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    folder = tmp_path / "folder"
    folder.mkdir()
    return Lake(folder, program)


def notes(lake: Lake) -> list:
    text = (lake.program.parent / "notes").read_text()
    return text.replace(f" --state-dir {lake.folder / 'home'}", "").splitlines()


def test_what_up_tells_is_understood(capsys, tmp_path):
    from lake_local.cli.commands import up
    from lake_local.stack.stack import Stack
    from lake_local.workspace.state_dir import StateDirectory

    home = StateDirectory.at(tmp_path)
    home.create()
    tables = str(Path(__file__).resolve().parents[2] / "dags/tables")
    up._print_addresses(
        home, Stack(tables, aws_port=1, airflow_port=2, home=str(tmp_path))
    )
    found = airflow(capsys.readouterr().out)
    assert (found.url, found.user) == ("http://127.0.0.1:2", "admin")
    assert len(found.password) > 10
    with pytest.raises(ValueError, match="does not say where Airflow is"):
        airflow("AWS")


def test_a_run_is_known_by_the_line_that_names_it():
    told = (
        "landed\nmoma_full_load  run cli__2026-01-31T06-30-00.1  release abc\ngreen\n"
    )
    assert run_id(told) == "cli__2026-01-31T06-30-00.1"
    with pytest.raises(ValueError, match="does not name its run"):
        run_id("green")


def test_the_runs_of_the_pictures_are_played_once_and_one_of_them_is_red(lake):
    first = lake.runs()
    assert first == {
        "loaded": "cli__1",
        "red": "cli__2",
        "green": "cli__3",
        "plan": "cli__4",
    }
    played = notes(lake)
    sizes = [int(line) for line in played if line.isdigit()]
    assert len(sizes) == 3 and sizes[1] == sizes[2] // 2
    assert lake.runs() == first and notes(lake) == played


def test_half_a_file_cannot_be_read():
    half = cut_off(ROOT / "data/moma/artists_2016-05-12.csv.gz")
    with pytest.raises(EOFError):
        gzip.decompress(half)


def test_another_exit_code_is_told_with_all_that_was_said(lake):
    with pytest.raises(CommandFailed, match="exit code 0, not 1:\nAirflow "):
        lake.command("up", code=1)


def test_down_comes_whatever_happens(lake):
    with pytest.raises(RuntimeError), lake.up() as found:
        assert found.password == "secret"
        raise RuntimeError
    assert notes(lake) == ["up", "down"]


@pytest.fixture
def heeded():
    """Ctrl-C is heeded, also where whoever started these tests has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_the_command_under_way_then_all(lake, heeded):
    timer = threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt), lake.up():
        timer.start()
        lake.command("run", "forever")
    assert notes(lake) == ["up", "run forever", "ended", "down"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_missing_chromium_is_told_in_one_line_with_how_to_get_one(tmp_path):
    with pytest.raises(chromium.Missing) as told:
        chromium.executable({"PATH": str(tmp_path)})
    assert "apt-get install chromium" in str(told.value)
    assert "\n" not in str(told.value)


def test_chromium_is_found_by_its_names_or_where_somebody_says(tmp_path):
    for name in ("google-chrome", "mine"):
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
    path = {"PATH": str(tmp_path)}
    assert Path(chromium.executable(path)).name == "google-chrome"
    mine = str(tmp_path / "mine")
    assert chromium.executable({**path, "CHROMIUM": mine}) == mine
