"""The graph of every DAG: a cluster around its stages, ended whatever happens."""

from datetime import timedelta

import pendulum
import pytest
from airflow.exceptions import AirflowException
from airflow.sdk import AssetAny
from airflow.serialization import serialized_objects

from lake_airflow.dag_builder import Renderer
from lake_airflow.operators.create_cluster import LONGEST_WAIT
from lake_airflow.operators.finish_run import AnnounceChanges
from lake_airflow.operators.run_over import RunOver
from lake_airflow.planning.plan import plan
from lake_spec.model import Engine, HistoryRuns, Schedules, TableGrant
from tests.unit.lake_airflow.specs import (
    CLUSTER,
    ENVIRONMENT,
    RELEASE,
    domain,
    product,
    table,
)

SPEC = domain(
    table("orders"),
    table("clicks", Engine.STREAMER),
    history_runs=HistoryRuns.OWN_DAG,
    schedules=Schedules(incremental="0 * * * *", maintenance="@weekly"),
)
# What Airflow 3.3 renamed.
stored = getattr(serialized_objects, "DagSerialization", None) or (
    serialized_objects.SerializedDAG
)
KINDS = ("full_load", "incremental", "scd2", "reprocess", "maintenance")


def render(spec):
    renderer = Renderer(
        spec,
        cluster=CLUSTER,
        environment=ENVIRONMENT,
        release=RELEASE,
        poll_seconds=1,
    )
    return {each.kind: renderer.dag(each) for each in plan(spec)}


@pytest.fixture(scope="module")
def dags():
    return render(SPEC)


def stages(dag):
    ends = {"create_cluster", "summary", "terminate_cluster", "done"}
    return [
        task
        for task in dag.topological_sort()
        if task.task_id not in ends and not isinstance(task, AnnounceChanges)
    ]


def upstream(dag, task_id):
    return dag.get_task(task_id).upstream_task_ids


@pytest.mark.parametrize("kind", KINDS)
def test_airflow_takes_the_graph(dags, kind):
    dags[kind].validate()


@pytest.mark.parametrize("kind", KINDS)
def test_the_cluster_is_set_up_and_torn_down_around_every_stage(dags, kind):
    dag = dags[kind]
    create, terminate = dag.get_task("create_cluster"), dag.get_task(
        "terminate_cluster"
    )
    assert create.is_setup and terminate.is_teardown
    names = {stage.task_id for stage in stages(dag)}
    assert names
    # The stages too: whoever clears one alone clears no summary, and has a new cluster.
    assert upstream(dag, "terminate_cluster") == {"summary", "create_cluster", *names}
    for stage in stages(dag):
        assert "create_cluster" in stage.get_flat_relative_ids(upstream=True)
        assert "summary" in stage.downstream_task_ids


@pytest.mark.parametrize("kind", KINDS)
def test_a_stage_runs_after_a_failed_one_but_the_first_only_with_a_cluster(dags, kind):
    first, *others = stages(dags[kind])
    assert first.upstream_task_ids == {"create_cluster"}
    assert first.trigger_rule == "all_success"
    assert {stage.trigger_rule for stage in others} <= {"all_done"}
    assert {stage.retries for stage in (first, *others)} == {3}


