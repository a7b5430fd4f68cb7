"""The states of a domain's tables after runs."""

from lake_spec.state.table_states import EndedRun, after_run, states_uri

DONE = {"state": "done", "newest_event": "2026-01-02T00:00:00Z", "current_rows": 7}


def ended(dag="sales_incremental", **more):
    fields = {"failed": False, **more}
    return EndedRun(
        dag, f"{dag}/manual-1", "manual__1", "2026-01-03T00:00:00Z", **fields
    )


def states(summary, before=None, run=None, minutes=None):
    return after_run(
        before or {},
        "sales",
        run or ended(),
        summary=summary,
        tables=("orders", "customers"),
        minutes=minutes or {},
    )


def test_a_table_has_its_figures_counts_and_minutes():
    reports = {"orders": {"incremental": {**DONE, "rows_in": 5, "quarantined": 1}}}
    found = states(
        {"tables": reports, "asked": ["orders"]}, minutes={"sales.orders": 2.5}
    )
    assert list(found["tables"]) == ["orders"]
    table = found["tables"]["orders"]
    assert (table["newest_event"], table["current_rows"]) == (DONE["newest_event"], 7)
    run = table["runs"]["sales_incremental"]
    assert (run["rows_in"], run["quarantined"], run["minutes"]) == (5, 1, 2.5)
    assert (run["state"], run["problems"]) == ("succeeded", [])


STEP = "sales incremental: step s-1 FAILED"
CAUSES = [
    "sales.orders incremental: BadRows: too many: 5",
    "sales.orders, sales.customers incremental: no report: did not finish.",
    "sales.orders_of_old incremental: not this one",
]


def test_a_cause_belongs_to_the_tables_that_it_names():
    found = states({"causes": [*CAUSES, STEP]}, run=ended(failed=True))
    of = {
        name: table["runs"]["sales_incremental"]["problems"]
        for name, table in found["tables"].items()
    }
    assert of == {"orders": CAUSES[:2], "customers": CAUSES[1:2]}


def test_a_step_that_failed_with_its_tables_is_no_second_problem():
    lives = "The cluster is still running."
    run = ended(failed=True, causes=(lives,))
    found = states({"causes": [CAUSES[0], STEP]}, run=run)
    assert found["runs"]["sales_incremental"]["problems"] == [lives]
    found = states({"causes": [STEP]}, run=run)
    assert found["runs"]["sales_incremental"]["problems"] == [STEP, lives]


def test_a_green_run_of_another_dag_hides_no_failure_and_keeps_the_figures():
    first = states({"tables": {"orders": {"incremental": DONE}}})
    second = states(
        {"causes": ["sales.orders incremental: X: y"]}, first, ended(failed=True)
    )
    third = states(
        {"tables": {"orders": {"maintenance": {"state": "done"}}}},
        second,
        ended("sales_maintenance"),
    )
    table = third["tables"]["orders"]
    assert table["current_rows"] == 7
    states_of = {dag: run["state"] for dag, run in table["runs"].items()}
    assert states_of == {
        "sales_incremental": "failed",
        "sales_maintenance": "succeeded",
    }
    again = states({"tables": {"orders": {"incremental": DONE}}}, third)
    assert again["tables"]["orders"]["runs"]["sales_incremental"]["problems"] == []


def test_figures_of_a_failed_stage_are_not_taken():
    found = states({"tables": {"orders": {"incremental": {**DONE, "state": "failed"}}}})
    assert "current_rows" not in found["tables"]["orders"]


def test_unknown_fields_and_tables_are_kept():
    found = states({"asked": ["orders"]}, {"later": 1, "tables": {"gone": {"x": 1}}})
    assert found["later"] == 1
    assert found["tables"]["gone"] == {"x": 1}


def test_the_states_lie_next_to_the_runs():
    assert states_uri("s3://lake/runs/", "sales") == "s3://lake/runs/tables/sales.json"
