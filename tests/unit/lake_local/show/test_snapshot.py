"""Which files a layer has in its newest commit, by the names in its folder."""

from __future__ import annotations

import json

import pytest

from lake_local.show.request import NeedsHudi, QueryRefused
from lake_local.show.snapshot import Part, Snapshot, has_commits, snapshot_of

T1, T2, T3 = (f"2026010{day}000000000" for day in (1, 2, 3))
DONE = {each: str(int(each) + 5) for each in (T1, T2, T3)}
SCHEMA = {
    "type": "record",
    "name": "rows",
    "fields": [{"name": "id", "type": ["null", "int"]}],
}


@pytest.fixture
def snapshot(tmp_path):
    """The paths of the newest snapshot's files, of a folder with these files."""

    def snapshot(*paths, replaced=None) -> list:
        files = {}
        for place, path in enumerate(paths):
            file = tmp_path / str(place)
            file.write_text(path)
            files[path] = str(file)

        def read(place):
            name = open(place).read()
            gone = replaced if name.endswith(".replacecommit") else None
            return {
                "extraMetadata": {"schema": json.dumps(SCHEMA)},
                "partitionToReplaceFileIds": gone,
            }

        found = snapshot_of("shop.orders", files, read)
        places = [each for part in found.parts for each in part.files]
        return sorted(open(each).read() for each in places)

    return snapshot


def done(instant, action="commit"):
    return f".hoodie/timeline/{instant}_{DONE[instant]}.{action}"


def base(group, instant, folder=""):
    return f"{folder}{group}_0-1-2_{instant}.parquet"


def test_of_each_file_group_the_newest_file_counts(snapshot):
    old, new, other = base("a", T1), base("a", T2), base("b", T1, "p=1/")
    assert snapshot(done(T1), done(T2), old, new, other) == [new, other]


@pytest.mark.parametrize("state", ["commit.requested", "inflight", "commit.inflight"])
def test_what_is_half_committed_is_not_seen(snapshot, state):
    begun = f".hoodie/timeline/{T2}.{state}"
    assert snapshot(done(T1), begun, base("a", T1), base("a", T2)) == [base("a", T1)]


def test_files_of_archived_commits_count(snapshot):
    assert snapshot(done(T2), base("a", T1)) == [base("a", T1)]


def test_groups_that_a_commit_replaced_do_not_count(snapshot):
    found = snapshot(
        *(done(T1), done(T2, "replacecommit")),
        *(base("a", T1), base("a", T1, "p=1/"), base("b", T2)),
        replaced={"": ["a"]},
    )
    assert found == [base("b", T2), base("a", T1, "p=1/")]


def test_a_file_that_hudi_did_not_write_has_no_rows(snapshot):
    foreign = ("part-0.parquet", "duckdb_0b7f_0.parquet", "notes.txt")
    assert snapshot(done(T1), base("a", T1), *foreign) == [base("a", T1)]


def test_the_timeline_of_table_version_6_is_read_too(snapshot):
    old = (f".hoodie/{T1}.commit", f".hoodie/{T2}.inflight")
    assert snapshot(*old, base("a", T1), base("a", T2)) == [base("a", T1)]
    with pytest.raises(NeedsHudi):
        snapshot(*old, base("a", T1), f".a_{T1}.log.1_0-1-2")


@pytest.mark.parametrize("groups", [("a",), ()], ids=["with-base", "logs-alone"])
def test_log_files_that_no_compaction_merged_need_hudi(snapshot, groups):
    files = [base(each, T1) for each in groups]
    with pytest.raises(
        NeedsHudi, match="shop.orders is merge.*show shop.orders --engine spark"
    ):
        snapshot(done(T1), done(T2, "deltacommit"), *files, f".a_{T2}.log.1_0-1-2")


def test_what_needs_hudi_is_told_with_the_command_that_shows_the_layer(tmp_path):
    commit = tmp_path / "commit"
    odd = {**SCHEMA, "fields": [{"name": "x", "type": "void"}]}
    for files, schema, said in (
        (
            {f".a_{T1}.log.1_0-1-2": ""},
            SCHEMA,
            r"shop.orders \(changes\) is merge-on-read, .* run shop_maintenance\.",
        ),
        ({}, odd, "a column has the type 'void', which DuckDB is not told of."),
    ):
        commit.write_text(json.dumps({"extraMetadata": {"schema": json.dumps(schema)}}))
        command = "./run_locally.sh show shop.orders --layer changes --engine spark"
        with pytest.raises(NeedsHudi, match=f"{said} To read it by Spark: {command}"):
            snapshot_of(
                "shop.orders",
                {done(T1): str(commit), **files},
                lambda place: json.loads(open(place).read()),
                "changes",
            )


def test_a_log_file_that_a_compaction_merged_is_passed_over(snapshot):
    log = f".a_{T2}.log.1_0-1-2"
    times = (done(T1), done(T2, "deltacommit"), done(T3))
    assert snapshot(*times, base("a", T1), log, base("a", T3)) == [base("a", T3)]


def test_a_log_file_that_was_completed_after_a_compaction_began_needs_hudi(snapshot):
    late = f".hoodie/timeline/{T2}_{DONE[T3]}.deltacommit"
    with pytest.raises(NeedsHudi):
        snapshot(done(T1), late, done(T3), f".a_{T2}.log.1_0-1-2", base("a", T3))


def test_a_log_file_of_a_half_commit_is_not_seen(snapshot):
    begun = f".hoodie/timeline/{T2}.deltacommit.inflight"
    log = f".a_{T2}.log.1_0-1-2"
    assert snapshot(done(T1), begun, base("a", T1), log) == [base("a", T1)]


def test_a_layer_without_a_completed_commit_is_refused(snapshot):
    begun = (f".hoodie/timeline/{T1}.commit.requested", base("a", T1))
    assert not has_commits(begun)
    with pytest.raises(QueryRefused, match="shop.orders has no completed commit"):
        snapshot(*begun)


def test_columns_are_those_of_the_newest_commit_that_names_them():
    schemas = {"1": "", "2": json.dumps(SCHEMA), "3": ""}

    def read(place):
        return {"extraMetadata": {"schema": schemas[place]}}

    files = {done(T1): "1", done(T2): "2", done(T3): "3"}
    found = snapshot_of("shop.orders", files, read)
    assert found.parts == ()
    assert list(found.columns)[:1] == ["_hoodie_commit_time"]
    assert found.columns["id"] == "INTEGER"


def test_of_plain_parquet_the_newest_folder_that_was_committed_counts(tmp_path):
    schema = {
        "type": "struct",
        "fields": [
            {"name": "id", "type": "long", "nullable": True, "metadata": {}},
            {"name": "day", "type": "date", "nullable": True, "metadata": {}},
        ],
    }
    commit = tmp_path / "commit.json"
    commit.write_text(json.dumps({"schema": json.dumps(schema), "files": 2}))
    files = {
        f"_commits/{T1}.json": "old",
        f"_commits/{T2}.json": str(commit),
        f"{T1}/part-0.parquet": "1",
        f"{T2}/day=2026-01-01/part-0.parquet": "2",
        f"{T2}/day=__HIVE_DEFAULT_PARTITION__/part-0.parquet": "3",
        f"{T3}/day=2026-01-01/part-0.parquet": "4",
    }
    assert has_commits(files)
    assert snapshot_of("shop.days", files, lambda _: {}) == Snapshot(
        (Part(("2",), (("day", "2026-01-01"),)), Part(("3",), (("day", None),))),
        {"id": "BIGINT", "day": "DATE"},
    )
