"""What stops a release, in words for who started it."""

from __future__ import annotations


class ReleaseError(Exception):
    """Nothing that runs was changed, or the message says what was."""
