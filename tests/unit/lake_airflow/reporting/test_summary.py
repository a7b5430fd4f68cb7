"""A run of orders and customers told from its reports; green only with proof."""

from datetime import datetime, timezone

import pytest

from lake_airflow.reporting.summary import summarise, summarise_without_cluster
from lake_spec import VERSION
from lake_spec.model import Engine
from tests.unit.lake_airflow.specs import dag_plan, domain, run, table

PLAN = dag_plan("full_load")
COMPLETED = {"name": "full_load manual-1", "id": "s-1", "state": "COMPLETED"}
NOW = datetime(2026, 11, 21, tzinfo=timezone.utc)
STEPS = {"full_load": [COMPLETED], "scd2": [COMPLETED]}


def report(stage, table_name, **changes):
    return {
        "run": "sales_full_load/manual-1",
        "release": "3f9c2a71",
        "domain": "sales",
        "table": table_name,
        "stage": stage,
        "engine": "pyspark",
        "state": "done",
        "seconds": 12.34,
        "rows_in": 15000,
        "accepted": 14769,
        "unchanged": 0,
        "duplicates": 231,
        "quarantined": 0,
        "derived_deletes": 0,
        "current_rows": None,
        "versions_opened": 0,
        "versions_closed": 0,
        "keys_moved": 0,
        "commits": {},
        "set_aside": [],
        "warnings": [],
        "error": None,
        **changes,
    }


def reports(**changes):
    """Reports of both stages for both tables; changes are those of `orders`."""
    found = {
        (stage, name): report(stage, name)
        for stage in ("full_load", "scd2")
        for name in ("orders", "customers")
    }
    found["full_load", "orders"] = report("full_load", "orders", **changes)
    return found


def summary(*, steps=STEPS, found=None, plan=PLAN, **run_changes):
    found = reports() if found is None else found
    return summarise(
        plan, run(plan, **run_changes), steps=steps, reports=found, now=NOW
    )


def test_a_run_is_green_when_every_step_and_report_is():
    found = summary()
    assert (found.state, found.causes) == ("succeeded", ())


@pytest.mark.parametrize("state", ["nothing_new", "dry_run"])
def test_nothing_new_and_a_dry_run_are_green(state):
    assert summary(found=reports(state=state)).state == "succeeded"


def test_a_failed_table_is_named_with_its_stage_and_cause():
    error = {"type": "LostShare", "message": "60% of the keys are gone"}
    found = summary(found=reports(state="failed", error=error))
    assert found.state == "failed"
    assert found.causes == (
        "sales.orders full_load: LostShare: 60% of the keys are gone",
    )


@pytest.mark.parametrize(
    "changes", [{"state": "failed"}, {"state": "half"}, {"state": 1}]
)
def test_a_state_that_is_no_success_is_a_failure_without_a_message_too(changes):
    found = summary(found=reports(**changes))
    assert found.causes == ("sales.orders full_load: Error: no message",)


def test_a_missing_report_is_no_success():
    found = reports()
    del found["scd2", "customers"]
    (cause,) = summary(found=found).causes
    assert cause.startswith("sales.customers scd2: no report")


def test_a_file_that_the_error_names_is_told_once():
    aside = [
        {"path": "a.csv", "type": "UnreadableFile", "reason": "is empty"},
        {"path": "b.csv", "type": "UnreadableFile", "reason": "is HTML"},
    ]
    error = {"type": "UnreadableFile", "message": "a.csv: is empty (and 1 more)"}
    found = reports(set_aside=aside, state="failed", error=error)
    assert summary(found=found).causes == (
        "sales.orders full_load: UnreadableFile: a.csv: is empty (and 1 more)",
        "sales.orders full_load: set aside: UnreadableFile: b.csv: is HTML",
    )


def test_a_file_that_was_set_aside_makes_the_run_red():
    aside = [{"path": "a.csv.gz", "type": "UnreadableFile", "reason": "not gzip"}]
    (cause,) = summary(found=reports(set_aside=aside)).causes
    assert cause == (
        "sales.orders full_load: set aside: UnreadableFile: a.csv.gz: not gzip"
    )


def test_a_failed_step_is_named_though_all_reports_are_fine():
    failed = {**COMPLETED, "state": "FAILED", "reason": "Killed", "log": "s3://x"}
    (cause,) = summary(steps={**STEPS, "scd2": [failed]}).causes
    assert cause == (
        "sales scd2: step s-1 'full_load manual-1' FAILED: Killed Log: s3://x"
    )


