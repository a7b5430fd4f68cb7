"""The two scripts as processes: what they find, how signals end them, that they heal.

They run in a small copy of the project, with programs that only take notes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Tuple

import pytest

ROOT = Path(__file__).resolve().parents[3]
INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
INSTALLER = """#!/usr/bin/env bash
echo "$*" >>"$NOTES"
case $1 in
    venv) mkdir -p "$4/bin" && ln -s "$3" "$4/bin/python" ;;
    pip)
        sleep "$INSTALLER_SECONDS"
        until [ -e "$INSTALLER_WAITS_FOR" ]; do sleep 0.05; done
        exit "$INSTALLER_EXIT"
        ;;
esac
"""
PROGRAM = """#!/usr/bin/env bash
echo "$0 $*" >>"$NOTES"
case "$0 $*" in $FAILING) exit "$CODE" ;; esac
case "$0 $*" in $HANGING) sleep 60 ;; esac
"""
PROGRAMS = (
    ".local/uv/bin/uv",
    ".venv-airflow/bin/python",
    ".venv-spec/bin/python",
)


class Copy:
    """A copy of the scripts, of tools/, and of what set-up reads."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.notes = root / "notes"
        self.notes.touch()
        for name in ("setup.sh", "run_tests_locally.sh"):
            shutil.copy(ROOT / name, root)
        of_python = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "tools", root / "tools", ignore=of_python)
        shutil.copytree(ROOT / "requirements", root / "requirements")

    def program(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)

    def start(self, *argv: str, **settings: str) -> subprocess.Popen[str]:
        environment = {
            **os.environ,
            "NOTES": str(self.notes),
            "LAKE_PYTHON": sys.executable,
            "INSTALLER_SECONDS": "0",
            "INSTALLER_WAITS_FOR": str(self.root),
            "INSTALLER_EXIT": "0",
            "FAILING": "nothing",
            "HANGING": "nothing",
            "CODE": "1",
            **settings,
        }
        return subprocess.Popen(
            ["bash", *argv],
            cwd=self.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=heed_signals,
        )

    def run(self, *argv: str, **settings: str) -> Tuple[int, str]:
        process = self.start(*argv, **settings)
        output, _ = process.communicate(timeout=60)
        return process.returncode, output

    def wait_for(self, words: str, count: int = 1) -> None:
        deadline = time.monotonic() + 30
        while self.notes.read_text().count(words) < count:
            assert time.monotonic() < deadline, f"no {words}"
            time.sleep(0.02)


def heed_signals() -> None:
    """Heed those that whoever started these tests, as nohup, lets its children ignore."""
    for each in INTERRUPTS:
        signal.signal(each, signal.SIG_DFL)


@pytest.fixture
def setup(tmp_path):
    copy = Copy(tmp_path)
    copy.program(".local/uv/bin/uv", INSTALLER)
    lock = (tmp_path / "requirements/uv.lock").read_bytes()
    stamp = tmp_path / ".local/uv/.setup-stamp"
    stamp.write_text(hashlib.sha256(lock).hexdigest())
    return copy


@pytest.fixture
def tests(tmp_path):
    copy = Copy(tmp_path)
    for each in PROGRAMS:
        copy.program(each, PROGRAM)
    copy.program("setup.sh", PROGRAM)
    return copy


ONLY = ("setup.sh", "--only", "readers")
INSTALL = "requirements/readers.lock"


def is_built(copy: Copy) -> bool:
    return (copy.root / ".venv-readers/.setup-stamp").exists()


def test_set_up_builds_once(setup):
    code, output = setup.run(*ONLY)
    assert (code, is_built(setup)) == (0, True)
    assert output.startswith("setup: building .venv-readers\n")
    assert setup.run(*ONLY) == (0, "setup: everything is in place\n")
    assert setup.run(*ONLY, "--quiet") == (0, "")
    assert setup.notes.read_text().count(INSTALL) == 1


@pytest.mark.parametrize("how", [*INTERRUPTS, signal.SIGKILL])
def test_an_interrupted_set_up_does_not_count_and_heals(setup, how):
    hanging = {"INSTALLER_SECONDS": "2", "INSTALLER_EXIT": "1"}
    process = setup.start(*ONLY, **hanging)
    setup.wait_for(INSTALL)
    process.send_signal(how)
    process.wait(timeout=10)
    assert process.returncode == (-9 if how == signal.SIGKILL else 130)
    assert not is_built(setup)
    assert setup.run(*ONLY)[0] == 0
    assert is_built(setup)


