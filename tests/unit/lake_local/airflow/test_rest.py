"""The REST client, against a server that answers as Airflow does."""

from __future__ import annotations

import pytest

from lake_local.airflow.rest import Airflow, ApiError
from tests.unit.lake_local.airflow.fake_server import FakeAirflow

RUN_PATH = "/api/v2/dags/moma_full_load/dagRuns"


@pytest.fixture
def fake():
    server = FakeAirflow()
    yield server
    server.close()


@pytest.fixture
def api(fake):
    return Airflow(fake.url, user="admin", password="pw")


def test_a_run_is_triggered_without_a_logical_date(api, fake):
    fake.answer("POST", RUN_PATH, {})
    api.trigger("moma_full_load", run_id="r1", conf={"dry_run": True})
    method, path, body, token = fake.asked[-1]
    assert body == {"dag_run_id": "r1", "logical_date": None, "conf": {"dry_run": True}}
    assert token == "Bearer t1"


def test_it_signs_in_once_for_many_calls(api, fake):
    fake.answer("GET", "/api/v2/dags/a", {})
    api.dag("a")
    api.dag("a")
    assert [path for _, path, _, _ in fake.asked].count("/auth/token") == 1


def test_a_token_that_ran_out_is_renewed(api, fake):
    fake.answer("GET", "/api/v2/dags/a", {}, status=200)
    api.dag("a")
    fake.answers["GET", "/api/v2/dags/a"] = [
        (401, {"detail": "expired"}),
        (200, {"x": 1}),
    ]
    fake.answers["POST", "/auth/token"] = [(200, {"access_token": "t2"})]
    assert api.dag("a") == {"x": 1}
    assert fake.asked[-1][3] == "Bearer t2"


def test_a_wrong_password_is_told_as_it_is(api, fake):
    fake.answers["POST", "/auth/token"] = [(401, {"detail": "Invalid credentials"})]
    with pytest.raises(ApiError, match="401: Invalid credentials"):
        api.dag("a")


def test_ids_with_signs_stay_one_part_of_the_path(api, fake):
    path = "/api/v2/dags/a%2Fb/dagRuns/manual__2026-01-01T00%3A00%2B00%3A00"
    fake.answer("GET", path, {"state": "running"})
    assert api.run("a/b", "manual__2026-01-01T00:00+00:00")["state"] == "running"


def test_tasks_come_in_the_order_in_which_they_began(api, fake):
    tasks = [
        {"task_id": "later", "start_date": "2026-01-01T00:00:02Z"},
        {"task_id": "waiting", "start_date": None},
        {"task_id": "first", "start_date": "2026-01-01T00:00:01Z"},
    ]
    path = f"{RUN_PATH}/r1/taskInstances?limit=1000"
    fake.answer("GET", path, {"task_instances": tasks})
    found = [each["task_id"] for each in api.tasks("moma_full_load", "r1")]
    assert found == ["first", "later", "waiting"]


def test_a_refused_param_carries_airflows_own_words(api, fake):
    fake.answer(
        "POST", RUN_PATH, {"detail": "'x' is not of type 'boolean'"}, status=400
    )
    with pytest.raises(ApiError, match="not of type 'boolean'") as refused:
        api.trigger("moma_full_load", run_id="r1", conf={"dry_run": "x"})
    assert refused.value.status == 400


def test_details_that_are_lists_are_told_as_json(api, fake):
    fake.answer("POST", RUN_PATH, {"detail": [{"loc": ["conf"]}]}, status=422)
    with pytest.raises(ApiError, match="loc.*conf"):
        api.trigger("moma_full_load", run_id="r1", conf={})


def test_health_needs_no_sign_in(api, fake):
    parts = {"scheduler": {"status": "healthy"}, "triggerer": {"status": None}}
    fake.answer("GET", "/api/v2/monitor/health", parts)
    assert api.health() == {"scheduler": "healthy", "triggerer": "unknown"}
    assert fake.asked[-1][3] is None


def test_a_proxy_of_the_environment_is_not_used(api, fake, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    fake.answer("GET", "/api/v2/dags/a", {"dag_id": "a"})
    assert api.dag("a") == {"dag_id": "a"}


BACKFILL = {"from_date": "2016-03-01T00:00:00Z", "max_active_runs": 3}
MARCH = ["2016-03-01T00:00:00Z", "2016-03-02T00:00:00Z"]


def test_a_backfill_tells_the_dates_of_its_runs(api, fake):
    dates = [{"logical_date": date} for date in reversed(MARCH)]
    fake.answer("POST", "/api/v2/backfills/dry_run", {"backfills": dates})
    fake.answer("POST", "/api/v2/backfills", {"id": 1})
    assert api.backfill("a", BACKFILL) == MARCH
    method, path, body, _ = fake.asked[-1]
    assert (path, body) == ("/api/v2/backfills", {"dag_id": "a", **BACKFILL})


def test_a_backfill_without_an_interval_is_not_made(api, fake):
    fake.answer("POST", "/api/v2/backfills/dry_run", {"backfills": []})
    assert api.backfill("a", BACKFILL) == []
    assert fake.asked[-1][1] == "/api/v2/backfills/dry_run"


def test_runs_are_found_by_their_logical_dates(api, fake):
    query = "logical_date_gte=2016-03-01T00%3A00%3A00Z&logical_date_lte=2016-03-02T00%3A00%3A00Z"
    runs = [{"logical_date": MARCH[0], "dag_run_id": "r1"}]
    fake.answer("GET", f"/api/v2/dags/a/dagRuns?{query}&limit=1000", {"dag_runs": runs})
    assert api.runs_at("a", MARCH) == {MARCH[0]: "r1"}


def test_a_task_is_cleared_whatever_its_state(api, fake):
    fake.answer("POST", "/api/v2/dags/a/clearTaskInstances", {})
    api.clear_task("a", "r1", "incremental")
    body = fake.asked[-1][2]
    assert (body["task_ids"], body["dag_run_id"]) == (["incremental"], "r1")
    assert body["only_failed"] is body["dry_run"] is False
