"""A package whose tests play less of it than its floor says fails, by its name and share."""

from __future__ import annotations

import pytest

from tools.checks import coverage_floors
from tools.checks.coverage_floors import compared, shares


def file(lines, played, branches=0, taken=0):
    return {
        "summary": {
            "num_statements": lines,
            "covered_lines": played,
            "num_branches": branches,
            "covered_branches": taken,
        }
    }


REPORT = {
    "files": {
        "dags/lake_spec/a.py": file(10, 10),
        "dags/lake_spec/model/b.py": file(6, 5, 4, 2),
        "dags/lake_spec_2/c.py": file(100, 0),
    }
}


def test_lines_and_branches_of_a_folder_count_together_and_those_of_no_other():
    assert shares(REPORT, ["dags/lake_spec"]) == {"dags/lake_spec": 85.0}


def test_a_folder_that_the_report_does_not_know_is_named():
    with pytest.raises(ValueError, match="no line of dags/lake_old/"):
        shares(REPORT, ["dags/lake_old"])


def test_below_its_floor_a_package_fails_and_at_it_it_does_not():
    found = {"a": 90.0, "b": 89.96, "c": 10.0}
    assert list(compared(found, {"a": 90, "b": 90, "c": None})) == [
        (True, "a: 90.0 %, floor 90 %"),
        (False, "b: 89.9 %, below its floor of 90 %: test what is new"),
        (True, "c: 10.0 %, no floor yet: note it in tests/coverage.json"),
    ]


@pytest.mark.parametrize("run", ["units", "spark"])
def test_each_folder_with_a_floor_is_there(run):
    for folder in coverage_floors.packages(coverage_floors.ROOT, run):
        assert (coverage_floors.ROOT / folder / "__init__.py").is_file()
