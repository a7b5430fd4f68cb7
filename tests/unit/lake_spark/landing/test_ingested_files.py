"""What is known of the landing files that a table has ingested."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from lake_spec.state.state_format import UnreadableState
from lake_spark.errors import RefusedInput
from lake_spark.landing import ingested_file_parts
from lake_spark.landing.files import LandingFile
from lake_spark.landing.ingested_file_parts import FILES, SMALL
from lake_spark.landing.ingested_files import (
    IngestedFiles,
    IngestedFilesFolder,
    IngestedFile,
)
from lake_spark.storage.object_store import FolderStore

DAY = datetime(2026, 11, 19, tzinfo=timezone.utc)


@pytest.fixture
def folder(tmp_path):
    return IngestedFilesFolder(FolderStore(), tmp_path.as_uri(), "shop.orders", "r7")


def landed(path, etag="1", at=DAY, **more):
    return LandingFile(path, etag, f"s3://land/{path}", 1, at, **more)


def committed(folder, id, *files, **more):
    """The id after a commit of those files."""
    return folder.save(folder.load(id).next(files, {}, {}, **more))


def several(first, count):
    return [landed(f"{first}-{i}", str(i)) for i in range(count)]


def test_the_newest_file_is_that_which_landed_last_whenever_it_was_taken(folder):
    late = DAY + timedelta(milliseconds=250)
    id = committed(folder, None, landed("a", at=late))
    id = committed(folder, id, landed("b", at=DAY))
    inputs = folder.load(id)
    assert inputs.newest == "2026-11-19T00:00:00.250000+00:00"
    (a,) = [each for each in inputs.all if each.path == "a"]
    assert inputs.without([a]).next([], {}, {}).newest == "2026-11-19T00:00:00+00:00"


def test_before_the_first_file_there_is_no_newest():
    assert IngestedFiles().newest is None


def test_another_content_is_refused_but_for_what_an_erase_put_there(folder):
    inputs = folder.load(committed(folder, None, landed("a", "etag")))
    found = [landed("a", "blank"), landed("b", "new")]
    with pytest.raises(RefusedInput, match="a was changed after it was"):
        inputs.unseen(found, "shop", {})
    ours = {("a", "etag"): ("blank",)}
    assert [each.path for each in inputs.unseen(found, "shop", ours)] == ["b"]


def test_the_same_content_under_another_etag_is_remembered_by_the_next_commit(folder):
    id = committed(folder, None, *several("old", 2 * SMALL), checksums={"old-3": "C:x"})
    asked = []

    def compared(pairs):
        asked.extend(pairs)
        return [before.checksum == "C:x" for before, _ in pairs]

    inputs = folder.load(id)
    found = [landed("old-3", "again"), landed("new")]
    assert [e.path for e in inputs.unseen(found, "shop", {}, compared)] == ["new"]
    ((before, file),) = asked
    assert (before.etag, before.size, file.etag) == ("3", 1, "again")
    after = folder.load(folder.save(inputs.next([landed("new")], {}, {})))
    assert after.find("old-3") == replace(before, etag="again")
    assert after.unseen(found, "shop", {}) == []
    with pytest.raises(RefusedInput, match=r"old-4 was changed .*ETag 4 -> other"):
        after.unseen([landed("old-4", "other")], "shop", {}, compared)


def test_the_rows_of_all_commits_are_counted_also_of_files_that_are_retracted():
    first = IngestedFiles().next([landed("a", "1")], {"a": {"accepted": 100_000}}, {})
    second = first.next([landed("b", "1")], {"b": {"accepted": 200, "landed": 300}}, {})
    assert (first.accepted, second.accepted) == (100_000, 100_200)
    assert second.without(second.files).next([], {}, {}).accepted == 100_200


def test_what_is_retracted_is_unseen_until_it_is_ingested_again(folder):
    id = committed(folder, None, *several("a", 3 * SMALL))
    inputs = folder.load(id)
    gone = inputs.without([inputs.find("a-0"), inputs.find("a-5")])
    assert [e.path for e in gone.unseen(several("a", 9), "shop", {})] == ["a-0", "a-5"]
    spared = gone.sparing(["a-5"])
    after = folder.load(folder.save(spared.next([landed("a-9x")], {}, {})))
    assert after.find("a-0") is None and after.find("a-5").etag == "5"
    assert (after.reprocesses, after.contents.retracted, after.count) == (
        1,
        True,
        3 * SMALL,
    )
    assert [each.path for each in after.retracted] == ["a-0"]
    again = folder.load(committed(folder, after.parent, landed("a-0", "mended")))
    assert again.find("a-0").etag == "mended"
    assert list(again.paths)[-2:] == ["a-9x", "a-0"]
    assert again.count == len(list(again.paths)) == len(again.all)


def test_the_times_of_snapshots_are_those_of_the_files_that_count(folder):
    at = [DAY + timedelta(days=i) for i in range(3)]
    first = landed("0", snapshot_at=at[0])
    id = committed(folder, None, first)
    id = committed(folder, id, landed("1", snapshot_at=at[1], scopes=("x",)))
    id = committed(folder, id, landed("2", snapshot_at=at[2], scopes=("x", "y")))
    inputs = folder.load(id)
    assert inputs.newest_snapshots == {None: at[0], "x": at[2], "y": at[2]}
    assert inputs.oldest_snapshot == at[0]
    left = inputs.without([inputs.find("0"), inputs.find("2")])
    assert (left.newest_snapshots, left.oldest_snapshot) == ({"x": at[1]}, at[1])
    assert folder.load(folder.save(left.next([], {}, {}))).newest_snapshots == {
        "x": at[1]
    }


@pytest.mark.parametrize("steps", [(1,) * 250, (SMALL + 1,) * 12, (7, 900, 1, 12_000)])
def test_however_files_came_all_of_them_are_known_and_few_objects_hold_them(
    folder, tmp_path, steps
):
    id, expected = None, []
    for nth, count in enumerate(steps):
        files = several(nth, count)
        id = committed(folder, id, *files)
        expected += [each.path for each in files]
        inputs = folder.load(id)
        assert [each.path for each in inputs.own] == [each.path for each in files]
    assert sorted(inputs.paths) == sorted(expected)
    assert inputs.count == len(expected)
    assert (
        inputs.unseen([landed("new"), landed("0-0", "0")], "shop", {})[0].path == "new"
    )
    assert len(inputs.parts) <= 6
    assert all(each.files <= FILES for each in inputs.parts)


def test_a_commit_writes_what_it_ingests_however_much_came_before(folder, tmp_path):
    id = committed(folder, None, *several("old", 10_000))
    before = {each for each in tmp_path.rglob("*") if each.is_file()}
    committed(folder, id, landed("new"))
    written = {each for each in tmp_path.rglob("*") if each.is_file()} - before
    assert sum(each.stat().st_size for each in written) < 2_000


def test_a_commit_that_is_made_again_has_the_same_id_and_objects(folder, tmp_path):
    id = committed(folder, None, *several("a", 500))
    first = committed(folder, id, *several("b", 300))
    before = {f: f.read_bytes() for f in tmp_path.rglob("*") if f.is_file()}
    assert committed(folder, id, *several("b", 300)) == first
    assert before == {f: f.read_bytes() for f in tmp_path.rglob("*") if f.is_file()}
    assert committed(folder, first, *several("b", 300)) != first


def test_what_a_reprocess_of_all_leaves_behind_is_written_again_without_it(
    folder, monkeypatch
):
    most = 5 * SMALL
    monkeypatch.setattr(ingested_file_parts, "FILES", most)
    id = committed(folder, None, *several("a", most))
    for _ in range(3):  # of which two alone may be there
        inputs = folder.load(id)
        inputs = inputs.without(inputs.all)
        id = folder.save(inputs.next(several("a", most), {}, {}))
    inputs = folder.load(id)
    assert (inputs.count, len(inputs.all)) == (most, most)
    assert sum(each.files for each in inputs.parts) <= most * 3


OLD = {
    "files": [{"path": "b", "etag": "2", "landed_at": "2026-11-20T00:00:00+00:00"}],
    "earlier": [
        {
            "path": f"a-{i}",
            "etag": str(i),
            "landed_at": "2026-11-19T00:00:00+00:00",
            "snapshot_at": "2026-11-01T00:00:00+00:00",
            "scopes": ["x"],
        }
        for i in range(300)
    ],
    "accounting": {"b": {"accepted": 1}},
    "definition": {"key": '["id"]'},
    "holds": ["partial"],
    "reprocesses": 2,
    "retracted": [],
    "reprocess": ["c"],
    "newest_event": None,
    "accepted": 7,
}


def put(tmp_path, id, data):
    (tmp_path / f"{id}.json").write_text(json.dumps(data))


def test_an_object_that_holds_every_file_is_read_and_becomes_parts(folder, tmp_path):
    put(tmp_path, "old", OLD)
    inputs = folder.load("old")
    assert (inputs.count, inputs.reprocesses, inputs.accepted) == (301, 2, 7)
    assert inputs.newest == "2026-11-20T00:00:00+00:00"
    assert list(inputs.newest_snapshots) == ["x"]
    assert (inputs.find("a-7").etag, inputs.reprocess) == ("7", ("c",))
    id = committed(folder, "old", landed("c"))
    after = folder.load(id)
    assert (after.count, after.reprocess, sum(p.files for p in after.parts)) == (
        302,
        (),
        301,
    )
    assert list(after.paths) == [*(f"a-{i}" for i in range(300)), "b", "c"]
    text = json.loads((tmp_path / f"{id}.json").read_text())
    assert (text["format"], text["written_by"]) == (2, "r7")
    assert not {"earlier", "accounting"} & set(text)


def test_of_a_release_that_did_not_count_them_their_number_is_not_known(
    folder, tmp_path
):
    put(tmp_path, "old", {n: v for n, v in OLD.items() if n != "accepted"})
    assert folder.load("old").accepted is None
    assert folder.load("old").next([], {"b": {"accepted": 1}}, {}).accepted is None


def test_fields_of_a_later_release_are_kept_by_a_commit_of_this_one(folder, tmp_path):
    id = committed(folder, None, *several("a", SMALL + 5))
    id = committed(folder, id, landed("b"))
    head = tmp_path / f"{id}.json"
    data = json.loads(head.read_text())
    data["later"] = {"deep": [1, {"x": None}]}
    data["files"][0]["owner"] = {"team": "a"}
    data["parts"][0]["rows"] = 5
    head.write_text(json.dumps(data))
    later = folder.load(
        committed(IngestedFilesFolder(FolderStore(), tmp_path.as_uri()), id)
    )
    id = committed(folder, later.parent, landed("c"))
    data = json.loads((tmp_path / f"{id}.json").read_text())
    assert data["later"] == {"deep": [1, {"x": None}]}
    assert [each.get("owner") for each in data["recent"]] == [{"team": "a"}]
    assert data["parts"][0]["rows"] == 5
    id = committed(folder, id, *several("d", SMALL))  # all of it goes into parts
    assert folder.load(id).find("b").unknown == {"owner": {"team": "a"}}


def test_a_field_more_in_an_object_without_a_version_is_no_error(folder, tmp_path):
    """At the top, and one in a file's entry: it was written by a later release."""
    file = {**OLD["files"][0], "size": 3, "owner": "a"}
    put(tmp_path, "later", {**OLD, "files": [file], "later_field": 1})
    inputs = folder.load("later")
    assert (inputs.find("b").size, inputs.find("b").unknown) == (3, {"owner": "a"})
    id = committed(folder, "later", landed("c"))
    assert json.loads((tmp_path / f"{id}.json").read_text())["later_field"] == 1
    assert folder.load(id).find("b").unknown == {"owner": "a"}


