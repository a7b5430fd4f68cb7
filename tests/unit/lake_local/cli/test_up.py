"""`up` ends with what can be done next."""

from __future__ import annotations

from lake_local.cli.commands.up import next_steps
from lake_local.workspace.project import find
from lake_local.workspace.state_dir import StateDirectory


def test_the_next_steps_are_of_the_tables_that_are_up(tmp_path):
    title, *steps = next_steps(StateDirectory.at(tmp_path / "a b"), find().tables)
    commands = [each.split("   #")[0].strip() for each in steps]
    ending = f" --state-dir '{tmp_path}/a b'"
    assert title == "Next:" and all(each.endswith(ending) for each in commands)
    assert [each.removesuffix(ending).split(" ", 1)[1] for each in commands] == [
        "put FILE_OR_DIR s3://lake/landing/...",
        "run moma_full_load",
        "show moma.artists",
        "status",
        "down",
    ]
