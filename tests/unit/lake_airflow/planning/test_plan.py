"""What each DAG of a domain does; the domain has orders, customers, no schedule."""

import subprocess
import sys
from dataclasses import replace

import pytest

from lake_airflow.planning.plan import (
    DagPlan,
    Stage,
    StageKind,
    AlertThresholds,
    changes_of,
    plan,
)
from lake_spec.layout.dag_kinds import dag_ids
from lake_spec.model import (
    Engine,
    HistoryRuns,
    JdbcTable,
    KafkaTopic,
    Notifications,
    Operation,
    Schedules,
    TableGrant,
)
from lake_spec.model.continuous import Continuous
from lake_spec.model.json_codec import to_data
from lake_spec.run_options.asked import params_of
from tests.unit.lake_airflow.specs import (
    dag_plan,
    dimension,
    domain,
    product,
    pulled,
    snapshot,
    table,
)

BOTH = ("orders", "customers")


def dag_of(kind, description, *stages, loaded_by=None):
    return DagPlan(
        dag_id=f"sales_{kind}",
        kind=kind,
        description=description,
        domain="sales",
        owner="sales-data",
        cluster="standard",
        tags=("lake", "sales", kind),
        tables=BOTH,
        stages=tuple(Stage(stage, BOTH) for stage in stages),
        watched=tuple((name, AlertThresholds()) for name in BOTH),
        params=tuple(params_of(domain(), kind)),
        loaded_by=loaded_by,
    )


PULLED = pulled("stock", KafkaTopic(connection="shop_kafka", topic="stock"))
MARKED = Operation(column="op", load=("r",))


def fed(one, **settings):
    return replace(one, source=replace(one.source, **settings))


@pytest.mark.parametrize(
    "one, is_loaded",
    [
        (table("stock"), True),
        (fed(table("stock"), operation=Operation(column="op")), True),
        (fed(table("stock"), operation=MARKED), False),
        (PULLED, False),
        (fed(PULLED, operation=MARKED, load_from=JdbcTable("shop", "stock")), True),
        (snapshot("stock"), False),
        (product("stock", "sales.orders"), True),
    ],
    ids=["landed", "words", "marked", "pulled", "both", "snapshots", "no files"],
)
def test_a_run_follows_a_full_load_where_each_table_begins_with_one(one, is_loaded):
    planned = plan(domain(table("orders"), one, continuous=Continuous()))
    loaded_by = {each.kind: each.loaded_by for each in planned if each.loaded_by}
    after = dict.fromkeys(("incremental", "continuous"), "sales_full_load")
    assert loaded_by == (after if is_loaded else {})


def test_products_alone_follow_no_full_load():
    planned = plan(domain(product("totals", "shop.orders")))
    assert not any(each.loaded_by for each in planned)


def test_a_domain_has_a_dag_for_loading_changes_maintenance_and_rebuilding():
    loads = "Full load of sales: change log, current and history"
    changes = "Ingestion of new files of sales: up to the history"
    maintenance = "Compaction, clustering and cleaning of sales where due"
    reprocessed = "Retraction and renewed ingestion of chosen files of sales"
    anew = "Rebuild of current and history of sales from the change log"
    gone = "Erasure of keys of sales from its files and tables"
    after = {"loaded_by": "sales_full_load"}
    assert plan(domain()) == (
        dag_of("full_load", loads, "full_load", "scd2"),
        dag_of("incremental", changes, "incremental", "scd2", **after),
        dag_of("reprocess", reprocessed, "reprocess", "scd2"),
        dag_of("maintenance", maintenance, "maintenance"),
        dag_of("rebuild", anew, "rebuild"),
        dag_of("erase", gone, "erase"),
    )


def test_history_in_its_own_dag_waits_for_what_incremental_updates():
    spec = domain(history_runs=HistoryRuns.OWN_DAG)
    incremental, scd2 = dag_plan("incremental", spec), dag_plan("scd2", spec)
    assert [stage.name for stage in incremental.stages] == ["incremental"]
    assert (incremental.updates,) == scd2.after == (changes_of("sales"),)
    assert scd2.stages == (Stage("scd2", BOTH),)
    assert scd2.schedule is None


def test_history_in_its_own_dag_leaves_the_full_load_whole():
    full_load = dag_plan("full_load", domain(history_runs=HistoryRuns.OWN_DAG))
    assert [stage.name for stage in full_load.stages] == ["full_load", "scd2"]


@pytest.mark.parametrize("kind", ["full_load", "incremental"])
def test_a_streamer_table_is_prepared_and_streamed_before_the_stage(kind):
    spec = domain(table("orders"), table("clicks", Engine.STREAMER))
    assert dag_plan(kind, spec).stages == (
        Stage(f"prepare_{kind}", ("clicks",)),
        Stage("streamer", ("clicks",), StageKind.STREAMER, f"prepare_{kind}"),
        Stage(kind, ("orders", "clicks")),
        Stage("scd2", ("orders", "clicks")),
    )


def test_dimensions_follow_the_history_of_their_tables_and_take_no_files():
    shop = (table("orders"), dimension("dim", "orders", "clicks"), table("clicks"))
    stages = {p.kind: p.stages for p in plan(domain(*shop))}
    files, dims = ("orders", "clicks"), ("dim",)
    for kind in ("full_load", "incremental", "reprocess"):
        assert stages[kind] == (
            Stage(kind, files),
            Stage("scd2", files),
            Stage("dimension", dims),
        )
    assert stages["rebuild"] == (
        Stage("rebuild", files),
        Stage("rebuild_dimension", dims),
    )
    assert stages["erase"] == (Stage("erase", files),)
    assert stages["maintenance"] == (Stage("maintenance", ("orders", "dim", "clicks")),)


