"""Groups of processes end whole, and with the one that started them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from functools import partial
from pathlib import Path

import pytest

from tools import processes
from tools.processes import Ended, ProcessGroups, side_by_side

SHELL = ("sh", "-c")


@pytest.fixture
def groups():
    with ProcessGroups(signal.SIGTERM, 5) as made:
        yield made


def shell(groups: ProcessGroups, folder: Path, text: str) -> int:
    return groups.run([*SHELL, text], folder)


def wait_for(path: Path) -> str:
    deadline = time.monotonic() + 10
    while not (path.exists() and path.read_text().endswith("\n")):
        assert time.monotonic() < deadline, f"no {path.name}"
        time.sleep(0.01)
    return path.read_text().strip()


def is_there(pid: str) -> bool:
    """Whether a process runs: an orphan that has ended may be a zombie for a while."""
    said = subprocess.run(
        ["ps", "-o", "stat=", "-p", pid], capture_output=True, text=True
    )
    return said.stdout.strip()[:1] not in ("", "Z")


def test_a_command_has_an_exit_code_a_folder_and_variables(groups, tmp_path):
    assert groups.run([*SHELL, 'pwd >a; exit "$CODE"'], tmp_path, {"CODE": "7"}) == 7
    assert (tmp_path / "a").read_text().strip() == str(tmp_path.resolve())


def test_both_streams_go_where_output_says(groups, tmp_path):
    with (tmp_path / "log").open("wb") as log:
        groups.run([*SHELL, "echo out; echo err >&2; cat"], tmp_path, output=log)
    assert (tmp_path / "log").read_text() == "out\nerr\n"  # and cat had no input


def test_a_work_that_fails_ends_the_others_with_all_that_they_started(groups, tmp_path):
    def fails() -> None:
        wait_for(tmp_path / "pid")
        raise ValueError("this one")

    hangs = partial(shell, groups, tmp_path, "sleep 60 & echo $! >pid; wait")
    with pytest.raises(ValueError, match="this one"):
        side_by_side({"hangs": hangs, "fails": fails}, groups, lambda *_: None)
    assert not is_there((tmp_path / "pid").read_text().strip())
    with pytest.raises(Ended):
        shell(groups, tmp_path, "touch later")
    assert not (tmp_path / "later").exists()


def test_what_does_not_heed_the_signal_is_killed_in_the_end(tmp_path):
    groups = ProcessGroups(signal.SIGINT, 0.2)

    def fails() -> None:
        wait_for(tmp_path / "pid")
        raise ValueError

    text = "trap '' INT TERM; echo $$ >pid; while :; do sleep 0.05; done"
    works = {"deaf": partial(shell, groups, tmp_path, text), "fails": fails}
    with pytest.raises(ValueError):
        side_by_side(works, groups, lambda *_: None)
    assert not is_there((tmp_path / "pid").read_text().strip())


def test_each_work_is_told_as_it_ends(groups, tmp_path):
    told = []
    works = {
        "last": partial(
            shell, groups, tmp_path, "until [ -e go ]; do sleep 0.01; done"
        ),
        "first": partial(shell, groups, tmp_path, "exit 3"),
    }

    def ended(name: str, code: int) -> None:
        told.append((name, code))
        (tmp_path / "go").touch()

    side_by_side(works, groups, ended)
    assert told == [("first", 3), ("last", 0)]


def test_what_is_at_work_is_told_again_and_again(groups, tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "TELL_EVERY", 0.05)
    told = []

    def at_work(names: list[str]) -> None:
        told.append(names)
        if len(told) == 3:
            (tmp_path / "go").touch()

    text = "until [ -e go ]; do sleep 0.01; done"
    works = {"slow": partial(shell, groups, tmp_path, text), "quick": lambda: 0}
    side_by_side(works, groups, lambda *_: None, at_work)
    assert told[:3] == [["slow"]] * 3


@pytest.fixture
def handlers():
    before = {each: signal.getsignal(each) for each in processes.INTERRUPTS}
    yield
    for each, handler in before.items():
        signal.signal(each, handler)


@pytest.mark.parametrize("how", processes.INTERRUPTS)
def test_an_interrupt_ends_all_and_a_second_one_changes_nothing(
    groups, tmp_path, handlers, how
):
    for each in processes.INTERRUPTS:  # else what ignores them here ignores them there
        signal.signal(each, signal.SIG_DFL)
    processes.exit_on_interrupts()
    ending = "sleep 0.2; kill -{0} {1}; touch ended; exit".format(
        how.value, os.getpid()
    )
    text = f"trap '{ending}' TERM; kill -{how.value} {os.getpid()}; while :; do :; done"
    works = {"one": partial(shell, groups, tmp_path, text)}
    with pytest.raises(SystemExit) as caught:
        side_by_side(works, groups, lambda *_: None)
    assert caught.value.code == processes.INTERRUPTED
    assert (tmp_path / "ended").exists()


def test_what_nohup_ignores_stays_ignored(handlers):
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    processes.exit_on_interrupts()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
