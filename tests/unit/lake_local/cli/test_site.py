"""`site` builds the pages while no other command does."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import pytest
from lake_site import collect

from lake_local.cli.commands import site
from lake_local.errors import StateDirectoryBusy
from lake_local.stack import lock
from lake_local.workspace.state_dir import StateDirectory


def test_nothing_is_built_while_another_command_builds(tmp_path, monkeypatch):
    home = StateDirectory.at(tmp_path / "home")
    specs = SimpleNamespace(
        environment=SimpleNamespace(runs="s3://lake/runs"), planned_domains=tuple
    )
    opened = SimpleNamespace(home=home, specs=specs, aws=lambda service: None)
    built = []
    monkeypatch.setattr(collect, "whole_site", lambda *args, **more: built.append(1))
    monkeypatch.setattr(lock, "hold_pages", partial(lock.hold_pages, patience=0))
    with lock.hold_pages(home):
        with pytest.raises(StateDirectoryBusy, match="is building the pages in"):
            site.build(opened)
    assert not built
