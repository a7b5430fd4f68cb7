"""run_locally.sh as far as it answers before anything is set up."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lake_spec import VERSION

from lake_local.cli.help_text import FOLDER, OF_ALL, texts
from lake_local.cli.parser import parse
from lake_local.cli.registry import COMMANDS, PROGRAMS

ROOT = Path(__file__).resolve().parents[4]
COMMAND = (
    "PYTHONPATH=emulator:local:dags:infra .venv-airflow/bin/python"
    " -m lake_local.cli.help_text"
)


@pytest.fixture
def script(tmp_path):
    """Run the script in a folder without git, set-up and environments."""
    (tmp_path / "local").mkdir()
    shutil.copytree(ROOT / FOLDER, tmp_path / FOLDER)
    (tmp_path / "dags/lake_spec").mkdir(parents=True)
    shutil.copy(ROOT / "dags/lake_spec/__init__.py", tmp_path / "dags/lake_spec")
    shutil.copy(ROOT / "run_locally.sh", tmp_path)

    def run(*arguments, cwd=tmp_path):
        done = subprocess.run(
            [str(tmp_path / "run_locally.sh"), *arguments],
            cwd=cwd,
            env={"PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout

    run.root = tmp_path
    return run


def held():
    return {
        path.stem: path.read_text(encoding="utf-8")
        for path in (ROOT / FOLDER).glob("*.txt")
    }


def test_the_help_files_are_what_the_parsers_print():
    made = {name: text.split() for name, text in texts().items()}
    assert made == {
        name: text.split() for name, text in held().items()
    }, f"run: {COMMAND}"


def test_no_help_names_a_folder_of_the_machine_that_it_was_made_on():
    assert not [name for name, text in held().items() if str(ROOT) in text]


@pytest.mark.parametrize("option", ["--help", "-h", "help"])
def test_help_needs_nothing_that_is_set_up(script, option):
    assert script(option, cwd="/") == (0, held()[OF_ALL])


@pytest.mark.parametrize("option", ["--help", "-h"])
@pytest.mark.parametrize("command", ["show", "validate"])  # a command, a program
def test_help_of_a_command_needs_nothing_that_is_set_up(script, command, option):
    assert script(command, option, cwd="/") == (0, held()[command])


@pytest.mark.parametrize("word", ["../../secret", "no-command", "SHOW"])
def test_a_word_that_is_no_command_prints_no_file(script, word):
    (script.root.parent / "secret.txt").write_text("secret")
    code, output = script(word, "--help", cwd="/")
    assert code != 0 and "secret" not in output


def test_the_version_is_printed_as_far_as_it_is_known(script):
    assert script("--version") == (0, f"lake {VERSION}, commit unknown\n")
    home = script.root / ".local" / "home"
    home.mkdir(parents=True)
    (home / "release.json").write_text('{"release": "20261126-1a2b"}')
    words = f"lake {VERSION}, commit unknown, last release 20261126-1a2b\n"
    assert script("--version") == (0, words)


def test_the_version_names_the_commit(script):
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@x"]
    subprocess.run([*git, "init", "-q"], cwd=script.root, check=True)
    commit = [*git, "commit", "-q", "--allow-empty", "-m", "First"]
    subprocess.run(commit, cwd=script.root, check=True)
    short = ["git", "rev-parse", "--short", "HEAD"]
    told = subprocess.run(short, cwd=script.root, capture_output=True, text=True)
    assert script("--version") == (0, f"lake {VERSION}, commit {told.stdout}")


def test_the_parser_leaves_the_version_to_the_script(capfd):
    with pytest.raises(SystemExit) as ended:
        parse(["--state-dir", "/tmp/elsewhere", "--version"])
    assert ended.value.code == 0
    assert capfd.readouterr().out.startswith(f"lake {VERSION}, ")


@pytest.mark.nightly  # by day: test_the_shell_is_given_them, of a table
def test_commands_and_options_are_completed(tmp_path):
    """As the shell asks: by its line in the environment; the answer is on channel 8."""
    found = tmp_path / "found"
    argv = [str(ROOT / "run_locally.sh")]
    line = "./run_locally.sh sh"
    asked = {"_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line))}
    asked.update(COMP_TYPE="9", _ARGCOMPLETE_IFS=" ")
    subprocess.run(
        ["bash", "-c", '"$0" 8>"$1" 9>/dev/null', *argv, str(found)],
        env={**os.environ, **asked},
        check=True,
    )
    assert found.read_text().split() == ["show"]


def test_each_program_of_another_package_is_set_up_without_spark():
    text = (ROOT / "run_locally.sh").read_text(encoding="utf-8")
    lists = re.findall(r"^ +(.+?)\) only=\"--only airflow\"", text, re.MULTILINE)
    named = {word for each in lists for word in re.split(r"[ |]+", each)}
    programs = {each.name for each in PROGRAMS}
    assert named - {"cost", "case"} >= programs
    assert named & {each.name for each in COMMANDS} >= {"validate", "explain"}
