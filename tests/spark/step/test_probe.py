"""What a probing step finds of its store."""

from __future__ import annotations

from lake_spark.step.probe import _written_once
from lake_spark.storage.object_store import FolderStore


class Overwriting(FolderStore):
    """A store that does not keep to the condition of a write."""

    def create(self, uri, content):
        self.write(uri, content)
        return True


def test_a_store_that_overwrites_what_was_to_be_created_is_found(tmp_path):
    uri = f"file://{tmp_path}/once"
    assert _written_once(FolderStore(), uri)
    assert _written_once(
        FolderStore(), uri
    ), "a step that is tried again finds the same"
    assert not _written_once(Overwriting(), uri)
