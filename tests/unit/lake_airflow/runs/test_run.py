"""What a run may ask for: tables of the domain, a window that ends after it
starts, a dry run; everything else is refused by name."""

from datetime import datetime, timedelta, timezone

import pytest

from lake_airflow.runs.run import Run, RunRefused, check_run
from lake_spec.model import JdbcChanges, KafkaTopic, Scope
from lake_spec.state.state_format import UnreadableState
from tests.unit.lake_airflow.specs import (
    RELEASE,
    dag_plan,
    domain,
    product,
    pulled,
    snapshot,
    table,
)

PLAN = dag_plan("incremental")


def check(params=None, *, plan=PLAN, run_id="manual__1", release=RELEASE) -> Run:
    return check_run(plan, run_id=run_id, params=params or {}, release=release)


def faults(params=None, **rest) -> str:
    with pytest.raises(RunRefused) as caught:
        check(params, **rest)
    return "\n".join(caught.value.faults)


def test_without_params_a_run_is_about_all_tables_and_all_that_is_new():
    assert check() == Run(
        dag_id="sales_incremental",
        key="manual__1",
        release=RELEASE,
        tables=("orders", "customers"),
        window=None,
        dry_run=False,
        run_id="manual__1",
        token=0,
    )


def test_tables_come_in_the_order_of_the_domain_and_once():
    found = check({"tables": ["customers", "orders", "customers"]})
    assert found.tables == ("orders", "customers")


@pytest.mark.parametrize(
    "start, end, window",
    [
        (
            "2026-01-01T00:00:00Z",
            "2026-01-02T00:00:00Z",
            "2026-01-01T00:00:00Z..2026-01-02T00:00:00Z",
        ),
        (
            "2026-01-01T00:00:00+02:00",
            "2026-01-01 12:30",
            "2025-12-31T22:00:00Z..2026-01-01T12:30:00Z",
        ),
        (
            "2026-01-01T00:00:00.000Z",
            "2026-01-01T00:00:00.5Z",
            "2026-01-01T00:00:00Z..2026-01-01T00:00:00.500000Z",
        ),
        (
            "2026-01-31T00:00:00.000Z:00+00:00",
            "2026-02-01T00:00:00.000Z:00+00:00",
            "2026-01-31T00:00:00Z..2026-02-01T00:00:00Z",
        ),
    ],
    ids=["utc", "other-zone-and-none", "fractions", "picked-on-airflow-3.0"],
)
def test_a_window_is_said_in_utc(start, end, window):
    assert check({"window_from": start, "window_to": end}).window == window


@pytest.mark.parametrize(
    "params, fault",
    [
        (
            {"tables": ["ordrs"]},
            "'ordrs' is not a table of sales. Did you mean 'orders'?",
        ),
        ({"tables": ["xyz"]}, "'xyz' is not a table of sales. Choose from: orders, cu"),
        ({"tables": []}, "tables: got []. Give a list of at least one of: orders"),
        ({"tables": "orders"}, "tables: got 'orders'. Give a list"),
        ({"tables": [7]}, "tables: 7 is not a table of sales"),
        ({"tables": ["{{ ds }}"]}, "tables: '{{ ds }}' is not a table of sales"),
        ({"tables": ["a'; rm -rf"]}, 'rm -rf" is not a table of sales'),
        ({"tables": ["../orders"]}, "tables: '../orders' is not a table of sales"),
        ({"dry_run": "yes"}, "dry_run: got 'yes'. Choose true or false."),
        ({"accept_losses": True}, "'accept_losses': unknown param."),
        ({"window_from": "2026-01-01T00:00:00Z"}, "give both window_from and window"),
        (
            {"window": "now"},
            "'window': unknown param. Did you mean 'window_to'? sales_",
        ),
    ],
)
def test_what_is_outside_the_allow_list_is_refused_by_name(params, fault):
    assert fault in faults(params)


