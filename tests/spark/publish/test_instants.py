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


A1, A2, B2 = "a_0-1-1_101.parquet", "a_0-2-1_102.parquet", "b_0-2-1_102.parquet"
OTHERS = (
    ".hoodie/metadata/x.parquet",
    "metadata/v1.metadata.json",
    "_delta_log/0.json",
)


def test_each_commit_adds_the_newer_version_and_removes_the_older():
    order = [("101", "101", "commit"), ("102", "102", "commit")]
    changes = {"101": written(A1), "102": written(A2, B2)}
    found = Instants(table(order, changes), store(A1, A2, B2, *OTHERS), merged=False)
    assert paths(found.state("101")) == [A1]
    (step,) = found.steps("101")
    assert (step.instant, paths(step.added), paths(step.removed)) == (
        "102",
        [A2, B2],
        [A1],
    )
    assert (step.files, step.bytes, step.rows) == (2, 20, {A2: 5, B2: 5})


def test_files_of_archived_commits_count_and_those_of_unfinished_ones_do_not():
    order = [("102", "102", "commit")]
    left = "c_0-1-1_103.parquet"
    made = table(order, {"102": written(A2)}, unfinished=["103"])
    found = Instants(made, store("z_0-1-1_050.parquet", A1, A2, left), merged=False)
    whole = found.whole("102")
    assert paths(whole.added) == [A2, "z_0-1-1_050.parquet"]
    assert whole.rows["z_0-1-1_050.parquet"] == 77, "its footer was asked"


def test_a_replaced_group_is_gone_from_the_commit_that_replaced_it():
    order = [("101", "101", "commit"), ("102", "102", "replacecommit")]
    changes = {"101": written(A1), "102": written(B2, replaced=[("", "a")])}
    found = Instants(table(order, changes), store(A1, B2), merged=False)
    assert paths(found.state("101")) == [A1]
    assert paths(found.state("102")) == [B2]


def test_a_clustering_that_ended_late_stands_where_it_ended():
    order = [
        ("101", "101", "commit"),
        ("103", "103", "commit"),
        ("102", "104", "replacecommit"),
    ]
    merged_file = "m_0-1-1_102.parquet"
    new = "n_0-1-1_103.parquet"
    changes = {"102": written(merged_file, replaced=[("", "a")])}
    found = Instants(table(order, changes), store(A1, merged_file, new), merged=False)
    assert found.names == ["101", "103", "102"]
    assert paths(found.state("103")) == [A1, new]
    assert paths(found.state("102")) == [merged_file, new]


def test_merge_on_read_counts_only_commits_after_which_no_log_file_is_left():
    order = [
        ("101", "101", "deltacommit"),
        ("102", "102", "deltacommit"),
        ("103", "103", "commit"),
        ("104", "104", "deltacommit"),
    ]
    log = ".a_102.log.1_0-1-1"
    changes = {
        "101": written(A1),
        "102": written(log),
        "104": written(".a_104.log.1_0-1-1"),
    }
    compacted = "a_0-3-1_103.parquet"
    found = Instants(table(order, changes), store(A1, log, compacted), merged=True)
    assert found.names == ["101", "103"]
    assert paths(found.state("103")) == [compacted]


@pytest.mark.parametrize(
    "commits, kept", [(1, ["104"]), (2, ["101", "104"]), (4, ["101", "104"])]
)
def test_what_a_cleaning_keeps_and_the_last_before_it_stay(commits, kept):
    order = [
        ("101", "101", "commit"),
        ("102", "102", "deltacommit"),
        ("103", "103", "deltacommit"),
        ("104", "104", "commit"),
    ]
    changes = {name: written(f".a_{name}.log.1_0-1-1") for name in ("102", "103")}
    found = Instants(table(order, changes), store(A1), merged=True)
    assert found.kept(commits) == kept
