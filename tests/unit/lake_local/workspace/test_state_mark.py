"""Commands write and remove only in a folder that they made: what others left there stays."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

import pytest

from lake_emulator import private_folder, state_mark
from lake_emulator.__main__ import main as emulator
from lake_emulator.keys import secret_of
from lake_emulator.runtimes import PROJECT
from lake_emulator.state_mark import NotAStateDirectory, claim
from lake_local.cli.parser import parse
from lake_local.errors import BadRequest
from lake_local.stack import lock
from lake_local.stack.stack import Stack
from lake_local.workspace.state_dir import StateDirectory

TABLES = str(PROJECT / "dags" / "tables")
WAYS_ON = (
    " Nothing was written there, for what lies in a state directory is replaced and"
    " removed. Name another folder with --state-dir DIR, one that does not exist yet, or an"
    " empty one."
)


@pytest.fixture(autouse=True)
def nothing_is_started(monkeypatch):
    def start(*args, **more):
        raise AssertionError("something was started")

    monkeypatch.setattr(Stack, "start", start)


def files_of(folder: Path):
    return {
        str(each.relative_to(folder)): each.read_bytes()
        for each in folder.rglob("*")
        if each.is_file()
    }


def put(folder: Path, *paths: str) -> Path:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("of somebody else\n")
    return folder


@pytest.mark.parametrize(
    "paths, said",
    [
        (["dags/other_team.py"], "it has dags, perhaps somebody's DAGs."),
        (
            ["airflow/airflow.cfg"],
            "airflow, perhaps the home of an Airflow among them.",
        ),
        (["airflow.cfg", "airflow.db"], "airflow.db, perhaps the home of an Airflow."),
        ([".git/HEAD", "dags/x.py"], "dags, perhaps the checkout of a repository."),
        (["stack.json"], "stack.json, perhaps the state of another program."),
        (["site/index.html"], "perhaps files of your own, or of another program."),
        (
            ["config", "credentials"],
            "it has config, credentials, perhaps files of your",
        ),
        (list("abcdefg"), "it has a, b, c, d, e and 2 more, perhaps files of your own"),
        (["policies.json"], "it has policies.json, perhaps"),
    ],
)
@pytest.mark.parametrize(
    "argv",
    [
        ["down"],
        ["status"],
        ["site", "--open", "no"],
        ["demo"],
        ["up", "--tables", TABLES],
        ["run", "moma_full_load"],
    ],
    ids=lambda argv: argv[0],
)
def test_a_command_refuses_a_folder_that_others_filled(tmp_path, paths, said, argv):
    before = files_of(put(tmp_path, *paths))
    args = parse([*argv, "--state-dir", str(tmp_path)])
    with pytest.raises(BadRequest) as refused:
        args.run(args)
    told = str(refused.value)
    assert f"{tmp_path} is not empty, and no state directory of this project:" in told
    assert said in told and WAYS_ON in told
    assert files_of(tmp_path) == before


@pytest.mark.parametrize("use", [claim, secret_of])
def test_the_emulator_refuses_it_too(tmp_path, use, capsys, monkeypatch):
    monkeypatch.setattr(logging, "basicConfig", lambda filename, **_: filename.touch())
    before = files_of(put(tmp_path, "services/s3.pickle", "notes.txt"))
    with pytest.raises(NotAStateDirectory, match="it has notes.txt, services, perhaps"):
        use(tmp_path)
    assert emulator(["--state-dir", str(tmp_path), "--port", "0"]) == 1
    assert "notes.txt, services" in capsys.readouterr().err
    assert files_of(tmp_path) == before


def test_no_lock_is_taken_in_a_folder_that_others_filled(tmp_path):
    before = files_of(put(tmp_path, "dags/x.py"))
    for hold in (
        lambda home: lock.hold(home, "test", shared=False),
        lock.hold_pages,
    ):
        with pytest.raises(Exception, match="no state directory of this project"):
            with hold(StateDirectory.at(tmp_path)):
                pass
    assert files_of(tmp_path) == before


@pytest.mark.parametrize("is_marked", [False, True])
@pytest.mark.parametrize(
    "place, name",
    [
        ("checkout", "the checkout:"),
        (".", "a folder above the checkout ("),
        ("you", "your home folder:"),
        ("people", "a folder above your home folder ("),
        ("/", "a folder above the checkout ("),
    ],
)
def test_places_that_can_never_be_one_are_refused_by_name(
    tmp_path, monkeypatch, place, name, is_marked
):
    (tmp_path / "checkout").mkdir()
    home = tmp_path / ("people/me" if place == "people" else "you")
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(state_mark, "PROJECT", tmp_path / "checkout")
    folder = tmp_path / place
    if is_marked and place != "/":
        (folder / state_mark.FILE).write_text(json.dumps({"format": 1}))
    with pytest.raises(NotAStateDirectory) as refused:
        state_mark.check(folder)
    assert str(refused.value).startswith(f"{folder} is {name}")
    assert "Name a folder of its own with --state-dir DIR" in str(refused.value)


def test_a_link_to_such_a_place_is_that_place(tmp_path, monkeypatch):
    monkeypatch.setattr(state_mark, "PROJECT", tmp_path / "checkout")
    (tmp_path / "checkout").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "checkout")
    with pytest.raises(NotAStateDirectory, match="is the checkout"):
        state_mark.check(tmp_path / "link")


@pytest.mark.parametrize("is_there", [True, False])
def test_an_empty_folder_becomes_one_and_stays_one(tmp_path, is_there):
    home = StateDirectory.at(tmp_path / "new" / "home")
    if is_there:
        home.root.mkdir(parents=True)
    home.create()
    mark = json.loads((home.root / state_mark.FILE).read_text())
    assert mark["format"] == 1 and "Keep nothing else here" in mark["what"]
    put(home.root, "notes.txt", "dags/mine.py")
    home.create()
    assert (home.root / "notes.txt").exists()


def test_a_mark_that_another_process_is_writing_counts(tmp_path):
    (tmp_path / state_mark.FILE).touch()
    claim(tmp_path)
    assert json.loads((tmp_path / state_mark.FILE).read_text())["format"] == 1


@pytest.mark.parametrize("text", ['{"format": 2}', "{}", "no JSON", "[]"])
def test_a_mark_of_a_later_version_is_refused(tmp_path, text):
    (tmp_path / state_mark.FILE).write_text(text)
    with pytest.raises(NotAStateDirectory, match="has no format 1: a later version"):
        claim(tmp_path)


def test_a_file_is_no_state_directory(tmp_path):
    with pytest.raises(NotAStateDirectory, match="is a file, no folder"):
        claim(put(tmp_path, "file") / "file")


def test_an_emulator_takes_the_policies_that_were_put_before_its_start(tmp_path):
    put(tmp_path, "policies.json")
    claim(tmp_path, given={"policies.json"})
    assert (tmp_path / state_mark.FILE).exists()


BY_COMMANDS = ("airflow/airflow.cfg", "logs/aws.log", "holders/1", "lock")
BY_EMULATOR = ("aws.pid", "aws.log", "credentials", "s3/index.sqlite")


@pytest.mark.parametrize(
    "paths",
    [
        BY_COMMANDS,
        BY_EMULATOR,
        (*BY_COMMANDS, *BY_EMULATOR, "stack.json", "dags/lake.py", "site/index.html")
        + (
            "policies.json",
            "release.json",
            "product_plans.json",
            "site.lock",
            "restart.lock",
        )
        + ("emr/j-1/cluster.json", "services/s3.pickle", "calls.jsonl", "release-x1/y"),
        tuple(
            f"connect/shop/{each}"
            for each in (*BY_COMMANDS, "kafka/x", "worker/x", "slot.json")
        ),
    ],
    ids=["a command", "the emulator", "all of them", "connect"],
)
def test_one_of_the_version_before_is_marked_and_kept(tmp_path, paths):
    before = files_of(put(tmp_path, *paths))
    claim(tmp_path)
    after = files_of(tmp_path)
    assert json.loads(after.pop(state_mark.FILE))["format"] == 1
    assert after == before


@pytest.mark.parametrize("missing", BY_COMMANDS)
def test_half_of_its_content_is_not_enough(tmp_path, missing):
    put(tmp_path, *(each for each in BY_COMMANDS if each != missing))
    with pytest.raises(
        NotAStateDirectory, match="is not empty, and no state directory"
    ):
        claim(tmp_path)


def test_one_of_the_version_before_with_other_files_is_refused_with_their_names(
    tmp_path,
):
    before = files_of(put(tmp_path, *BY_COMMANDS, "notes.txt", "tables/shop.yml"))
    with pytest.raises(NotAStateDirectory) as refused:
        claim(tmp_path)
    assert str(refused.value) == (
        f"{tmp_path} is like a state directory of an earlier version, but has also"
        " notes.txt, tables, which no command wrote. Move that elsewhere and run the"
        " command again, or name another folder with --state-dir DIR."
    )
    assert files_of(tmp_path) == before


def test_the_captures_of_another_program_are_no_state_directory(tmp_path):
    put(tmp_path, "connect/worker.properties", "connect/plugins/x.jar")
    with pytest.raises(NotAStateDirectory, match="it has connect"):
        claim(tmp_path)


def test_commands_close_a_folder_that_is_open_to_others(tmp_path):
    tmp_path.chmod(0o755)
    StateDirectory(tmp_path).create()
    assert tmp_path.stat().st_mode & 0o777 == 0o700


def test_commands_refuse_a_folder_of_another_user(tmp_path, monkeypatch):
    me = os.geteuid()
    monkeypatch.setattr(private_folder.os, "geteuid", lambda: me + 1)
    with pytest.raises(BadRequest, match="belongs to user"):
        StateDirectory(tmp_path).create()
    assert not list(tmp_path.iterdir())
