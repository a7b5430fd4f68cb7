"""What run_tests_locally.sh can be asked for."""

from __future__ import annotations

import pytest

from tools.checks import speeds
from tools.checks.__main__ import main
from tools.checks.choices import CHOICES, NoSuchChoice, chosen, help_text
from tools.checks.commands import Checkout


@pytest.mark.parametrize("arguments", [[], ["full"]], ids=["by-default", "by-name"])
def test_the_full_tests_are_the_default(arguments):
    assert chosen(arguments) == (speeds.full, ())


def test_arguments_of_pytest_need_no_name():
    assert chosen(["-k", "late"]) == (speeds.full, ("-k", "late"))


@pytest.mark.parametrize(
    "name", [each.name for each in CHOICES if each.name != "shard"]
)
def test_each_choice_is_a_function_of_its_name(name):
    function = getattr(speeds, name)
    assert chosen([name, "--seed", "5"]) == (function, ("--seed", "5"))


def test_a_shard_has_a_name_of_its_own(tmp_path):
    stages, rest = chosen(["shard", "end-to-end", "-x"])
    assert rest == ("-x",)
    _, tests = stages(Checkout(tmp_path, rest))
    assert str(tests).endswith("-m pytest tests/acceptance tests/e2e -x")


def test_an_unknown_name_is_refused_with_the_choices(tmp_path, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["slow"], tmp_path)
    assert caught.value.code == 2
    told = capsys.readouterr().err
    assert told.startswith(
        "run_tests_locally.sh: 'slow' is no speed; choose fast, full, shard, properties,"
    )
    assert told.endswith("nightly, spark39 or older, see --help\n")


@pytest.mark.parametrize("arguments", [["shard"], ["shard", "spark"], ["shard", "-x"]])
def test_an_unknown_shard_is_refused_with_their_names(arguments):
    with pytest.raises(
        NoSuchChoice, match="choose fast, .*, spark-1, .* or end-to-end"
    ):
        chosen(arguments)


def test_help_says_of_each_choice_what_it_takes_and_does(capsys, tmp_path):
    main(["--help"], tmp_path)
    text = capsys.readouterr().out
    assert text == f"{help_text()}\n"
    for each in CHOICES:
        usage = f"  ./run_tests_locally.sh {each.name} {each.arguments}".rstrip()
        assert f"{usage}\n" in text
        assert f"\n  {each.name:<11} {each.words.split()[0]} " in text
    assert max(map(len, text.splitlines())) <= 100
