"""What can be written after ./run_locally.sh, and what it is taken for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from lake_local.cli.commands import backfill
from lake_local.cli.parser import parse
from lake_local.cli.registry import COMMANDS, PROGRAMS


def test_no_argument_means_the_demo():
    assert parse([]).command == "demo"


def test_options_alone_still_mean_the_demo():
    args = parse(["--keep-up", "--state-dir", "/tmp/elsewhere"])
    assert (args.command, args.keep_up, args.state_dir) == (
        "demo",
        True,
        Path("/tmp/elsewhere"),
    )


def test_the_home_is_in_the_project_unless_given():
    assert parse(["status"]).state_dir.parts[-2:] == (".local", "home")


@pytest.mark.parametrize(
    "argv",
    [
        pytest.param(["--state-dir", "/tmp/h", "status"], id="before-the-command"),
        pytest.param(["status", "--state-dir", "/tmp/h"], id="after-the-command"),
    ],
)
def test_the_home_stands_before_or_after_the_command(argv):
    assert parse(argv).state_dir == Path("/tmp/h")


def test_run_takes_params_and_a_window():
    args = parse(
        ["run", "moma_incremental", "--param", "dry_run=true"]
        + ["--param", "tables=artists", "--window", "2016-03-01", "2016-05-01"]
    )
    assert args.dag_id == "moma_incremental"
    assert args.param == ["dry_run=true", "tables=artists"]
    assert args.window == ["2016-03-01", "2016-05-01"]


def test_a_backfill_is_asked_for_as_airflow_s_api_takes_it():
    args = parse(
        ["backfill", "moma_incremental", "--from", "2016-03-01", "--to", "2016-03-03"]
        + ["--param", "tables=artists", "--reprocess", "failed"]
    )
    assert backfill.asked_of(args) == {
        "from_date": "2016-03-01T00:00:00Z",
        "to_date": "2016-03-03T00:00:00Z",
        "reprocess_behavior": "failed",
        "max_active_runs": 3,
        "dag_run_conf": {"tables": ["artists"]},
    }


@pytest.mark.parametrize("number", ["0", "-1", "many"])
def test_a_backfill_has_a_run_at_a_time_at_least(capsys, number):
    span = ["--from", "2016-03-01", "--to", "2016-03-03"]
    with pytest.raises(SystemExit):
        parse(["backfill", "moma_incremental", *span, "--max-active-runs", number])
    assert f"got {number!r}. Write a whole number, 1 or more" in capsys.readouterr().err


def test_as_of_and_between_exclude_each_other(capsys):
    with pytest.raises(SystemExit):
        parse(["show", "moma.artists", "--as-of", "2026", "--between", "1", "2"])
    assert "not allowed with argument --as-of" in capsys.readouterr().err


def test_a_missing_argument_is_named_with_where_to_look(capsys):
    with pytest.raises(SystemExit):
        parse(["put", "o.csv"])
    assert "required: s3://lake/.... Add what is missing; see ./run_locally.sh put" in (
        capsys.readouterr().err
    )


def test_keep_up_is_refused_where_nothing_is_left_to_keep(capsys):
    with pytest.raises(SystemExit):
        parse(["show", "moma.artists", "--keep-up"])
    assert (
        "--keep-up is not an option of show: use it with demo, run, backfill"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize("command", [each.name for each in COMMANDS])
def test_every_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as ended:
        parse([command, "--help"])
    told = capsys.readouterr().out
    assert ended.value.code == 0
    assert "--state-dir DIR" in told
    assert len(told.splitlines()) > 10


@pytest.mark.parametrize(
    "argv, meant",
    [
        pytest.param(["shwo", "moma.artists"], "show", id="command"),
        pytest.param(["show", "moma.artists", "--lmit", "3"], "--limit", id="option"),
        pytest.param(
            ["show", "moma.artists", "--layer", "curent"], "current", id="value"
        ),
        pytest.param(["--kepup"], "--keep-up", id="option-of-the-demo"),
    ],
)
def test_an_unknown_word_is_refused_with_what_was_probably_meant(argv, meant, capsys):
    with pytest.raises(SystemExit) as ended:
        parse(argv)
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith(f". Did you mean {meant!r}?\n")


def test_an_unknown_word_like_no_other_is_just_refused(capsys):
    with pytest.raises(SystemExit):
        parse(["show", "moma.artists", "--qqq"])
    assert capsys.readouterr().err.endswith("unrecognized arguments: --qqq\n")


def test_every_command_is_documented():
    page = Path(__file__).parents[4] / "docs" / "commands.md"
    text = page.read_text(encoding="utf-8")
    missing = [each.name for each in COMMANDS if f"\n## {each.name}\n" not in text]
    missing += [each.name for each in PROGRAMS if f"| `{each.name}" not in text]
    assert not missing


def imported_by(*argv):
    """Modules that are loaded once the arguments are parsed, in a process of its own."""
    words = (
        f"import sys; from lake_local.cli.parser import parse; parse({list(argv)!r})"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{words}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return set(done.stdout.split())


def test_a_command_imports_its_own_module_and_no_other():
    of_commands = "lake_local.cli.commands."
    found = imported_by("explain", "TooManyBadRows")
    assert {each for each in found if each.startswith(of_commands)} == {
        f"{of_commands}explain"
    }
    assert not found & {"boto3", "airflow", "lake_check.parsing.loader"}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.name)
def test_a_program_gets_its_arguments_as_they_are_written(program, monkeypatch):
    asked = []
    module = SimpleNamespace(main=lambda argv, prog: asked.append((argv, prog)) or 7)
    monkeypatch.setitem(sys.modules, f"{program.package}.__main__", module)
    args = parse(["--tables", "x", program.name, "a", "--b", "--keep-up"])
    assert args.run(args) == 7
    ((argv, prog),) = asked
    assert argv == [*program.begins, "--tables", "x", "a", "--b", "--keep-up"]
    names_itself = program.begins != ()
    assert prog == "./run_locally.sh" + ("" if names_itself else f" {program.name}")


def test_the_value_of_an_option_is_no_command():
    args = parse(["--tables", "infra", "status"])
    assert (args.command, args.tables) == ("status", Path("infra"))


@pytest.mark.parametrize(
    "argv, told",
    [
        (["--state-dir"], "argument --state-dir: expected one argument"),
        (["--table", "dags/tables", "validate"], "invalid choice: 'dags/tables'"),
        (["--table", "x", "estimate", "--rows", "5"], "invalid choice: 'x'"),
    ],
)
def test_an_option_without_its_value_or_cut_short_is_refused(argv, told, capsys):
    with pytest.raises(SystemExit) as ended:
        parse(argv)
    assert (ended.value.code, told in capsys.readouterr().err) == (2, True)
