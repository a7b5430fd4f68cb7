"""The longest file of Spark tests comes first, by a table that a run of all writes."""

from __future__ import annotations

import json
from types import SimpleNamespace

from tests.spark.conftest import (
    HERE,
    OF_A_TEST,
    SECONDS,
    NotedSeconds,
    longest_first,
    noted,
)

CRASH = "tests/spark/whole_runs/test_crash.py"
CSV = "tests/spark/formats/test_csv.py"


def report(file: str, seconds: float) -> SimpleNamespace:
    return SimpleNamespace(nodeid=f"{file}::test_x[::]", duration=seconds)


def test_a_file_that_takes_long_comes_before_one_of_many_tests():
    files = ["many.py"] * 3 + ["long.py"]
    assert longest_first(files, {"long.py": 90, "many.py": 5}) == {
        "long.py": 0,
        "many.py": 1,
    }


def test_a_file_that_is_not_in_the_table_counts_by_its_tests():
    files = ["known.py", *["new.py"] * 3]
    less, more = 2 * OF_A_TEST, 4 * OF_A_TEST
    assert longest_first(files, {"known.py": less}) == {"new.py": 0, "known.py": 1}
    assert longest_first(files, {"known.py": more}) == {"known.py": 0, "new.py": 1}


def test_a_run_writes_what_it_saw_over_what_was_known(tmp_path):
    table = tmp_path / "seconds.json"
    table.write_text(json.dumps({CSV: 3, CRASH: 7, "tests/spark/test_gone.py": 9}))
    run = NotedSeconds(table)
    for part in (0.4, 60.0, 0.2):
        run.pytest_runtest_logreport(report(CRASH, part))
    run.pytest_sessionfinish()
    assert noted(table) == {CSV: 3, CRASH: 61}


def test_the_table_names_files_that_are_there():
    root = HERE.parents[1]
    assert [file for file in noted(SECONDS) if not (root / file).exists()] == []
