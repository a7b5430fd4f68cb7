"""`Stack` by its former address, which tests/unit/test_screens.py still imports."""

from lake_local.stack.state import Stack

__all__ = ["Stack"]
