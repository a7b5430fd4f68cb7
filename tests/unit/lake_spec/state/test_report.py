"""The report of a table: what is in it once, with its id."""

import json
from dataclasses import replace

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.state.report import BadRow, CheckResult, MovedKey, Report
from lake_spec.text.marked_values import BEGIN, row_value


def report() -> Report:
    return Report("d/1", "r", "sales", "orders", "incremental", "pyspark")


def test_a_warning_begins_with_its_id_and_is_there_once():
    made = report()
    assert made.warn(WarningId.LATE_SOURCE, "no file yet")
    assert not made.warn(WarningId.LATE_SOURCE, "no file yet")
    assert made.warn(WarningId.REPEATED_FILE, "no file yet")
    assert made.warnings == ["LateSource: no file yet", "RepeatedFile: no file yet"]


def test_warnings_above_a_number_are_replaced_by_one_that_says_so():
    made = report()
    for number in range(3):
        made.warn(WarningId.QUARANTINED_ROWS, str(number))
    made.limit_warnings(4)
    assert len(made.warnings) == 3
    for _ in range(2):
        made.limit_warnings(3)
        assert [each.split(":")[0] for each in made.warnings] == [
            *("QuarantinedRows", "QuarantinedRows", "MoreWarnings"),
        ]


def test_a_run_fails_by_the_id_of_the_first_file_that_was_set_aside():
    made = report()
    made.fail_for_set_aside()
    assert (made.error, made.state) == (None, "nothing_new")
    assert made.set_aside_file("WrongColumns", "a.csv", "lacks id")
    assert not made.set_aside_file("WrongColumns", "a.csv", "lacks id")
    made.set_aside_file("WrongPath", "b.csv", "has no date")
    made.fail_for_set_aside()
    message = "a.csv: lacks id (and 1 more)"
    assert made.error == {"type": "WrongColumns", "message": message}
    assert made.state == "failed"


def test_a_later_result_of_a_check_takes_the_place_of_an_earlier_one():
    def result(check: str, value: float) -> CheckResult:
        parts = ("row_count", "current", "fail", "passed", value, "at least 1")
        return CheckResult(check, *parts)

    first, later = report(), report()
    first.add_checks([result("a", 1), result("b", 2)])
    later.add_checks([result("a", 3)])
    first.add(later)
    assert [(each.check, each.value) for each in first.checks] == [("b", 2), ("a", 3)]


def filled(**more) -> Report:
    """A report with a value in every text that can have one."""
    made = replace(report(), **more)
    made.warn(WarningId.QUARANTINED_ROWS, f"a.csv record 3: {row_value('Ada')}")
    made.set_aside_file("WrongTypes", "b.csv", f"begins with {row_value('Ada')}")
    made.add_samples([BadRow("a.csv", 3, f"id: {row_value('Ada')}", '{"id": "Ada"}')])
    made.set_moved_keys([MovedKey("Ada", None, "2026-01-01", None)])
    made.fail_for_set_aside()
    return made


def test_a_report_of_a_guarded_table_has_no_value_and_keeps_the_texts_for_the_table():
    made = filled(guarded=True)
    assert "Ada" not in made.to_json() and "withheld" not in made.to_json()
    assert made.warnings == ["QuarantinedRows: a.csv record 3: (not shown)"]
    assert made.error == {
        "type": "WrongTypes",
        "message": "b.csv: begins with (not shown)",
    }
    assert made.samples == [BadRow("a.csv", 3, "id: (not shown)", "")]
    assert made.withheld[:3] == [
        "QuarantinedRows: a.csv record 3: Ada",
        "begins with Ada",
        "id: Ada",
    ]
    assert json.loads(made.withheld[3])["moved_key"]["removed"] == "Ada"


def test_a_report_of_another_table_has_values_and_no_marks():
    made = filled()
    assert made.warnings == ["QuarantinedRows: a.csv record 3: Ada"]
    assert made.samples == [BadRow("a.csv", 3, "id: Ada", '{"id": "Ada"}')]
    assert [each.removed for each in made.moved_keys] == ["Ada"]
    assert made.withheld == [] and BEGIN not in made.to_json()


def test_a_report_of_rounds_keeps_what_each_of_them_withheld():
    made = replace(report(), guarded=True)
    made.add(filled(guarded=True))
    made.add(filled(guarded=True))
    assert len(made.withheld) == 4 and "Ada" not in made.to_json()
