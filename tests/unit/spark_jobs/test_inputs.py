"""What is known of the landing files that a table has taken in."""

from __future__ import annotations

import json
from datetime import datetime, timezone

import pytest

from lake_spark.errors import RefusedInput
from lake_spark.inputs import Inputs, InputsFolder, Taken
from lake_spark.landing import LandingFile
from lake_spark.object_store import FolderStore


def taken(path, landed_at):
    return Taken(path, "etag", landed_at)


def test_the_newest_file_is_that_which_landed_last_whenever_it_was_taken():
    late = taken("a", "2026-11-19T02:00:00.250000+00:00")
    inputs = Inputs((taken("b", "2026-11-18T02:00:00+00:00"),), (late,))
    assert inputs.newest == late.landed_at


def test_before_the_first_file_there_is_no_newest():
    assert Inputs().newest is None


def landed(path, etag):
    at = datetime(2026, 11, 19, tzinfo=timezone.utc)
    return LandingFile(path, etag, f"s3://land/{path}", 1, at)


def test_another_content_is_refused_but_for_what_an_erase_put_there():
    inputs = Inputs((taken("a", "2026-11-19T02:00:00+00:00"),))
    found = [landed("a", "blank"), landed("b", "new")]
    with pytest.raises(RefusedInput, match="a: has another content than when it was"):
        inputs.unseen(found, "shop", {})
    ours = {("a", "etag"): ("blank",)}
    assert [each.path for each in inputs.unseen(found, "shop", ours)] == ["b"]


def test_the_rows_of_all_commits_are_counted_also_of_files_that_are_withdrawn():
    first = Inputs().next([landed("a", "1")], {"a": {"accepted": 100_000}}, {})
    second = first.next([landed("b", "1")], {"b": {"accepted": 200, "landed": 300}}, {})
    assert (first.accepted, second.accepted) == (100_000, 100_200)
    assert second.without(second.files).next([], {}, {}).accepted == 100_200


def test_of_a_release_that_did_not_count_them_their_number_is_not_known(tmp_path):
    folder = InputsFolder(FolderStore(), tmp_path.as_uri())
    id = folder.save(Inputs().next([landed("a", "1")], {"a": {"accepted": 1}}, {}))
    assert folder.load(id).accepted == 1
    (file,) = tmp_path.iterdir()
    older = json.loads(file.read_text())
    del older["accepted"]
    file.write_text(json.dumps(older))
    assert folder.load(id).accepted is None
    assert folder.load(id).next([], {"b": {"accepted": 1}}, {}).accepted is None
