"""Each test is in a choice, the shards together are the full tests, and names are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.checks import speeds
from tools.checks.choices import CHOICES
from tools.checks.commands import Checkout, Command, SideBySide
from tools.checks.spark_shards import spark_files

ROOT = Path(__file__).resolve().parents[4]
PROGRAMS = (".venv-spark/bin/python", ".venv-spec/bin/python")
FULL_SETUP = speeds.set_up(*speeds.FULL_TARGETS)
SESSIONS = "-n 2 --dist loadfile --no-loadscope-reorder"


@pytest.fixture
def checkout(tmp_path):
    """A folder that holds nothing but the programs, servers and Spark tests."""
    for name in PROGRAMS:
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.touch(0o755)
    (tmp_path / ".local/servers").mkdir(parents=True)
    (tmp_path / "tests").mkdir()
    for name in ("spark", "coverage.json"):
        (tmp_path / "tests" / name).symlink_to(ROOT / "tests" / name)
    return tmp_path


def steps(stages):
    """All commands and words, those of parts too."""
    for stage in stages:
        if isinstance(stage, SideBySide):
            yield from (step for part in stage.parts.values() for step in part)
        else:
            yield stage


def texts(stages):
    return [str(step) for step in steps(stages)]


def collected(commands):
    """The files of tests that these commands of pytest play, of those without a Java."""
    found = []
    for command in commands:
        if "pytest" not in command.argv or "--collect-only" in command.argv:
            continue
        words = command.argv[command.argv.index("pytest") + 1 :]
        ignored = [after for word, after in zip(words, words[1:]) if word == "--ignore"]
        named = [w for w in words if w.startswith("tests/") and w not in ignored]
        for each in named:
            at = ROOT / each
            files = at.rglob("test_*.py") if at.is_dir() else [at]
            paths = (str(file.relative_to(ROOT)) for file in files)
            found += [
                p
                for p in paths
                if not any(f"{p}/".startswith(f"{i}/") for i in ignored)
            ]
    return found


def test_each_unit_and_policy_test_is_played_once_by_day_or_by_the_night(checkout):
    played = collected(
        each
        for each in steps(speeds.full(Checkout(checkout)))
        if isinstance(each, Command)
    )
    there = {
        str(file.relative_to(ROOT))
        for folder in ("unit", "policy")
        for file in (ROOT / "tests" / folder).rglob("test_*.py")
    }
    units = [each for each in played if each in there]
    assert sorted(units) == sorted(there - set(speeds.BY_NIGHT))
    by_night = (speeds.nightly, speeds.older)
    later = collected(
        each
        for choice in by_night
        for each in steps(choice(Checkout(checkout)))
        if isinstance(each, Command)
    )
    files = {
        str(file.relative_to(ROOT))
        for each in speeds.BY_NIGHT
        for file in (
            (ROOT / each).rglob("test_*.py")
            if (ROOT / each).is_dir()
            else [ROOT / each]
        )
    }
    assert files <= set(later)


def test_the_full_tests_have_the_style_and_every_folder_of_tests(checkout):
    words = " ".join(texts(speeds.full(Checkout(checkout))))
    for each in (
        "black",
        "flake8",
        "mypy",
        "tests/site",
        "tests/readers",
        "tests/hostile",
    ):
        assert each in words
    for each in ("deploy", "e2e", "acceptance", "servers", "loop", "spark", "policy"):
        assert f"tests/{each}" in words


def together(at, *without):
    """What all shards but some run after their set-up: commands, and files of Spark tests."""
    commands, files = [], []
    for name in speeds.SHARDS.keys() - set(without):
        setup, *found = texts(speeds.shard(at, name))
        assert setup == str(FULL_SETUP)
        if name.startswith("spark-"):
            *_, named = found.pop().partition(SESSIONS)
            files += named.split()
        commands += found
    return sorted(commands), sorted(files)


def test_the_shards_together_are_the_full_tests_and_without_any_they_are_not(checkout):
    at = Checkout(checkout)
    full = {
        each for each in texts(speeds.full(at)) if not each.endswith(" tests/spark")
    }
    expected = sorted(full - {str(FULL_SETUP)}), spark_files(ROOT)
    assert together(at) == expected
    assert all(together(at, name) != expected for name in speeds.SHARDS)


def test_what_this_machine_lacks_is_said(checkout):
    (checkout / ".local/servers").rmdir()
    for name in PROGRAMS:
        (checkout / name).chmod(0o644)
    words = [
        each for each in steps(speeds.full(Checkout(checkout))) if isinstance(each, str)
    ]
    assert [each.split(":")[0] for each in words] == [
        "No PySpark here",
        "No Python 3.9 here",
        "No servers for this machine",
    ]
    (units,) = [
        each
        for each in texts(speeds.fast(Checkout(checkout)))
        if " tests/unit " in each
    ]
    assert "--ignore tests/unit/lake_spec" not in units


def test_arguments_reach_every_pytest_and_may_choose_no_test_of_one(checkout):
    found = list(steps(speeds.fast(Checkout(checkout, ("-k", "late events")))))
    asked = [each for each in found if "pytest" in each.argv]
    assert len(asked) == 5
    assert {each.argv[-2:] for each in asked} == {("-k", "late events")}
    assert {each.fine for each in asked} == {(5,)}
    assert str(asked[0]).endswith(" -k 'late events'")
    assert {each.fine for each in found if each not in asked} == {()}
    assert {each.fine for each in steps(speeds.fast(Checkout(checkout)))} == {()}


@pytest.mark.parametrize("name", ["properties", "fuzz", "crash", "loop", "simulate"])
def test_programs_of_the_tests_take_their_numbers(checkout, name):
    setup, program = texts(getattr(speeds, name)(Checkout(checkout, ("--seed", "5"))))
    assert setup.startswith("./setup.sh --quiet --only ")
    assert program.endswith(" --seed 5")


def test_a_night_of_chosen_tests_plays_no_more_than_those(checkout):
    nightly = texts(speeds.nightly(Checkout(checkout)))
    chosen = texts(speeds.nightly(Checkout(checkout, ("-k", "moves"))))
    assert chosen == [nightly[0], *(f"{each} -k moves" for each in nightly[1:4])]
    assert all("-m nightly" in each for each in chosen[1:])


def test_the_end_to_end_tests_run_on_the_older_airflow_too(checkout):
    for _ in "again", "where the links are there already":
        *_, older, old = texts(speeds.older(Checkout(checkout)))
    for version, command in ("3.0.6", older), ("3.2.1", old):
        venvs = checkout / f".local/airflow-{version}"
        assert command.startswith(f"LAKE_VENVS={venvs} .venv-airflow-{version}/")
        links = {each.name: str(each.resolve()) for each in venvs.iterdir()}
        assert links.pop(".venv-airflow").endswith(f"/.venv-airflow-{version}")
        assert links == {
            f".venv-{name}": f"{checkout.resolve()}/.venv-{name}"
            for name in ("spark", "step", "streamer")
        }


def test_what_the_choices_name_is_there():
    named = [
        word
        for choice in CHOICES
        if choice.name != "shard"
        for command in texts(choice.stages(Checkout(ROOT)))
        for word in command.split()
        if word.startswith("tests/")
    ]
    assert named and [each for each in named if not (ROOT / each).exists()] == []
