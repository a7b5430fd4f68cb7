"""Commands are shown, and the first one that fails is the last one shown."""

from __future__ import annotations

import signal
import time

import pytest

from tools.checks.commands import Command, SideBySide
from tools.checks.running import run
from tools.processes import ProcessGroups


def shell(text: str, **options) -> Command:
    return Command(("sh", "-c", text), **options)


@pytest.fixture
def play(tmp_path, capfd):
    """Run stages: the exit code and both outputs."""

    def play(*stages):
        code = 0
        with ProcessGroups(signal.SIGTERM, 5) as groups:
            try:
                run(stages, tmp_path, groups)
            except SystemExit as end:
                code = end.code
        return code, *capfd.readouterr()

    return play


def test_a_command_is_shown_as_it_can_be_typed_again(play):
    code, out, _ = play(shell('echo "$A"', env={"A": "b c"}), "Some words.")
    assert code == 0
    assert out == "\n+ A='b c' sh -c 'echo \"$A\"'\nb c\nSome words.\n"


def test_the_first_failure_is_the_end_and_says_how_to_run_only_that(play):
    code, out, err = play(shell("exit 7"), shell("echo later"))
    assert (code, "later" in out) == (7, False)
    assert err == (
        "\nFailed (exit code 7). To run only this again:\n    sh -c 'exit 7'\n"
    )


def test_a_code_that_is_fine_is_no_failure(play):
    assert play(shell("exit 5", fine=(5,)))[0] == 0
    assert play(shell("exit 5"))[0] == 5


def test_a_program_that_is_missing_is_named(play):
    code, out, _ = play(Command((".venv-none/bin/python",)))
    assert code == 127
    assert "No such file or directory: .venv-none/bin/python\n" in out


def test_stages_are_asked_for_when_those_before_have_run(play, tmp_path):
    def stages():
        yield shell("touch made")
        yield "It is there." if (tmp_path / "made").exists() else "It is not."

    with ProcessGroups(signal.SIGTERM, 5) as groups:
        run(stages(), tmp_path, groups)
    assert play()[1].endswith("It is there.\n")


def test_a_part_runs_one_command_after_the_other_and_is_shown_whole(play):
    one = [shell("echo 1; until [ -e two ]; do sleep 0.01; done"), shell("echo 2")]
    two = [shell("echo 3"), "Words.", shell("echo 4; touch two")]
    code, out, _ = play(SideBySide({"one": one, "two": two}))
    assert code == 0
    assert out.startswith("\nSide by side, each shown whole when it ends: one two\n")
    assert "\n1\n\n+ sh -c 'echo 2'\n2\n" in out
    assert "\n3\nWords.\n\n+ sh -c 'echo 4; touch two'\n4\n" in out


def test_the_first_part_to_fail_is_shown_and_ends_the_others(play):
    began = time.monotonic()
    hangs = [shell("echo unseen; sleep 60")]
    fails = [shell("echo seen; exit 3"), shell("echo later")]
    code, out, _ = play(SideBySide({"hangs": hangs, "fails": fails}))
    assert (code, "unseen" in out.replace("'echo unseen", "")) == (3, False)
    assert "\nseen\n" in out and "\nlater\n" not in out
    assert out.endswith("To run only this again:\n    sh -c 'echo seen; exit 3'\n")
    assert time.monotonic() - began < 30
