"""Processes are started, told apart from their successors, and ended without rest."""

from __future__ import annotations

import os
import sys
import time

import pytest

from lake_local.workspace import background
from lake_local.workspace.background import Process

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]
DEAF = [
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "print('deaf', flush=True); time.sleep(60)",
]
ORPHAN = [
    sys.executable,
    "-c",
    "import subprocess, sys;"
    "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'],"
    " start_new_session=True)",
]


@pytest.fixture
def home(tmp_path):
    yield tmp_path
    background.end_marked(tmp_path, grace=0)


@pytest.fixture
def start(home):
    def started(argv, name="sleeper"):
        log = home / f"{name}.log"
        return background.start(name, argv, env=dict(os.environ), log=log, home=home)

    return started


def wait_for(condition):
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "it did not happen within 10 s"
        time.sleep(0.02)


def test_a_process_is_alive_until_it_is_stopped(start):
    process = start(SLEEP)
    assert process.is_alive()
    assert background.stop([process], grace=5) == []
    assert not process.is_alive()


def test_one_that_does_not_listen_is_killed_and_named(start, home):
    process = start(DEAF, name="deaf")
    wait_for(lambda: "deaf" in background.tail(home / "deaf.log"))
    assert background.stop([process], grace=0.2) == ["deaf"]
    assert not process.is_alive()


def test_another_process_with_the_same_id_is_not_it():
    assert not Process("old", os.getpid(), created=1.0).is_alive()


def test_an_orphan_in_a_session_of_its_own_is_found_and_ended(start, home):
    parent = start(ORPHAN, name="parent")
    wait_for(lambda: not parent.is_alive())
    assert len(background.marked(home)) == 1
    assert len(background.end_marked(home, grace=5)) == 1
    assert background.marked(home) == []


def test_processes_of_another_home_are_left_alone(start, home, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    process = start(SLEEP)
    assert background.end_marked(other, grace=0) == []
    assert process.is_alive()


def test_the_end_of_a_log_is_what_a_message_shows(tmp_path):
    log = tmp_path / "scheduler.log"
    log.write_text("\n".join(str(number) for number in range(100)))
    assert background.tail(log, lines=2) == "98\n99"


def test_a_log_that_was_never_written_is_said_to_be_empty(tmp_path):
    assert background.tail(tmp_path / "none.log") == "(no output)"