@pytest.mark.parametrize("kind", KINDS)
def test_the_summary_comes_whatever_happened(dags, kind):
    summary = dags[kind].get_task("summary")
    assert summary.trigger_rule == "all_done"
    assert not summary.is_teardown


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_is_green_only_if_summary_and_end_of_the_cluster_are(dags, kind):
    dag = dags[kind]
    done = dag.get_task("done")
    assert upstream(dag, "done") == {"summary", "terminate_cluster", "create_cluster"}
    assert done.is_teardown and done.on_failure_fail_dagrun
    leaves = {leaf.task_id for leaf in dag.leaves}
    assert leaves - {"announce_changes"} == {"done"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task_id", ["terminate_cluster", "done"])
def test_the_ends_come_also_where_the_setup_failed_while_it_made_a_cluster(
    dags, kind, task_id
):
    assert dags[kind].get_task(task_id).trigger_rule == "all_done"
    as_scheduled = stored.from_dict(stored.to_dict(dags[kind]))
    assert as_scheduled.get_task(task_id).trigger_rule == "all_done"
    assert as_scheduled.get_task(task_id).is_teardown


def cleared(dag, task_id, *, downstream):
    found = dag.partial_subset(
        task_id, include_downstream=downstream, include_upstream=False
    )
    return set(found.task_dict)


@pytest.mark.parametrize("downstream", [True, False])
@pytest.mark.parametrize("task_id", ["create_cluster", "full_load", "scd2"])
def test_who_clears_a_stage_clears_the_cluster_and_its_end_too(
    dags, task_id, downstream
):
    found = cleared(dags["full_load"], task_id, downstream=downstream)
    assert found >= {task_id, "create_cluster", "terminate_cluster", "done"}


def test_who_clears_the_announcement_makes_no_cluster(dags):
    dag = dags["incremental"]
    found = cleared(dag, "announce_changes", downstream=True)
    assert found == {"announce_changes"}


def test_stages_come_one_after_the_other(dags):
    order = [stage.task_id for stage in stages(dags["full_load"])]
    assert order == ["prepare_full_load", "streamer", "full_load", "scd2"]
    for before, after in zip(order, order[1:]):
        assert before in upstream(dags["full_load"], after)


def test_history_is_started_by_the_asset_once_the_cluster_is_gone(dags):
    announce = dags["incremental"].get_task("announce_changes")
    assert announce.upstream_task_ids == {"terminate_cluster"}
    (asset,) = announce.outlets
    assert asset.name == "sales.changes"
    assert dags["scd2"].schedule == [asset]


def test_only_what_updates_an_asset_announces(dags):
    announcing = [kind for kind in KINDS if dags[kind].has_task("announce_changes")]
    assert announcing == ["incremental"]


def test_products_are_started_by_the_tables_of_other_domains_once_they_are_built():
    spec = domain(
        table("orders"),
        product("totals", "crm.people"),
        table_grants=(TableGrant(to=("crm",)),),
    )
    dags = render(spec)
    (asset,) = dags["products"].schedule
    assert asset.name == "crm.tables"
    reads_more = domain(product("totals", "crm.people", "erp.items"))
    schedule = render(reads_more)["products"].schedule
    assert isinstance(schedule, AssetAny)
    assert [each.name for each in schedule.objects] == ["crm.tables", "erp.tables"]
    announcing = {kind for kind in dags if dags[kind].has_task("announce_tables")}
    kinds = {"full_load", "incremental", "reprocess", "rebuild", "erase", "products"}
    assert announcing == kinds
    announce = dags["incremental"].get_task("announce_tables")
    assert announce.upstream_task_ids == {"terminate_cluster"}
    assert [each.name for each in announce.outlets] == ["sales.tables"]


def test_a_form_offers_the_tables_a_window_and_a_dry_run(dags):
    params = {key: dags["incremental"].params.get_param(key) for key in ALL_PARAMS}
    assert set(dags["incremental"].params) == set(ALL_PARAMS)
    assert params["tables"].value == ["orders", "clicks"]
    assert params["tables"].schema["examples"] == ["orders", "clicks"]
    assert "as 2026-01-31T00:00:00Z" in params["window_from"].description
    assert params["window_from"].value is params["window_to"].value is None
    assert params["dry_run"].value is False


@pytest.mark.parametrize(
    "sent",
    [
        "2026-01-31T00:00:00.000Z:00+00:00",
        "2026-01-31T00:00:00.000Z",
        "2026-01-31T00:00:00Z",
        "2026-01-31T00:00:00+00:00",
        "2026-01-31 00:00",
        "2026-01-31",
        None,
    ],
)
def test_a_form_takes_a_time_as_each_airflow_sends_it(dags, sent):
    param = dags["incremental"].params.get_param("window_from")
    assert param.resolve(sent) == sent


@pytest.mark.parametrize("sent", ["yesterday", "31.01.2026", "2026-01-31T00:00:00Z:x"])
def test_a_form_refuses_what_is_no_time(dags, sent):
    param = dags["incremental"].params.get_param("window_from")
    with pytest.raises(AirflowException, match="does not match"):
        param.resolve(sent)


ALL_PARAMS = ("tables", "window_from", "window_to", "plan_only", "dry_run")


def test_the_form_of_a_reprocess_asks_for_files_too(dags):
    params = {
        name: dags["reprocess"].params.get_param(name)
        for name in dags["reprocess"].params
    }
    choice = {"files", "quarantined", "retract_missing"}
    assert set(params) >= {*ALL_PARAMS, *choice}
    assert params["files"].value is None
    assert params["files"].schema["items"] == {"type": "string"}
    assert params["quarantined"].value is params["retract_missing"].value is False
    assert "Default: files of any time." in params["window_from"].description


def test_a_dry_run_promises_no_more_than_it_does(dags):
    told = {kind: dags[kind].params.get_param("dry_run").description for kind in dags}
    assert told["incremental"].startswith("Read the files on a cluster")
    for kind in ("maintenance", "rebuild", "scd2"):
        assert told[kind].startswith("Check the specs against the tables")


def test_only_ingestion_takes_a_window(dags):
    with_window = {kind for kind in dags if "window_from" in dags[kind].params}
    assert with_window == {"full_load", "incremental", "reprocess"}


def test_a_rebuild_can_verify_instead(dags):
    params = dags["rebuild"].params
    assert (params["verify"], params["sample"]) == (False, 1)


def test_an_erase_asks_for_its_request(dags):
    params = dags["erase"].params
    assert params["request"] is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_dag_never_overlaps_itself_catches_up_or_hangs(dags, kind):
    dag = dags[kind]
    assert (dag.max_active_runs, dag.catchup) == (1, False)
    # A run that fails by this limit loses its cluster's end, so waiting is not its work.
    assert LONGEST_WAIT + timedelta(hours=8) < dag.dagrun_timeout < timedelta(days=2)


def test_a_run_may_take_the_hours_of_all_its_stages():
    usual, longer = (render(domain(stage_hours=hours)) for hours in (8, 20))
    for kind, stages_of_it in (("full_load", 2), ("maintenance", 1)):
        more = longer[kind].dagrun_timeout - usual[kind].dagrun_timeout
        assert more == stages_of_it * timedelta(hours=12)
        assert longer[kind].get_task(kind).limit == timedelta(hours=20)


def test_a_schedule_is_the_domains(dags):
    assert dags["incremental"].timetable.summary == "0 * * * *"
    assert dags["full_load"].schedule is None


def test_a_scheduled_run_has_an_interval_which_a_backfill_takes_as_window(dags):
    at = pendulum.datetime(2026, 3, 29, 12)
    interval = dags["incremental"].timetable.infer_manual_data_interval(run_after=at)
    assert interval == (at.subtract(hours=1), at)


def test_maintenance_needs_no_interval(dags):
    assert dags["maintenance"].schedule == "@weekly"


def test_owner_tags_and_page_tell_whose_it_is(dags):
    dag = dags["full_load"]
    assert {task.owner for task in dag.tasks} == {"sales-data"}
    assert dag.tags == {"lake", "sales", "full_load"}
    assert "| `sales.clicks` | All clicks of the shop | sales-data | streamer |" in (
        dag.doc_md
    )


def test_airflow_calls_back_when_a_run_is_over(dags):
    for dag in dags.values():
        assert isinstance(dag.on_failure_callback, RunOver)
        assert isinstance(dag.on_success_callback, RunOver)


def test_green_runs_call_nobody_back_where_that_hides_their_dags(monkeypatch):
    monkeypatch.setenv("AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL", "300")
    for dag in render(domain()).values():
        assert isinstance(dag.on_failure_callback, RunOver)
        assert dag.on_success_callback is None