def test_an_interrupted_set_up_leaves_no_process_behind(setup):
    process = setup.start(*ONLY, INSTALLER_SECONDS="60")
    setup.wait_for(INSTALL)
    process.terminate()
    # The pipe closes when the last process that holds it has ended.
    output, _ = process.communicate(timeout=8)
    assert "failed" not in output and "Traceback" not in output


def test_of_two_at_once_one_installs_and_the_other_waits(setup):
    go_on = setup.root / "go-on"
    first = setup.start(*ONLY, INSTALLER_WAITS_FOR=str(go_on))
    setup.wait_for(INSTALL)
    second, third = setup.start(*ONLY), setup.start(*ONLY)
    words = "another set-up is at work in this checkout"
    for each in (second, third):
        assert any(words in line for line in each.stdout)
    third.send_signal(signal.SIGINT)  # it need not be waited for
    third.communicate(timeout=8)
    go_on.touch()
    for each in (first, second):
        each.communicate(timeout=30)
    assert (first.returncode, second.returncode, third.returncode) == (0, 0, 130)
    assert setup.notes.read_text().count(INSTALL) == 1


def test_where_a_set_up_was_killed_the_next_one_waits_for_what_it_left(setup):
    go_on = setup.root / "go-on"
    first = setup.start(*ONLY, INSTALLER_WAITS_FOR=str(go_on))
    setup.wait_for(INSTALL)
    first.kill()
    second = setup.start(*ONLY)
    words = "another set-up is at work in this checkout"
    assert any(words in line for line in second.stdout)
    go_on.touch()
    second.communicate(timeout=30)
    first.communicate(timeout=30)
    assert (second.returncode, is_built(setup)) == (0, True)


@pytest.mark.parametrize(
    "script, name",
    [("setup.sh", "setup"), ("run_tests_locally.sh", "run_tests_locally.sh")],
)
def test_without_a_python_that_can_run_tools_one_line_says_so(
    setup, script, name, tmp_path
):
    programs = tmp_path / "programs"
    programs.mkdir()
    for each in ("bash", "dirname", "env"):
        (programs / each).symlink_to(shutil.which(each))
    setup.program("programs/python3", "#!/usr/bin/env bash\nexit 1\n")
    settings = {"PATH": str(programs), "HOME": str(tmp_path), "LAKE_PYTHON": ""}
    assert setup.run(script, **settings) == (
        1,
        f"{name}: Python 3.11 or 3.12 with pip is missing: apt-get"
        " install python3.11 python3-pip, or brew install python@3.11\n",
    )


def test_an_environment_that_is_half_removed_is_no_python(setup):
    python = setup.root / ".venv-airflow/bin/python"
    python.parent.mkdir(parents=True)
    python.symlink_to("/nowhere")
    code, output = setup.run("setup.sh", "--only", "airflow")
    assert code == 1
    assert ".venv-airflow is in the way, and stays: no set-up made it." in output


@pytest.mark.parametrize("script", ["setup.sh", "run_tests_locally.sh"])
def test_help_is_shown_from_any_folder_whatever_variables_python_has(setup, script):
    (setup.root / "else").mkdir()
    command = f"cd else && ../{script} --help"
    code, output = setup.run("-c", command, PYTHONPATH="else", PYTHONHOME="/nowhere")
    assert (code, f"  ./{script} " in output) == (0, True)


def test_a_failure_of_a_part_ends_the_others(tests):
    # The pipe of their output closes when the last of them has ended.
    hanging = "*lake_airflow*"
    code, output = tests.run(
        "run_tests_locally.sh", "fast", HANGING=hanging, FAILING="*flake8*", CODE="7"
    )
    assert code == 7
    assert output.endswith(
        "Failed (exit code 7). To run only this again:\n"
        "    .venv-airflow/bin/python -m tests.changed_flake8\n"
    )
    assert "lake_plugin" not in output


@pytest.mark.parametrize("how", INTERRUPTS)
def test_an_interrupt_ends_all_parts_and_a_second_start_works(tests, how):
    process = tests.start("run_tests_locally.sh", "fast", HANGING="*pytest*")
    tests.wait_for("pytest", 5)
    process.send_signal(how)
    output, _ = process.communicate(timeout=30)
    assert (process.returncode, "Traceback" in output) == (130, False)
    assert tests.run("run_tests_locally.sh", "fast")[0] == 0


def test_an_interrupt_ends_a_command_that_runs_alone(tests):
    process = tests.start("run_tests_locally.sh", "simulate", HANGING="*setup.sh*")
    tests.wait_for("setup.sh")
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=30)
    assert (process.returncode, output) == (
        130,
        "\n+ ./setup.sh --quiet --only airflow\n",
    )
