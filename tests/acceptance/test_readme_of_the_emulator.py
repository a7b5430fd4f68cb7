"""The emulator alone, as its README says: the command, the variables, a step with Spark."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lake_emulator.keys import credentials_file, secret_of
from lake_emulator.pages import is_healthy
from lake_local.capture.ports import free_ports

PROJECT = Path(__file__).resolve().parents[2]
README = (PROJECT / "emulator" / "README.md").read_text(encoding="utf-8")


def printed(language: str, heading: str) -> str:
    """The block of code below a heading of the page."""
    section = README.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    (block,) = re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)
    return block


@pytest.fixture
def served(tmp_path):
    """An emulator started by the page's command, and what the page lets clients have."""
    state_dir, (port,) = tmp_path / "aws", free_ports(1)
    command = printed("bash", "Start it").splitlines()[1]
    variables, *argv = shlex.split(command.replace("4599", str(port)))
    assert argv[0] == ".venv-emulator/bin/python"
    argv = [sys.executable, *argv[1:]]
    argv[argv.index(".local/aws")] = str(state_dir)
    name, _, path = variables.partition("=")
    clean = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
    process = subprocess.Popen(argv, cwd=PROJECT, env={**clean, name: path})
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 60
        while not credentials_file(state_dir).exists():
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.1)
        while not is_healthy(url, secret_of(state_dir)):
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.1)
        told = printed("bash", "Point clients at it").replace(":4599", f":{port}")
        told = told.replace(".local/aws", str(state_dir))
        pairs = dict(re.findall(r"(AWS_\w+)=(\S+)", told))
        yield {**clean, **pairs}
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


def test_the_step_of_the_page_runs_as_printed(served):
    program = printed("python", "Run a step of your own")
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=served,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    state, *counts = done.stdout.split()
    assert state == "COMPLETED" and sorted(counts) == ["one,2", "two,1"]