@pytest.mark.parametrize(
    "text",
    [
        "yesterday",
        "2026-13-01T00:00:00Z",
        "2026-W05",
        "2026-01",
        "{{ ts }}",
        "2026-01-01T24:61",
        5,
    ],
)
def test_a_time_that_is_none_is_refused(text):
    found = faults({"window_from": text, "window_to": "2026-01-02T00:00:00Z"})
    assert f"window_from: not a valid timestamp: {text!r}" in found


@pytest.mark.parametrize("end", ["2026-01-01T00:00:00Z", "2025-12-31T23:00:00Z"])
def test_a_window_that_does_not_end_after_its_start_is_refused(end):
    found = faults({"window_from": "2026-01-01T00:00:00Z", "window_to": end})
    assert "is not after window_from 2026-01-01T00:00:00Z" in found


def test_a_dag_without_a_window_refuses_one():
    found = faults({"window_from": None}, plan=dag_plan("maintenance"))
    assert "'window_from': unknown param. sales_maintenance takes" in found


def test_without_a_release_the_run_is_refused_in_words():
    assert "The DAGs do not refer to a release yet" in faults(release="unreleased")


def test_a_run_id_without_room_is_refused():
    assert "run id: got 300 characters" in faults(run_id="x" * 300)


def test_all_faults_come_at_once():
    found = faults(
        {"tables": ["a", "b"], "dry_run": 1, "window_from": "x", "window_to": "y"},
        release="unreleased",
    )
    assert len(found.splitlines()) == 6


@pytest.mark.parametrize("name", ["tables", "window_from", "dry_run", "other"])
def test_a_very_long_value_is_refused_in_a_short_message(name):
    long = "x" * 20_000
    params = {"window_to": "2026-01-01T00:00:00Z", name: long}
    assert len(faults({**params, "tables": [long]})) < 700


def test_a_run_survives_its_way_through_xcom():
    run = check({"tables": ["orders"], "dry_run": True})
    assert Run.from_xcom(run.to_xcom()) == run
    assert run.name == "sales_incremental/manual__1"


def test_a_run_that_another_release_pinned_is_read_and_handed_on_whole():
    """Fields of a later release are kept; those of this one that it lacks are empty."""
    told = {**check().to_xcom(), "later": {"deep": [1]}}
    del told["empty_scopes"]
    run = Run.from_xcom(told)
    assert (run.empty_scopes, run.to_xcom()["later"]) == ((), {"deep": [1]})


def test_a_run_that_only_a_newer_release_understands_is_refused_by_name():
    told = {**check().to_xcom(), "format": 2, "written_by": "r9"}
    with pytest.raises(UnreadableState) as refused:
        Run.from_xcom(told)
    assert str(refused.value) == (
        "the pinned run sales_incremental/manual__1 has format 2 (written by release "
        "r9), this release reads 1. Location: the XCom `run` of the task create_cluster of "
        "sales_incremental/manual__1. Deploy a release that reads format 2, such as r9."
    )
    del told["format"], told["key"]
    with pytest.raises(UnreadableState, match="cannot be read: .*'key'"):
        Run.from_xcom(told)


REPROCESS = dag_plan("reprocess")


def test_a_reprocess_chooses_files_by_window_glob_or_quarantine():
    files = ["changes/2.csv", "changes/2026-*/**"]
    found = check({"files": files, "retract_missing": True}, plan=REPROCESS)
    assert (found.files, found.retract_missing) == (tuple(files), True)
    assert check({"quarantined": True}, plan=REPROCESS).quarantined
    window = {"window_from": "2026-01-01 00:00", "window_to": "2026-01-02 00:00"}
    assert (
        check(window, plan=REPROCESS).window and not check(window, plan=REPROCESS).files
    )
    assert Run.from_xcom(found.to_xcom()) == found


