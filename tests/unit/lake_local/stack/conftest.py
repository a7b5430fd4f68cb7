"""A state directory for tests of what runs in one."""

from __future__ import annotations

import pytest

from lake_local.workspace.state_dir import StateDirectory


@pytest.fixture
def home(tmp_path):
    made = StateDirectory.at(tmp_path / "home")
    made.create()
    return made
