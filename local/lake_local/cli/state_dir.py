"""`Home` by its former address, which tests/unit/test_screens.py still imports."""

from lake_local.workspace.state_dir import Home

__all__ = ["Home"]
