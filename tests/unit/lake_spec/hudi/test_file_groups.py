"""Of each file group of a Hudi table, the newest committed file has its rows."""

from __future__ import annotations

from lake_spec.hudi.file_groups import is_committed, newest_files
from lake_spec.hudi.file_names import DataFile

OLD, T1, T2, T3 = (f"2026010{day}000000000" for day in range(1, 5))


def file(group, instant, partition=""):
    return DataFile((partition, group), instant, is_log=False)


def test_the_newest_completed_file_of_each_group_counts():
    files = [file("a", T1), file("a", T2), file("b", T2), file("b", T1)]
    assert newest_files(files, {T1}, T1, ()) == [file("a", T1), file("b", T1)]
    assert newest_files(files, {T1, T2}, T1, ()) == [file("a", T2), file("b", T2)]


def test_what_is_older_than_the_timeline_was_completed_and_archived():
    assert newest_files([file("a", OLD)], {T2}, T1, ()) == [file("a", OLD)]
    assert is_committed(OLD, (), T1) and not is_committed(T1, (), T1)


def test_a_replaced_group_does_not_count_in_its_partition_alone():
    files = [file("a", T1, "p=1"), file("a", T1, "p=2")]
    assert newest_files(files, {T1, T2}, T1, {("p=1", "a")}) == [files[1]]
