"""A process of the stack that has ended is started again; all others go on."""

from __future__ import annotations

import os
import threading
from types import SimpleNamespace

import psutil
import pytest

from lake_local.errors import StartFailed
from lake_local.stack import session, stack
from lake_local.stack.stack import Stack
from lake_local.workspace.background import Process
from lake_local.workspace.project import find
from lake_local.workspace.specs import specs_of

NAMES = ("aws", "api-server", "scheduler", "dag-processor", "triggerer", "pages")


def gone(name):
    return Process(name, 2**22 - 1, 1.0)


def alive(name):
    return Process(name, os.getpid(), psutil.Process().create_time())


@pytest.fixture
def specs():
    """Specs that are the running ones."""
    found = SimpleNamespace()
    found.of_running = lambda tables: found
    return found


@pytest.fixture
def started(monkeypatch):
    """The names of the processes that were started, each of which is alive at once."""
    names = []

    def start(_, name, specs):
        names.append(name)
        return alive(name)

    monkeypatch.setattr(Stack, "start_process", start)
    monkeypatch.setattr(stack.policies, "write", lambda *_: None)
    monkeypatch.setattr(stack.emulator, "wait_until_healthy", lambda *_: None)
    monkeypatch.setattr(stack.processes, "wait_until_healthy", lambda *_: None)
    return names


@pytest.fixture
def ended(monkeypatch):
    """What a command ends: nothing."""

    def end(*_):
        raise AssertionError("the stack was ended")

    monkeypatch.setattr(stack, "end", end)
    monkeypatch.setattr(stack, "sweep", end)


def up(home, *lost):
    processes = [gone(name) if name in lost else alive(name) for name in NAMES]
    found = Stack("/t", 5000, 8080, kept=True, processes=processes, home=str(home.root))
    found.note()
    return found


@pytest.mark.parametrize("lost", [(name,) for name in NAMES] + [NAMES[1:]])
def test_a_command_starts_what_is_missing_alone(
    home, specs, started, ended, lost, capsys
):
    before = up(home, *lost)
    with session.opened(home, specs, who="put") as opened:
        assert opened.stack.dead() == []
    assert started == [name for name in NAMES if name in lost]
    now = Stack.noted(home)
    assert now.dead() == []
    assert (now.kept, now.aws_port, now.airflow_port) == (True, 5000, 8080)
    kept = [each for each in before.processes if each.name not in lost]
    assert [each for each in now.processes if each.name not in lost] == kept
    assert f"{lost[0]} had ended: it is started again" in capsys.readouterr().err


def test_a_run_that_is_followed_goes_on(home, specs, started, ended):
    up(home)
    with session.opened(home, specs, who="run") as opened:
        opened.stack.processes[2] = gone("scheduler")
        opened.stack.note()
        assert opened.dead() == []
    assert started == ["scheduler"]


def test_two_commands_start_it_once(home, specs, started, ended):
    up(home, "scheduler")

    def put():
        with session.opened(home, specs, who="put"):
            pass

    both = [threading.Thread(target=put) for _ in range(2)]
    for each in both:
        each.start()
    for each in both:
        each.join()
    assert started == ["scheduler"]


def test_what_does_not_start_is_named_and_nothing_is_ended(
    home, specs, started, ended, monkeypatch
):
    def fails(*_):
        raise StartFailed("the port 5000 is in use")

    monkeypatch.setattr(stack.emulator, "wait_until_healthy", fails)
    up(home, "aws")
    words = (
        "^aws: ended, and could not be started again. All else is still up; to start all "
        "of it anew: ./run_locally.sh down, then up. What is in the way: the port 5000"
    )
    with pytest.raises(StartFailed, match=words):
        with session.opened(home, specs, who="put"):
            raise AssertionError("the command went on")


def test_a_process_is_started_again_as_it_was_at_first(home, monkeypatch):
    """Its arguments, its environment and its log: each as the start of all had them."""
    begun = {}

    def start(name, argv, **more):
        begun.setdefault(name, []).append((argv, more))
        return alive(name)

    monkeypatch.setattr(stack.background, "start", start)
    monkeypatch.setattr(stack.processes, "migrate", lambda *_: None)
    monkeypatch.setattr(stack.policies, "write", lambda *_: None)
    monkeypatch.setattr(Stack, "make_erase_secret", lambda *_: None)
    monkeypatch.setattr(stack, "sweep", lambda *_: [])
    monkeypatch.setattr(stack.emulator, "wait_until_healthy", lambda *_: None)
    monkeypatch.setattr(stack.processes, "wait_until_healthy", lambda *_, **__: None)
    real = specs_of(find(), None)
    whole = Stack.start(home, real, airflow=True)
    noted = Stack.noted(home)
    noted.processes = [gone(each.name) for each in whole.processes]
    noted.restore(real)
    assert set(begun) == {each.name for each in whole.processes} and len(begun) == 6
    for name, (first, again) in begun.items():
        assert first == again, name
