"""The program that plays as many histories as asked for, without playing any."""

from __future__ import annotations

import pytest

from tests.oracle import properties


def test_every_history_is_played_once_in_tables_of_a_hundred():
    found = list(properties.hundreds(250))
    assert [len(numbers) for numbers in found] == [100, 100, 50]
    assert [n for numbers in found for n in numbers] == list(range(250))


@pytest.mark.parametrize("wrong, code", [(0, 0), (3, 1)], ids=["all right", "three"])
def test_it_ends_with_the_counts_and_their_exit_code(monkeypatch, capsys, wrong, code):
    monkeypatch.setattr(properties, "play_all", lambda histories, seed: wrong)
    assert properties.main(["--histories", "7", "--seed", "5"]) == code
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["seed 5", f"7 histories, {wrong} mismatches"]


def test_no_histories_are_refused(capsys):
    with pytest.raises(SystemExit):
        properties.main(["--histories", "0"])
    assert "0 is no number of histories" in capsys.readouterr().err
