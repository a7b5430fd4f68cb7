"""The program that plays as many points as asked for, without playing any."""

from __future__ import annotations

import pytest

from tests.crash import __main__ as command


@pytest.mark.parametrize("wrong, code", [(0, 0), (3, 1)], ids=["all equal", "three"])
def test_it_ends_with_the_counts_and_their_exit_code(
    monkeypatch, tmp_path, capsys, wrong, code
):
    monkeypatch.setattr(command.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(command, "play_all", lambda *asked: wrong)
    assert command.main(["--points", "7", "--seed", "5"]) == code
    lines = capsys.readouterr().out.splitlines()
    assert (lines[0], lines[-1]) == ("seed 5", f"7 points, {wrong} differences")


def test_the_lakes_that_differ_are_kept(monkeypatch, tmp_path, capsys):
    homes = []
    monkeypatch.setattr(command.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(command, "play_all", lambda *asked: homes.append(asked[-1]))
    command.main(["--points", "1"])
    monkeypatch.setattr(
        command, "play_all", lambda *asked: homes.append(asked[-1]) or 1
    )
    command.main(["--points", "1"])
    gone, kept = homes
    assert (gone.exists(), kept.exists()) == (False, True)
    assert f"the lakes that differ are kept in {kept}" in capsys.readouterr().out


def test_no_points_are_refused(capsys):
    with pytest.raises(SystemExit):
        command.main(["--points", "0"])
    assert "0 is no number of points" in capsys.readouterr().err


def test_stages_can_be_asked_for_by_their_names(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(command.tempfile, "tempdir", str(tmp_path))
    asked = []
    monkeypatch.setattr(command, "play_all", lambda *given: asked.append(given[:3]))
    command.main(
        ["--points", "2", "--seed", "3", "--stage", "reprocess", "--stage", "ingest"]
    )
    command.main(["--points", "2", "--seed", "3"])
    assert asked[0] == (2, 3, ["reprocess", "ingest"])
    assert {"reprocess", "dimension"} < set(asked[1][2])
    with pytest.raises(SystemExit):
        command.main(["--points", "2", "--stage", "nap"])
    assert "invalid choice: 'nap'" in capsys.readouterr().err
