"""The pages of the lake: what they show, to whom, and that files cannot change them."""

from __future__ import annotations

import itertools
import tracemalloc
from io import BytesIO
from types import SimpleNamespace

import pytest

from lake_spec.layout.dag_names import DAG_KINDS
from lake_spec.layout.run_key import run_key
from tests.unit.lake_plugin.conftest import RUN_ID

DAG = "moma_incremental"
RUN = f"{DAG}/{run_key(RUN_ID)}"
HOSTILE = '<script>alert("x")</script>'
STATES = {
    "domain": "moma",
    "runs": {DAG: {"run": RUN, "run_id": RUN_ID, "state": "failed", "problems": []}},
    "tables": {
        "works": {
            "current_rows": 12345,
            "newest_event": "2026-11-20T10:00:00Z",
            "runs": {DAG: {"run": RUN, "run_id": RUN_ID, "at": "2026-11-21T02:10:00Z"}},
        },
        "artists": {
            "runs": {
                DAG: {
                    "run": RUN,
                    "run_id": RUN_ID,
                    "at": "2026-11-21T02:10:00Z",
                    "problems": [f"moma.artists incremental: Bad: {HOSTILE}"],
                    "minutes": 3.25,
                }
            }
        },
    },
}
LOG = "s3://lake/logs/x/j-ABC123/steps/s-1/stderr.gz"
SUMMARY = {
    "domain": "moma",
    "state": "failed",
    "release": "3f9c2a71",
    "causes": [HOSTILE],
    "warnings": [],
    "tables": {"works": {"incremental": {"state": "done", "rows_in": 5}}},
    "stages": {
        "ingestion": {
            "steps": [
                {"name": "ingestion", "state": "FAILED", "reason": "x", "log": LOG}
            ]
        }
    },
}
PATHS = (
    *("/lake/", f"/lake/dags/{DAG}", f"/lake/runs/{DAG}/{RUN_ID}"),
    *("/lake/site/index.html", "/lake/site/domains/moma/index.html"),
)


@pytest.fixture(autouse=True)
def lake(files, monkeypatch):
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    monkeypatch.setenv("LAKE_AIRFLOW", "")
    files.put("tables/moma.json", STATES)
    files.put(f"{RUN}/summary.json", SUMMARY)
    files.put("site/index.html", b"<p>The start page")
    files.put("site/domains/moma/index.html", b"<p>The domain")
    return files


@pytest.mark.parametrize("path", PATHS)
def test_no_page_is_shown_without_a_user(anonymous, files, path):
    reply = anonymous.get(path)
    assert reply.status_code == 401
    assert "moma" not in reply.text and files.reads == 0


def test_every_route_asks_for_a_user(lake_app):
    from lake_pages.access import current_user
    from lake_pages.app import _OPEN

    def asks(dependant):
        return dependant.call is current_user or any(map(asks, dependant.dependencies))

    paths = {route.path: asks(route.dependant) for route in lake_app.routes}
    assert {path for path, asked in paths.items() if not asked} == {*_OPEN, "/session"}


@pytest.mark.parametrize("token", ["", "nonsense", "a.b.c"])
def test_a_bad_token_is_no_user(anonymous, token):
    header = {"Authorization": f"Bearer {token}"}
    assert anonymous.get("/lake/", headers=header).status_code == 401
    assert anonymous.post("/lake/session", headers=header).status_code == 401
    anonymous.cookies.set("_token", token)
    assert anonymous.get("/lake/").status_code == 401


@pytest.mark.parametrize("path", PATHS)
def test_a_user_sees_each_page(browser, path):
    assert browser.get(path).status_code == 200


def test_a_token_that_was_brought_becomes_a_cookie_of_these_pages(anonymous, token_of):
    header = {"Authorization": f"Bearer {token_of()}"}
    reply = anonymous.post("/lake/session", headers=header)
    cookie = reply.headers["set-cookie"].lower()
    assert {"httponly", "path=/lake", "samesite=strict"} <= set(cookie.split("; "))
    assert anonymous.get("/lake/").status_code == 200


def test_who_may_not_see_a_dag_sees_none_of_its_tables(browser, auth, monkeypatch):
    monkeypatch.setattr(type(auth), "is_authorized_dag", lambda *_, **__: False)
    assert "moma" not in browser.get("/lake/").text
    for path in PATHS[1:3] + PATHS[4:]:
        assert browser.get(path).status_code == 403


@pytest.mark.parametrize("kind", DAG_KINDS)
def test_who_may_see_one_dag_of_a_domain_sees_its_tables_and_pages(
    browser, auth, monkeypatch, kind
):
    def sees(*_, details, **__):
        return details.id == f"moma_{kind}"

    monkeypatch.setattr(type(auth), "is_authorized_dag", sees)
    assert "moma.works" in browser.get("/lake/").text
    assert browser.get("/lake/site/domains/moma/index.html").status_code == 200
    assert browser.get("/lake/site/domains/mom/index.html").status_code == 403
    of_run = browser.get(f"/lake/runs/{DAG}/{RUN_ID}").status_code
    assert of_run == (200 if kind == "incremental" else 403)


def test_who_may_not_see_airflow_sees_no_page(browser, auth, monkeypatch):
    monkeypatch.setattr(type(auth), "is_authorized_view", lambda *_, **__: False)
    assert {browser.get(path).status_code for path in PATHS} == {403}