@pytest.mark.parametrize(
    "reason, left",
    [
        ("Exit code 1: FAILED {told}; FAILED {other}", "Exit code 1"),
        ("Exit code 1: FAILED {told}; FAILED {cut}", "Exit code 1"),
        ("Exit code 1: FAILED {told}; FAILED sales.x full_load: Lost: it", None),
        ("Exit code 1: no space left", None),
    ],
    ids=["both told", "the last one cut", "one is news", "none"],
)
def test_a_cause_that_a_table_gave_is_not_said_again_by_its_step(reason, left):
    error = {"type": "UnreadableFile", "message": "a.csv: is empty"}
    other = {"type": "FailedChecks", "message": "2 row(s) break unique(id)"}
    found = reports(state="failed", error=error)
    key = ("full_load", "customers")
    found[key] = report(*key, state="failed", error=other)
    told = "sales.orders full_load: UnreadableFile: a.csv: is empty"
    second = "sales.customers full_load: FailedChecks: 2 row(s) break unique(id)"
    reason = reason.format(told=told, other=second, cut=second[:30])
    failed = {**COMPLETED, "state": "FAILED", "reason": reason}
    causes = summary(found=found, steps={**STEPS, "full_load": [failed]}).causes
    step = "sales full_load: step s-1 'full_load manual-1' FAILED:"
    assert causes == (told, second, f"{step} {left or reason}")


def test_a_stage_without_an_end_is_named():
    (cause,) = summary(steps={"full_load": [COMPLETED]}).causes
    assert cause == "sales scd2: did not end; see the log of its task."


def test_only_the_chosen_tables_owe_reports():
    found = {key: value for key, value in reports().items() if key[1] == "orders"}
    assert summary(found=found, tables=("orders",)).state == "succeeded"


def test_a_streamer_owes_no_report_and_may_be_skipped():
    plan = dag_plan("full_load", domain(table("clicks", Engine.STREAMER)))
    names = ("prepare_full_load", "full_load", "scd2")
    found = summary(
        plan=plan,
        steps={**dict.fromkeys(names, [COMPLETED]), "streamer": []},
        found={(name, "clicks"): report(name, "clicks") for name in names},
    )
    assert found.state == "succeeded"
    assert found.stages["streamer"] == {"state": "skipped", "steps": []}


def test_the_summary_as_json():
    found = summary(
        steps={**STEPS, "scd2": None}, found=reports(warnings=["few rows"])
    ).to_json()
    tables = found.pop("tables")
    assert found == {
        "run": "sales_full_load/manual-1",
        "domain": "sales",
        "release": "3f9c2a71",
        "version": VERSION,
        "dry_run": False,
        "state": "failed",
        "stages": {
            "full_load": {"state": "succeeded", "steps": [COMPLETED]},
            "scd2": {"state": "failed", "steps": []},
        },
        "warnings": ["sales.orders full_load: few rows"],
        "causes": ["sales scd2: did not end; see the log of its task."],
        "asked": ["orders", "customers"],
        "window": None,
        "late_sources": [],
        "over_warn_share": [],
    }
    assert {name: list(stages) for name, stages in tables.items()} == {
        "orders": ["full_load", "scd2"],
        "customers": ["full_load", "scd2"],
    }


def test_the_summary_as_a_person_reads_it_with_the_causes_last():
    error = {"type": "Bad", "message": "no key"}
    found = reports(state="failed", error=error, warnings=["late"], current_rows=9)
    lines = list(summary(found=found, dry_run=True).to_lines())
    assert lines[:2] == [
        "Run sales_full_load/manual-1, release 3f9c2a71",
        "A dry run: nothing was written.",
    ]
    assert lines[2].split("  ")[0] == "stage"
    assert lines[3].split() == (
        "full_load orders failed 15,000 14,769 0 231 0 0 9 - 0 0 0 12.3".split()
    )
    assert len({len(line) for line in lines[2:7]}) == 1
    assert lines[-3:] == [
        "WARNING sales.orders full_load: late",
        "The run failed.",
        "FAILED sales.orders full_load: Bad: no key",
    ]


def test_the_summary_ends_with_where_its_ids_are_explained():
    error = {"type": "TooManyBadRows", "message": "9 of 10 rows are bad"}
    warnings = ["QuarantinedRows: 9 rows", "late"]
    found = summary(found=reports(state="failed", error=error, warnings=warnings))
    assert list(found.to_lines())[-1] == (
        "Help: docs/reference/messages.md (TooManyBadRows, QuarantinedRows)"
    )


def test_a_run_without_a_cluster_says_why():
    found = summarise_without_cluster(PLAN, "sales_full_load/manual-1", "refused.")
    assert found.state == "failed"
    assert list(found.to_lines())[-1] == (
        "FAILED sales: no cluster was created: refused."
    )
    assert found.to_json()["tables"] == {}


def test_files_that_a_reprocess_retracted_are_told():
    paths = ["a.csv", "b.csv", "c.csv", "d.csv"]
    lines = list(summary(found=reports(retracted=paths)).to_lines())
    told = "RETRACTED sales.orders full_load: 4 file(s): a.csv, b.csv, c.csv, ..."
    assert [line for line in lines if line.startswith("RETRACTED")] == [told]
