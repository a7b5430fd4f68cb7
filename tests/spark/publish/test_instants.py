"""Which files a table has at each commit, from names and commits alone."""

from __future__ import annotations

from datetime import datetime
from types import SimpleNamespace

import pytest

from lake_spark.publish.instants import Instants
from lake_spark.storage.object_store import StoredObject
from lake_spark.storage.timeline import FileChanges, Instant


def table(order, changes, unfinished=()):
    """A table of these commits: (instant, completed, action), and their changes."""
    return SimpleNamespace(
        path="s3://l/t",
        instants=lambda: [Instant(*each) for each in order],
        unfinished=lambda: list(unfinished),
        file_changes=lambda name: changes.get(name, FileChanges({}, frozenset())),
        rows_of_file=lambda path: 77,
    )


def store(*paths):
    """A store that lists files of ten bytes."""
    found = [StoredObject(f"s3://l/t/{p}", "", 10, datetime.now()) for p in paths]
    return SimpleNamespace(list=lambda prefix: found)


def written(*files, replaced=()):
    rows = {path: 5 for path in files}
    return FileChanges(rows, frozenset(replaced))


def paths(files):
    return sorted(file.path for file in files)


A1, A2, B2 = (
    "a_0-1-1_20261127000101.parquet",
    "a_0-2-1_20261127000102.parquet",
    "b_0-2-1_20261127000102.parquet",
)
OTHERS = (
    ".hoodie/metadata/x.parquet",
    "metadata/v1.metadata.json",
    "_delta_log/0.json",
)


def test_each_commit_adds_the_newer_version_and_removes_the_older():
    order = [
        ("20261127000101", "20261127000101", "commit"),
        ("20261127000102", "20261127000102", "commit"),
    ]
    changes = {"20261127000101": written(A1), "20261127000102": written(A2, B2)}
    found = Instants(table(order, changes), store(A1, A2, B2, *OTHERS), merged=False)
    assert paths(found.state("20261127000101")) == [A1]
    (step,) = found.steps("20261127000101")
    assert (step.instant, paths(step.added), paths(step.removed)) == (
        "20261127000102",
        [A2, B2],
        [A1],
    )
    assert (step.files, step.bytes, step.rows) == (2, 20, {A2: 5, B2: 5})


def test_files_of_archived_commits_count_and_those_of_unfinished_ones_do_not():
    order = [("20261127000102", "20261127000102", "commit")]
    left = "c_0-1-1_20261127000103.parquet"
    made = table(order, {"20261127000102": written(A2)}, unfinished=["20261127000103"])
    found = Instants(
        made, store("z_0-1-1_20261127000050.parquet", A1, A2, left), merged=False
    )
    whole = found.whole("20261127000102")
    assert paths(whole.added) == [A2, "z_0-1-1_20261127000050.parquet"]
    assert whole.rows["z_0-1-1_20261127000050.parquet"] == 77, "its footer was asked"


def test_a_replaced_group_is_gone_from_the_commit_that_replaced_it():
    order = [
        ("20261127000101", "20261127000101", "commit"),
        ("20261127000102", "20261127000102", "replacecommit"),
    ]
    changes = {
        "20261127000101": written(A1),
        "20261127000102": written(B2, replaced=[("", "a")]),
    }
    found = Instants(table(order, changes), store(A1, B2), merged=False)
    assert paths(found.state("20261127000101")) == [A1]
    assert paths(found.state("20261127000102")) == [B2]


def test_a_clustering_that_ended_late_stands_where_it_ended():
    order = [
        ("20261127000101", "20261127000101", "commit"),
        ("20261127000103", "20261127000103", "commit"),
        ("20261127000102", "20261127000104", "replacecommit"),
    ]
    merged_file = "m_0-1-1_20261127000102.parquet"
    new = "n_0-1-1_20261127000103.parquet"
    changes = {"20261127000102": written(merged_file, replaced=[("", "a")])}
    found = Instants(table(order, changes), store(A1, merged_file, new), merged=False)
    assert found.names == ["20261127000101", "20261127000103", "20261127000102"]
    assert paths(found.state("20261127000103")) == [A1, new]
    assert paths(found.state("20261127000102")) == [merged_file, new]


def test_merge_on_read_counts_only_commits_after_which_no_log_file_is_left():
    order = [
        ("20261127000101", "20261127000101", "deltacommit"),
        ("20261127000102", "20261127000102", "deltacommit"),
        ("20261127000103", "20261127000103", "commit"),
        ("20261127000104", "20261127000104", "deltacommit"),
    ]
    log = ".a_20261127000102.log.1_0-1-1"
    changes = {
        "20261127000101": written(A1),
        "20261127000102": written(log),
        "20261127000104": written(".a_20261127000104.log.1_0-1-1"),
    }
    compacted = "a_0-3-1_20261127000103.parquet"
    found = Instants(table(order, changes), store(A1, log, compacted), merged=True)
    assert found.names == ["20261127000101", "20261127000103"]
    assert paths(found.state("20261127000103")) == [compacted]


@pytest.mark.parametrize(
    "commits, kept",
    [
        (1, ["20261127000104"]),
        (2, ["20261127000101", "20261127000104"]),
        (4, ["20261127000101", "20261127000104"]),
    ],
)
def test_what_a_cleaning_keeps_and_the_last_before_it_stay(commits, kept):
    order = [
        ("20261127000101", "20261127000101", "commit"),
        ("20261127000102", "20261127000102", "deltacommit"),
        ("20261127000103", "20261127000103", "deltacommit"),
        ("20261127000104", "20261127000104", "commit"),
    ]
    changes = {
        name: written(f".a_{name}.log.1_0-1-1")
        for name in ("20261127000102", "20261127000103")
    }
    found = Instants(table(order, changes), store(A1), merged=True)
    assert found.kept(commits) == kept