@pytest.mark.parametrize(
    "params, fault",
    [
        (
            {},
            "sales_reprocess: no files are chosen. Give at least one of: window_from and",
        ),
        ({"files": [], "quarantined": False}, "sales_reprocess: no files are chosen."),
        ({"retract_missing": True}, "sales_reprocess: no files are chosen."),
        (
            {"files": "a.csv"},
            "files: got 'a.csv', not a list. Give paths or globs below",
        ),
        (
            {"files": ["/a.csv"]},
            "files: got '/a.csv'. Give paths or globs below the table's landing folder",
        ),
        ({"files": ["a", ""]}, "files: got ''. Give paths or globs below"),
        ({"files": ["a\nb"]}, "files: got 'a\\nb'. Give paths or globs below"),
        ({"files": [7]}, "files: got 7. Give paths or globs below"),
        (
            {"files": ["a"] * 101},
            "files: got 101 values; a run allows 100. Give globs, or a window",
        ),
        (
            {"files": ["a" * 1025]},
            "each of 1 to 1,024 printable characters",
        ),
        ({"quarantined": "yes"}, "quarantined: got 'yes'. Choose true or false."),
    ],
)
def test_a_reprocess_without_a_choice_or_with_a_wrong_one_is_refused(params, fault):
    assert fault in faults(params, plan=REPROCESS)


def test_the_interval_of_a_backfill_is_no_choice_of_files():
    day = (datetime(2026, 1, 1, tzinfo=timezone.utc),) * 2
    interval = (day[0], day[1] + timedelta(days=1))
    given = {"run_id": "r", "release": RELEASE, "interval": interval}
    with pytest.raises(RunRefused, match="no files are chosen"):
        check_run(REPROCESS, params={}, **given)
    window = "2026-01-01T00:00:00Z..2026-01-02T00:00:00Z"
    assert check_run(PLAN, params={}, **given).window == window
    asked = check_run(REPROCESS, params={"quarantined": True}, **given)
    assert (asked.quarantined, asked.window) == (True, window)


def test_only_a_reprocess_takes_files():
    for name in ("files", "quarantined", "retract_missing"):
        assert f"{name!r}: unknown param. sales_incremental" in faults({name: None})


def test_scopes_can_be_said_to_be_empty_where_rows_tell_the_scope():
    plan = dag_plan("incremental", domain(snapshot("stock", Scope("region"))))
    asked = check({"empty_scopes": ["us", "ap", "us"]}, plan=plan)
    assert asked.empty_scopes == ("us", "ap")
    assert Run.from_xcom(asked.to_xcom()) == asked
    for wrong in ("us", [7], [""], ["a\nb"]):
        assert "empty_scopes: got " in faults({"empty_scopes": wrong}, plan=plan)
    by_path = Scope("region", pattern="region=([a-z]+)/")
    for spec in (snapshot("stock"), snapshot("stock", by_path)):
        plan = dag_plan("incremental", domain(spec))
        assert "unknown param" in faults({"empty_scopes": ["us"]}, plan=plan)


def test_only_runs_that_take_snapshots_may_accept_losses():
    spec = domain(table("orders"), snapshot("stock"))
    plan = dag_plan("reprocess", spec)
    assert check({"accept_losses": True, "files": ["*"]}, plan=plan).accept_losses
    plan = dag_plan("incremental", spec)
    assert check({"accept_losses": True}, plan=plan).accept_losses
    assert not check(plan=plan).accept_losses
    assert "got 'yes'. Choose true" in faults({"accept_losses": "yes"}, plan=plan)
    others = ("full_load", "maintenance", "rebuild")
    for kind in others:
        plan = dag_plan(kind, spec)
        assert "unknown param" in faults({"accept_losses": True}, plan=plan)


def test_runs_that_pull_messages_may_accept_that_some_are_gone():
    spec = domain(pulled("orders", KafkaTopic("events", "orders")), table("items"))
    plan = dag_plan("incremental", spec)
    assert check({"accept_losses": True}, plan=plan).accept_losses
    no_topic = domain(pulled("orders", JdbcChanges("shop", "orders", "at")))
    for kind, there in (
        ("reprocess", spec),
        ("full_load", spec),
        ("incremental", no_topic),
    ):
        plan = dag_plan(kind, there)
        assert "unknown param" in faults({"accept_losses": True}, plan=plan)