def test_a_newer_version_is_refused_by_both_versions_and_its_place(folder, tmp_path):
    put(tmp_path, "new", {"format": 3, "written_by": "r9", "files": 7})
    with pytest.raises(UnreadableState) as refused:
        folder.load("new")
    assert str(refused.value) == (
        "the state of table shop.orders has format 3 (written by release "
        "r9), this release (r7) reads 2. Location: "
        f"{tmp_path.as_uri()}/new.json. Deploy a release that reads format 3, such as "
        "r9."
    )


def test_objects_that_are_gone_or_damaged_are_named(folder, tmp_path):
    with pytest.raises(
        UnreadableState, match=r"cannot be read: it does not exist. It is"
    ):
        folder.load("gone")
    file = OLD["files"][0]
    for nth, bad in enumerate(
        (
            {"files": [{"name": 1}]},
            {"files": 7},
            {"files": [7]},
            {"files": [{**file, "path": 7}]},
            {**OLD, "reprocesses": "x"},
            {**OLD, "definition": []},
            {"count": "1"},
            {"count": 1, "parts": [{"part": "a"}]},
        )
    ):
        put(tmp_path, f"bad{nth}", bad)
        with pytest.raises(UnreadableState, match=rf"bad{nth}.json. Restore an older"):
            folder.load(f"bad{nth}")
    id = committed(folder, None, *several("a", SMALL + 1))
    ingested_file_parts._TABLES.clear()
    (part,) = (tmp_path / "parts").iterdir()
    text = json.loads(gzip.decompress(part.read_bytes()))
    text["columns"]["etag"].pop()
    part.write_text(json.dumps(text))
    with pytest.raises(UnreadableState, match=f"columns of .200, 201.*{part.name}"):
        folder.load(id).find("a-1")
    part.write_bytes(gzip.compress(json.dumps(text).encode())[:50])
    with pytest.raises(UnreadableState, match=part.name):
        folder.load(id).find("a-1")
    part.unlink()
    with pytest.raises(UnreadableState, match="it does not exist"):
        folder.load(id).find("a-1")