def test_products_follow_histories_and_dimensions_and_have_a_dag_of_their_own():
    shop = (
        *(table("orders"), table("clicks"), dimension("dim", "orders", "clicks")),
        product("totals", "sales.orders", "crm.people", "erp.items", "crm.places"),
    )
    spec = domain(*shop)
    stages = {p.kind: [s.name for s in p.stages] for p in plan(spec)}
    built = ["scd2", "dimension", "product"]
    for kind in ("full_load", "incremental", "reprocess"):
        assert stages[kind] == [kind, *built]
    assert stages["rebuild"] == ["rebuild", "rebuild_dimension", "rebuild_product"]
    assert dag_plan("maintenance", spec).stages[0].tables[-1] == "totals"
    products = dag_plan("products", spec)
    assert products.stages == (Stage("product", ("totals",)),)
    assert products.after == ("crm.tables", "erp.tables")
    assert products.schedule is products.built is products.updates is None


def test_products_of_own_tables_alone_start_manually():
    spec = domain(table("orders"), product("totals", "sales.orders"))
    assert dag_plan("products", spec).after == ()


@pytest.mark.parametrize("history", list(HistoryRuns))
def test_a_domain_announces_its_tables_after_what_builds_them(history):
    shop = (table("orders"), product("totals", "crm.people"))
    grants = (TableGrant(to=("crm",)),)
    continuous = Continuous()
    spec = domain(
        *shop, table_grants=grants, history_runs=history, continuous=continuous
    )
    own = history is HistoryRuns.OWN_DAG
    kinds = {"full_load", "reprocess", "rebuild", "erase", "continuous", "products"}
    kinds.add("scd2" if own else "incremental")
    found = {each.kind: each.built for each in plan(spec) if each.built}
    assert found == {kind: "sales.tables" for kind in kinds}
    assert not any(each.built for each in plan(domain(*shop)))


def test_continuous_runs_build_products_too():
    shop = (table("orders"), product("totals", "sales.orders"))
    spec = domain(*shop, continuous=Continuous())
    batches, maintenance = dag_plan("continuous", spec).stages
    assert batches.tables == ("orders", "totals")
    assert maintenance.tables == ("orders", "totals")


def test_a_history_in_its_own_dag_takes_the_dimensions_along():
    shop = (table("orders"), table("clicks"), dimension("dim", "orders", "clicks"))
    spec = domain(*shop, history_runs=HistoryRuns.OWN_DAG)
    names = [stage.name for stage in dag_plan("incremental", spec).stages]
    assert names == ["incremental"]
    names = [stage.name for stage in dag_plan("scd2", spec).stages]
    assert names == ["scd2", "dimension"]


def test_a_domain_sets_schedules_tags_and_the_topic_of_failures():
    spec = domain(
        schedules=Schedules(incremental="0 * * * *", maintenance="0 3 * * *"),
        notifications=Notifications("arn:aws:sns:eu-central-1:1:alarms"),
        tags=("shop", "sales"),
    )
    schedules = {each.kind: each.schedule for each in plan(spec)}
    assert schedules == {
        "full_load": None,
        "incremental": "0 * * * *",
        "reprocess": None,
        "maintenance": "0 3 * * *",
        "rebuild": None,
        "erase": None,
    }
    assert {each.notifications.topic for each in plan(spec)} == {
        "arn:aws:sns:eu-central-1:1:alarms"
    }
    assert dag_plan("full_load", spec).tags == ("lake", "sales", "full_load", "shop")


@pytest.mark.parametrize("hours", [1, 20])
@pytest.mark.parametrize("history", list(HistoryRuns))
def test_every_stage_has_the_hours_of_its_domain(history, hours):
    tables = (table("orders"), table("clicks", Engine.STREAMER))
    spec = domain(
        *(*tables, dimension("dim", "orders", "clicks")),
        history_runs=history,
        stage_hours=hours,
    )
    found = {stage.hours for each in plan(spec) for stage in each.stages}
    assert found == {hours}


def test_the_stage_of_a_continuous_run_outlasts_its_batches():
    spec = domain(continuous=Continuous(hours=12), stage_hours=3)
    hours = [stage.hours for stage in dag_plan("continuous", spec).stages]
    assert hours == [13, 3]
    longer = domain(continuous=Continuous(hours=12), stage_hours=20)
    assert [s.hours for s in dag_plan("continuous", longer).stages] == [20, 20]


def test_only_a_spark_stage_owes_reports():
    assert Stage("scd2", BOTH).writes_reports
    assert not Stage("streamer", BOTH, StageKind.STREAMER, "prepare").writes_reports


def test_planning_needs_no_airflow():
    code = (
        "import sys, tests.unit.lake_airflow.specs as s; s.dag_plan('full_load');"
        "assert 'airflow' not in sys.modules"
    )
    path = {"PYTHONPATH": ":".join(each for each in sys.path if each)}
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, env=path)


@pytest.mark.parametrize("continuous", [None, Continuous()], ids=["no", "continuous"])
@pytest.mark.parametrize(
    "tables",
    [
        (),
        (table("orders"),),
        (table("orders"), product("totals", "sales.orders")),
    ],
    ids=len,
)
@pytest.mark.parametrize("history", list(HistoryRuns))
def test_the_ids_of_the_dags_are_those_that_a_deploy_asks_airflow_about(
    continuous, history, tables
):
    spec = replace(domain(continuous=continuous, history_runs=history), tables=tables)
    assert dag_ids(to_data(spec)) == {each.dag_id for each in plan(spec)}


def test_a_domain_without_tables_has_no_dags():
    assert plan(replace(domain(), tables=())) == ()
