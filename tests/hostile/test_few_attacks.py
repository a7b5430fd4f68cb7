"""A small choice of attacks without Spark or Trino; `run_tests_locally.sh hostile` plays all."""

from __future__ import annotations

from tests.hostile.__main__ import main


def test_nothing_is_lost_and_nobody_gets_more_than_was_granted(capsys):
    assert main(["--quick"]) == 0, capsys.readouterr().out