def test_the_tables_are_there_with_problems_first(browser):
    text = browser.get("/lake/").text
    assert text.index("moma.artists") < text.index("moma.works")
    for word in ("12,345", "2026-11-20 10:00", "3.2", "1 with problems", "1 fine"):
        assert word in text


def test_what_files_say_is_escaped_and_no_script_may_run(browser):
    for path in PATHS[:3]:
        reply = browser.get(path)
        assert HOSTILE not in reply.text and "<script" not in reply.text
        assert "script-src" not in reply.headers["content-security-policy"]
        assert "default-src 'none'" in reply.headers["content-security-policy"]
    assert "&lt;script&gt;" in browser.get("/lake/").text


def test_a_run_leads_to_its_cluster_log_cost_and_page(browser, files):
    path = f"/lake/runs/{DAG}/{RUN_ID}"
    text = browser.get(path).text
    assert "#/clusterDetails/j-ABC123" in text
    assert "eu-central-1.console.aws.amazon.com/s3/object/lake?" in text
    assert "artists: 3.2 cluster minutes" in text
    assert "/lake/site/domains/" not in text


def test_a_run_with_a_page_of_the_site_leads_to_it(browser, files):
    files.put(f"site/domains/moma/runs/{RUN}.html", b"<p>The run")
    text = browser.get(f"/lake/runs/{DAG}/{RUN_ID}").text
    link = f"/lake/site/domains/moma/runs/{RUN}.html"
    assert link in text
    assert browser.get(link).text == "<p>The run"


@pytest.mark.parametrize(
    "path",
    [
        "site/%2e%2e/tables/moma.json",
        "site/..%2Ftables%2Fmoma.json",
        "site/a%00b",
        "site/no.html",
        f"runs/{DAG}/never",
        f"runs/{DAG}/..%2F..%2Fsite",
    ],
)
def test_what_is_not_there_is_not_found(browser, path):
    assert browser.get(f"/lake/{path}").status_code == 404


def test_files_are_read_once_in_a_short_time(browser, files):
    browser.get("/lake/")
    reads = files.reads
    browser.get("/lake/")
    assert files.reads == reads


def test_what_was_read_does_not_stay_in_memory(lake_app, monkeypatch):
    from lake_pages import storage

    bodies, clock = [], itertools.count(step=2 * storage.SECONDS)

    def get_object(**_):
        size = storage.LARGEST + 1 if len(bodies) == 9 else 1_000_000
        bodies.append(BytesIO(bytes(size)))
        return {"Body": bodies[-1], "ContentLength": size}

    monkeypatch.setattr(storage, "time", SimpleNamespace(monotonic=clock.__next__))
    store = storage.Store("s3://lake/runs", SimpleNamespace(get_object=get_object))
    tracemalloc.start()
    try:
        read = [len(store.content(f"{n}") or b"") for n in range(10)]
        assert tracemalloc.get_traced_memory()[0] < 2_500_000
    finally:
        tracemalloc.stop()
    assert read == [*[1_000_000] * 9, 0]
    assert all(each.closed for each in bodies)


@pytest.mark.parametrize("content", [b"no JSON", b"[]", b'{"tables": 1, "runs": {}}'])
def test_a_damaged_file_leaves_the_others(browser, files, content):
    files.put("tables/broken.json", content)
    assert "moma.works" in browser.get("/lake/").text


def test_a_large_lake_is_paged(browser, files):
    run = STATES["tables"]["works"]
    tables = {f"t{number:04}": run for number in range(450)}
    files.put("tables/big.json", {**STATES, "tables": tables})
    first, last = browser.get("/lake/").text, browser.get("/lake/?page=3").text
    assert "Page 1 of 3" in first and "Page 3 of 3" in last
    assert "big.t0000" in first and "big.t0449" not in first
    assert len(first.encode()) < 300_000


def test_storage_that_does_not_answer_is_said(browser, files, monkeypatch):
    def refuse(**_):
        from botocore.exceptions import ClientError

        raise ClientError({"Error": {"Code": "AccessDenied"}}, "GetObject")

    monkeypatch.setattr(files, "get_object", refuse)
    reply = browser.get("/lake/")
    assert reply.status_code == 503 and "AccessDenied" in reply.text


def test_an_unset_variable_is_named(lake_app, browser, monkeypatch):
    from lake_pages.storage import store

    lake_app.dependency_overrides.clear()
    store.cache_clear()
    monkeypatch.delenv("LAKE_RUNS", raising=False)
    reply = browser.get("/lake/")
    assert reply.status_code == 503 and "LAKE_RUNS" in reply.text


def test_the_note_of_a_joined_plugin_says_where_the_runs_are(
    lake_app, monkeypatch, tmp_path
):
    """In an Airflow of others no start-up script of ours sets LAKE_RUNS."""
    from lake_pages import storage

    note = tmp_path / "joined.json"
    note.write_text('{"runs": "s3://work/runs", "files": {}}')
    monkeypatch.setattr(storage, "JOINED", note)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    for variable, place in (("", ("work", "runs")), ("s3://own/r", ("own", "r"))):
        monkeypatch.setenv("LAKE_RUNS", variable)
        storage.store.cache_clear()
        found = storage.store()
        assert (found.bucket, found.prefix) == place
    note.write_text("{")
    monkeypatch.delenv("LAKE_RUNS")
    storage.store.cache_clear()
    with pytest.raises(storage.NotSet, match="LAKE_RUNS: got ''"):
        storage.store()
