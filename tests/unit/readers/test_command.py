"""The program that plays histories or kills, without playing any."""

from __future__ import annotations

import pytest

from tests.readers import __main__ as command


@pytest.mark.parametrize(
    "what, program", [("histories", "play_all"), ("kills", "kill_all")]
)
@pytest.mark.parametrize("wrong, code", [(0, 0), (3, 1)], ids=["all equal", "three"])
def test_it_ends_with_the_counts_and_their_exit_code(
    monkeypatch, capsys, what, program, wrong, code
):
    asked = []
    for name in ("play_all", "kill_all"):
        monkeypatch.setattr(command, name, lambda *given: pytest.fail(str(given)))
    monkeypatch.setattr(command, program, lambda *given: asked.append(given) or wrong)
    assert command.main([f"--{what}", "7", "--seed", "5"]) == code
    lines = capsys.readouterr().out.splitlines()
    assert (lines[0], lines[-1]) == ("seed 5", f"7 {what}, {wrong} differences")
    assert asked == [(7, 5)]


@pytest.mark.parametrize("argv", [[], ["--histories", "1", "--kills", "1"]])
def test_one_of_both_is_asked_for(argv, capsys):
    with pytest.raises(SystemExit):
        command.main(argv)
    assert "--histories" in capsys.readouterr().err
