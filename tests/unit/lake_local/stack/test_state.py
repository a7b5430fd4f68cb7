"""What is up is written down by one command and read by the next."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import psutil
import pytest

from lake_local.stack.stack import Stack
from lake_local.workspace.background import Process

GONE = Process("scheduler", 2**22 - 1, 1.0)


@pytest.fixture
def alive():
    return Process("aws", os.getpid(), psutil.Process().create_time())


def test_what_was_written_is_what_is_read(home, alive):
    stack = Stack("/tables", 5000, 8080, kept=True, since="now", processes=[alive])
    stack.home = str(home.root)
    stack.note()
    assert Stack.noted(home) == stack


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"tables": "/t"}', '{"processes": []}']
)
def test_a_file_that_says_nothing_means_nothing_is_up(home, text):
    home.stack_file.write_text(text)
    assert Stack.noted(home) is None


def test_a_stack_that_lost_a_process_is_up_until_the_last_has_ended(alive):
    stack = Stack("/tables", 5000, 8080, kept=True, processes=[alive, GONE])
    assert stack.dead() == ["scheduler"]
    assert stack.serves_everyone()
    assert not replace(stack, processes=[GONE]).serves_everyone()


def test_a_stack_of_one_command_serves_no_other(alive):
    assert not Stack("/t", 5000, 8080, kept=False, processes=[alive]).serves_everyone()


def test_a_kept_whole_stack_serves_everyone(alive):
    assert Stack("/t", 5000, 8080, kept=True, processes=[alive]).serves_everyone()


def test_what_another_version_noted_is_read_by_what_is_known(home, alive):
    stack = Stack("/tables", 5000, processes=[alive], home=str(home.root))
    stack.note()
    noted = json.loads(home.stack_file.read_text())
    noted["processes"][0]["later"] = 1
    home.stack_file.write_text(json.dumps({**noted, "later": 1}))
    assert Stack.noted(home) == stack
