"""What the plan of a run says that it covers, for each kind of DAG and each param."""

from __future__ import annotations

import pytest

from lake_airflow.operators.preview import RunPlan
from lake_spec.layout.dag_names import DAG_KINDS
from lake_spec.model import Continuous, HistoryRuns
from tests.unit.lake_airflow.specs import (
    CLUSTER,
    ENVIRONMENT,
    dag_plan,
    domain,
    product,
    run,
    table,
)

SPEC = domain(
    table("orders"),
    product("totals", "sales.orders"),
    continuous=Continuous(),
    history_runs=HistoryRuns.OWN_DAG,
)
WINDOW = "2026-01-01T00:00:00Z..2026-02-01T00:00:00Z"
OF_WINDOW = "only files of 2026-01-01T00:00:00Z to before 2026-02-01T00:00:00Z"
NEW = "all files that are not ingested yet"
CHOSEN = "the landing files that are chosen: retracted, and ingested again"
BUILT = "all rows of inputs that the products do not have yet"
KEPT = "no landing files: compacts, clusters and cleans the tables"
AGAIN = "no landing files: makes current and history again from the change log"
ERASED = "the keys that the request lists, in landing files and tables"

SAID = [
    ("full_load", {}, ["all files of full loads that are not ingested yet"]),
    (
        "full_load",
        {"window": WINDOW},
        ["all files of full loads that are not ingested yet", OF_WINDOW],
    ),
    ("incremental", {}, [NEW]),
    ("incremental", {"window": WINDOW}, [NEW, OF_WINDOW]),
    (
        "incremental",
        {"accept_losses": True},
        [NEW, "losses of keys and of messages: accepted"],
    ),
    (
        "incremental",
        {"empty_scopes": ("DE", "FR")},
        [NEW, "scopes without rows: DE, FR"],
    ),
    (
        "incremental",
        {"pull_from": "start"},
        [NEW, "pulls: from start, not from their bookmarks"],
    ),
    ("incremental", {"dry_run": True}, [NEW, "a dry run: writes nothing"]),
    ("continuous", {}, [f"{NEW}, in rounds until its hours are over"]),
    ("reprocess", {"window": WINDOW}, [CHOSEN, OF_WINDOW]),
    (
        "reprocess",
        {"files": ("a.csv", "b/*.csv"), "retract_missing": True},
        [
            CHOSEN,
            "only files a.csv, b/*.csv",
            "chosen files that are gone from landing: retracted",
        ],
    ),
    (
        "reprocess",
        {"quarantined": True},
        [CHOSEN, "only files with rows in the quarantine"],
    ),
    ("scd2", {}, ["all rows of the change log that history does not have yet"]),
    ("products", {}, [BUILT]),
    (
        "products",
        {"partitions": ("year=2026",)},
        [BUILT, "partitions made again: year=2026"],
    ),
    ("maintenance", {}, [KEPT]),
    (
        "maintenance",
        {"move_foreign_files": True},
        [KEPT, "foreign files: moved out of the tables' folders"],
    ),
    ("rebuild", {}, [AGAIN]),
    ("rebuild", {"verify": 1.0}, ["no landing files: compares all keys with the log"]),
    (
        "rebuild",
        {"verify": 0.015},
        ["no landing files: compares 1.5% of the keys with the log"],
    ),
    ("erase", {"request": "r-1"}, [ERASED, "request r-1"]),
]


@pytest.mark.parametrize("kind, asked, said", SAID)
def test_a_plan_says_what_its_run_covers(kind, asked, said):
    plan = dag_plan(kind, SPEC)
    planned = RunPlan.of(
        plan, run=run(plan, **asked), cluster=CLUSTER, environment=ENVIRONMENT
    )
    lines = list(planned.to_lines())
    first_stage = next(n for n, line in enumerate(lines) if line.startswith("stage "))
    assert lines[2:first_stage] == said


def test_each_kind_is_said():
    assert {kind for kind, _, _ in SAID} == set(DAG_KINDS)
