"""Commands to type next carry the options that were given, and no others."""

from __future__ import annotations

from lake_local.workspace.command_line import default_home, typed
from lake_local.workspace.project import find
from lake_local.workspace.state_dir import StateDirectory


def test_defaults_are_left_out():
    project = find()
    command = typed("up", home=default_home(project), tables=project.tables)
    assert command == "./run_locally.sh up"


def test_other_folders_are_named_as_typed_from_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = typed(
        "up", home=StateDirectory.at("my state"), tables=tmp_path / "tables"
    )
    assert command == "./run_locally.sh up --tables tables --state-dir 'my state'"
