"""Which objects of a landing folder are landing files."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import pytest

from lake_spark.errors import BadFile
from lake_spark.landing.files import (
    LandingFile,
    PULLING,
    first_shown,
    list_landing,
    look,
    refuse_name,
    shown,
)
from lake_spark.storage.object_store import FolderStore, StoredObject

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


def names_in(root, *names):
    for name in names:
        STORE.write(f"file://{root}/{name}", b"x")
    return f"file://{root}"


def test_a_marker_of_pulls_hides_nothing_where_nothing_is_pulled(tmp_path):
    root = names_in(tmp_path, PULLING, "a.csv", "load/1/b.csv", f"load/1/{PULLING}")
    assert [each.path for each in look(STORE, root, ["**"]).files] == [
        "a.csv",
        "load/1/b.csv",
    ]
    pulling = look(STORE, root, ["**"], pulled=["load"])
    assert [each.path for each in pulling.files] == ["a.csv"]


def test_what_no_glob_matches_is_named_unless_it_is_hidden(tmp_path):
    root = names_in(
        tmp_path,
        "a.csv",
        "A.CSV",
        "b.csv.tmp",
        "_x.csv",
        ".y.csv",
        "_t/z.csv",
        "d/c.csv",
    )
    found = look(STORE, root, ["*.csv"])
    assert [each.path for each in found.files] == ["a.csv"]
    assert found.others == ["A.CSV", "b.csv.tmp", "d/c.csv"]


def test_a_sign_may_be_hidden_and_is_no_file(tmp_path):
    root = names_in(
        tmp_path, "d/_SUCCESS", "d/a", "_t/_SUCCESS", "_SUCCESS.a", "a.done"
    )
    found = look(STORE, root, ["**"], marker="_SUCCESS")
    assert [each.path for each in found.markers] == ["d/_SUCCESS"]
    assert [each.path for each in found.files] == ["a.done", "d/a"]
    found = look(STORE, root, ["**"], marker="*.done")
    assert [each.path for each in found.markers] == ["a.done"]
    assert [each.path for each in look(STORE, root, [], marker="d/_*").markers] == [
        "d/_SUCCESS"
    ]


ODD = (
    *("[ab].csv", "{a,b}.csv", "*.csv", "?.csv", "a\\b.csv", "a b .csv", " a.csv"),
    *("100%.csv", "%41.csv", "A.csv", "a%20b.csv", "a+b.csv", "h#i.csv", "l,m.csv"),
    *(
        "\u00e9.csv",
        "e\u0301.csv",
        "n\nl.csv",
        "t\tb.csv",
        "x\ny/\u2028.csv",
        "c:/d.csv",
    ),
)


def test_names_are_listed_as_they_are_and_in_the_order_of_s3(tmp_path):
    root = names_in(tmp_path, *ODD)
    listed = [each.uri[len(root) + 1 :] for each in STORE.list(f"{root}/")]
    assert listed == sorted(ODD, key=str.encode)
    assert sorted(paths(tmp_path)) == sorted(ODD)
    assert paths(tmp_path, "[ab].csv") == ["[ab].csv"]


@pytest.mark.parametrize(
    "path, what",
    [
        ("a//b.csv", "a part ''"),
        ("a/../b.csv", "a part '..'"),
        ("./b.csv", "a part '.'"),
        ("b.csv._COPYING_", "'._COPYING_'"),
        ("b\udcff.csv", "is not valid UTF-8"),
        ("a/10:00.csv", "a ':'"),
    ],
)
def test_a_name_that_spark_reads_as_another_is_refused(path, what):
    file = LandingFile(path, "e", f"file:///x/{path}", 1, datetime.now(timezone.utc))
    with pytest.raises(BadFile, match="Land it under another name") as refused:
        refuse_name(file)
    assert what in str(refused.value)
    on_s3 = replace(file, uri=f"s3://lake/{path}", path="a/10:00.csv")
    refuse_name(on_s3)


class Objects:
    """What a bucket lists, where an object may have the name of a folder."""

    def __init__(self, *paths):
        self.paths = paths

    def list(self, prefix):
        at = datetime.now(timezone.utc)
        return [StoredObject(f"{prefix}{path}", "e", 1, at) for path in self.paths]


def test_an_object_that_is_a_folder_too_is_refused_and_what_lies_in_it_is_not():
    store = Objects("a", "a-", "a/", "b", "b/c/d", "b/c/e", "x", "x/_hidden")
    files = look(store, "s3://lake/x", ["**"]).files
    refused = {}
    for file in files:
        try:
            refuse_name(file)
        except BadFile as error:
            refused[file.path] = str(error)
    assert [*refused] == ["b", "x"]
    assert refused["b"] == (
        "b: its path is that of a folder too, whose files Hadoop reads in its place. "
        "Land it under another name."
    )


def test_a_part_of_dots_alone_hides_nothing_so_that_the_file_is_refused():
    store = Objects("a/../b", "a/./b", "..", "...", "a/.b", "./_c", "_a/../b")
    files = look(store, "s3://lake/x", ["**"]).files
    assert sorted(each.path for each in files) == ["..", "a/../b", "a/./b"]
    for file in files:
        with pytest.raises(BadFile, match="which Hadoop removes from paths"):
            refuse_name(file)


def test_messages_show_a_path_in_one_line():
    assert shown("a b.csv") == "a b.csv"
    assert shown("x\ny.csv") == "x\\ny.csv"


@pytest.mark.parametrize(
    "paths, words",
    [
        (["a"], "a"),
        (["a", "b", "c"], "a, b, c"),
        (["a\n", "b", "c", "d", "e"], "a\\n, b, c and 2 more"),
    ],
)
def test_the_first_of_many_paths_are_shown(paths, words):
    assert first_shown(paths) == words