def test_objects_and_parts_that_nothing_needs_go_after_a_week(folder, tmp_path):
    ids = [committed(folder, None, *several("a", SMALL + 1))]
    for nth in range(3):
        ids.append(committed(folder, ids[-1], *several(nth, SMALL + 1)))
    orphan = committed(folder, ids[-1], landed("of a killed run"))
    (tmp_path / f"{ids[0]}.sql").write_text("SELECT 1")
    now = datetime.now(timezone.utc)
    assert folder.sweep({ids[-1]}, now + timedelta(days=6)) == 0
    assert folder.sweep({ids[-1], ids[1]}, now + timedelta(days=9)) > 0
    left = {each.name for each in tmp_path.iterdir() if each.is_file()}
    assert left == {f"{ids[1]}.json", f"{ids[3]}.json", f"{orphan}.json"}
    ingested_file_parts._TABLES.clear()
    for id, count in ((ids[1], 2), (ids[3], 4)):
        inputs = IngestedFilesFolder(FolderStore(), tmp_path.as_uri()).load(id)
        assert len(list(inputs.paths)) == count * (SMALL + 1)
    needed = {e.part for id in (ids[1], ids[3]) for e in folder.load(id).parts}
    stored = {each.name.split(".")[0] for each in (tmp_path / "parts").iterdir()}
    assert stored == needed


def test_what_a_file_says_of_itself_is_stored_without_what_it_does_not_say():
    file = IngestedFile("a", "1", "2026-01-01T00:00:00+00:00", unknown={"later": 1})
    assert file.to_data() == {
        "path": "a",
        "etag": "1",
        "landed_at": "2026-01-01T00:00:00+00:00",
        "later": 1,
    }
    assert IngestedFile.of(file.to_data()).unknown == {"later": 1}
