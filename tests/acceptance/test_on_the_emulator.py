"""An acceptance run on the emulator: each check that needs no account passes."""

from __future__ import annotations

import json

from lake_acceptance.__main__ import CHECKS, main

from tests.acceptance.emulator import emulator


def test_all_that_needs_no_account_passes_and_nothing_is_left(tmp_path, capsys):
    with emulator(tmp_path / "state") as aws:
        code = main(["local", "--yes", "--report", str(tmp_path / "report")])
        is_used = aws.store.holds_any("lake")
    assert code == 0, capsys.readouterr().out
    assert not is_used
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    outcomes = {each["name"]: each["outcome"] for each in report["checks"]}
    emulated = {each.name for each in CHECKS if not each.only_in_account}
    assert {name for name, o in outcomes.items() if o == "passed"} == emulated
    assert set(outcomes) == {each.name for each in CHECKS}
