"""What setup.sh can be asked for."""

from __future__ import annotations

import pytest

from tools.setup.__main__ import Asked, help_text, main, read
from tools.setup.folders import SetupFailed
from tools.setup.pieces import TARGETS


def test_without_only_it_is_what_steps_and_airflow_run_on():
    assert read([]) == Asked(False, ("airflow", "spark", "streamer"))


def test_targets_are_kept_in_their_order():
    asked = read(["--only", "spec", "--quiet", "--only", "infra"])
    assert asked == Asked(True, ("spec", "infra"))


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--only", "sparc"], "--only 'sparc': choose one of airflow, spark, streamer"),
        (["--only"], "--only '': choose one of airflow"),
        (
            ["spark"],
            "unknown argument 'spark'; it takes [--quiet] [--only NAME]..., see",
        ),
    ],
    ids=["no-such-target", "no-target", "no-such-argument"],
)
def test_a_wrong_argument_is_refused_with_the_choices(arguments, message):
    with pytest.raises(SetupFailed) as caught:
        read(arguments)
    (reason,) = caught.value.reasons
    assert reason.startswith(message)


def test_a_wrong_argument_ends_with_one_line(tmp_path, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--fast"], tmp_path)
    told = capsys.readouterr().err
    assert (caught.value.code, told.count("\n")) == (1, 1)
    assert told.startswith("setup: unknown argument '--fast'")


def test_help_names_every_target_with_its_place():
    lines = help_text().splitlines()
    for each in TARGETS:
        (line,) = [line for line in lines if line.startswith(f"  {each.name} ")]
        assert line.split()[1:2] == [each.place[0]]
        assert all(any(words in line for line in lines) for words in each.words)
        assert len(each.place) <= len(each.words)
