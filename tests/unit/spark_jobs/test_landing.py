"""Which objects of a landing folder are landing files."""

from __future__ import annotations

from lake_spark.landing import PULLING, list_landing
from lake_spark.object_store import FolderStore

STORE = FolderStore()


def paths(root, *globs):
    found = list_landing(STORE, f"file://{root}", globs or ["**"])
    return [each.path for each in found]


def test_files_are_those_of_the_globs_in_the_order_of_their_numbers(tmp_path):
    for name in ("changes/10", "changes/9", "changes/deep/1", "load/1", "changes/_x"):
        STORE.write(f"file://{tmp_path}/{name}", b"x")
    assert paths(tmp_path, "changes/*") == ["changes/9", "changes/10"]
    assert paths(tmp_path, "load/*", "changes/**")[-1] == "load/1"


def test_a_folder_that_is_being_pulled_has_no_files_until_its_marker_is_gone(tmp_path):
    for name in (
        "load/1/part",
        "load/1/deep/part",
        f"load/1/{PULLING}",
        "load/10/part",
    ):
        STORE.write(f"file://{tmp_path}/{name}", b"x")
    assert paths(tmp_path) == ["load/10/part"]
    STORE.delete(f"file://{tmp_path}/load/1/{PULLING}")
    assert paths(tmp_path) == ["load/1/deep/part", "load/1/part", "load/10/part"]
