"""Files that changed while a run read them: none of no files, and nothing is listed for it."""

from __future__ import annotations

from lake_spark.landing.files import moved_on


class Unlisted:
    """A store that must not be listed."""

    def list(self, prefix: str) -> list:
        raise AssertionError(f"listed {prefix!r}")


def test_no_file_moved_on_where_none_was_read():
    assert moved_on(Unlisted(), []) == []