def test_runs_that_pull_by_a_cursor_may_begin_where_they_are_asked_to():
    spec = domain(pulled("orders", JdbcChanges("shop", "orders", "at")))
    plan = dag_plan("incremental", spec)
    for value in ("start", "12", "-1.5", "2026-01-31", "2026-01-31T12:00:00.5"):
        asked = check({"pull_from": value}, plan=plan)
        assert asked.pull_from == value and Run.from_xcom(asked.to_xcom()) == asked
    for wrong in ("1; DROP TABLE x", "2026-02-30", "2026-01-01T25:00:00", 7, "now", ""):
        assert "pull_from: got " in faults({"pull_from": wrong}, plan=plan)
    for kind, there in (("full_load", spec), ("incremental", domain(table("items")))):
        plan = dag_plan(kind, there)
        assert "unknown param" in faults({"pull_from": "start"}, plan=plan)


def test_a_rebuild_verifies_a_share_of_the_keys_where_it_is_asked_to():
    plan = dag_plan("rebuild")
    assert check(plan=plan).verify is None
    assert check({"verify": True}, plan=plan).verify == 1
    assert check({"verify": True, "sample": 0.25}, plan=plan).verify == 0.25
    assert "'verify': unknown param" in faults({"verify": True})


def test_runs_of_products_make_partitions_again_where_there_are_any():
    parted = product("totals", "sales.orders", partition_by=("year", "month"))
    plan = dag_plan("products", domain(table("orders"), parted))
    asked = ["year=2026/month=1", "year=2025", "year=2025"]
    run = check({"partitions": asked}, plan=plan)
    assert run.partitions == ("year=2026/month=1", "year=2025")
    assert Run.from_xcom(run.to_xcom()) == run
    assert check(plan=plan).partitions == ()
    for wrong in (
        *("year=2026", ["2026"], ["year="], ["/year=1"], ["year=1/"], [7]),
        *(["year=1; DROP"], ["a b=1"], ["year=2026/../x"], ["y=" + "1" * 512]),
    ):
        assert "partitions: got " in faults({"partitions": wrong}, plan=plan)
    many = [f"year={number}" for number in range(101)]
    assert "partitions: got 101 values; a run allows 100." in faults(
        {"partitions": many}, plan=plan
    )
    plain = domain(table("orders"), product("totals", "sales.orders"))
    for kind, spec in (("products", plain), ("rebuild", domain(parted))):
        plan = dag_plan(kind, spec)
        assert "unknown param" in faults({"partitions": ["year=1"]}, plan=plan)


@pytest.mark.parametrize("sample", [0, -1, 1.5, "0.1", True, None, float("nan")])
def test_a_sample_that_is_no_share_is_refused(sample):
    found = faults({"verify": True, "sample": sample}, plan=dag_plan("rebuild"))
    assert "sample: got " in found and "a number above 0, up to 1." in found


def test_a_sample_alone_does_not_start_a_rebuild():
    found = faults({"sample": 0.1}, plan=dag_plan("rebuild"))
    assert "sample: got 0.1 without verify, which would rebuild all." in found


def test_an_erase_is_told_the_name_of_its_request():
    plan = dag_plan("erase")
    assert check({"request": "2026-11-21.gdpr_7"}, plan=plan).request == (
        "2026-11-21.gdpr_7"
    )
    assert "'request': unknown param" in faults({"request": "a"})


@pytest.mark.parametrize("name", [None, "", "a/b", "../a", "a b", ["a"], "x" * 129])
def test_a_request_that_is_no_name_is_refused_and_never_shown(name):
    found = faults({"request": name} if name else {}, plan=dag_plan("erase"))
    assert "Give the name of the object <runs>/erase/<domain>/<name>" in found
    assert repr(name) not in found
