"""One home, several commands: many may use what is up, one alone starts and stops."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from lake_local.errors import StateDirectoryBusy
from lake_local.stack import lock
from lake_local.workspace.state_dir import StateDirectory

ROOT = Path(__file__).parents[4]
HOLD = """
import sys
sys.path[:0] = sys.argv[2:]
from lake_local.stack import lock
from lake_local.workspace.state_dir import StateDirectory
home = StateDirectory.at(sys.argv[1])
with lock.%s:
    print("held", flush=True)
    sys.stdin.read()
"""
HOLDS = {
    "alone": 'hold(home, "run other_dag", shared=False)',
    "shared": 'hold(home, "run other_dag", shared=True)',
    "pages": "hold_pages(home)",
}


@contextmanager
def another_command(home: StateDirectory, how: str):
    """A process that holds the home's lock until it is killed."""
    code = [str(ROOT / each) for each in ("emulator", "local", "dags")]
    argv = [sys.executable, "-c", HOLD % HOLDS[how], str(home.root), *code]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(argv, **pipes) as process:
        assert process.stdout.readline() == b"held\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def home(tmp_path):
    return StateDirectory.at(tmp_path / "home")


@pytest.mark.parametrize("shared", [False, True])
def test_a_home_in_use_is_refused_with_the_holders_name(home, shared):
    with another_command(home, "alone") as holder:
        named = rf"run other_dag` \(pid {holder.pid}, since .*--state-dir DIR"
        with pytest.raises(StateDirectoryBusy, match=named):
            with lock.hold(home, "show", shared=shared, patience=0):
                pass


def test_commands_that_use_what_is_up_do_not_wait_for_each_other(home):
    with another_command(home, "shared"):
        with lock.hold(home, "show", shared=True, patience=0) as held:
            assert held.shared


def test_who_waits_is_told_for_whom(home, capsys):
    with another_command(home, "alone"):
        with pytest.raises(StateDirectoryBusy):
            with lock.hold(home, "show", shared=False, patience=0.3):
                pass
    assert "waiting for `run other_dag`" in capsys.readouterr().err


def test_a_killed_holder_holds_nothing(home):
    with another_command(home, "alone") as holder:
        holder.kill()
        holder.wait()
        with lock.hold(home, "show", shared=False, patience=5):
            assert lock.holders(home) == []


def test_a_home_is_for_its_owner_only(home):
    with lock.hold(home, "status", shared=False):
        assert home.root.stat().st_mode & 0o077 == 0


def test_pages_are_built_by_one_command_at_a_time(home, capsys):
    with another_command(home, "pages"):
        with lock.hold(home, "show", shared=False, patience=0):
            with pytest.raises(StateDirectoryBusy, match="is building the pages in"):
                with lock.hold_pages(home, patience=0.3):
                    pass
    assert "it is building the pages in" in capsys.readouterr().err
    with lock.hold_pages(home, patience=10):  # the kernel released it
        pass
