"""A step takes the tables that took longest first, and notes what they take."""

import json

import pytest

from lake_spec import VERSION
from lake_spec.facts.table_order import TABLES_AT_ONCE
from lake_spec.model.json_codec import to_data
from lake_spark.step import application
from tests.spark.leased import grant
from tests.unit.lake_airflow.specs import ENVIRONMENT, domain, table

STAGE = ("--stage", "scd2")


@pytest.fixture
def step(tmp_path, spark, monkeypatch):
    """Runs a stage that only notes its tables; they, in the order it took them."""
    taken, pools = [], []

    def note(run):
        taken.append(run.spec.name)
        pools.append(spark.sparkContext.getLocalProperty("spark.scheduler.pool"))

    monkeypatch.setitem(application.STAGES, "scd2", note)
    monkeypatch.setattr(application, "open_session", lambda name: spark)
    at = f"file://{tmp_path}"
    places = {name: f"{at}/{name}" for name in ("landing", "warehouse", "runs")}
    release = {
        "release": "r1",
        "environment": {**to_data(ENVIRONMENT), **places},
        "domain": to_data(domain(*map(table, ("orders", "items", "shops")))),
    }
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "sales.json").write_text(json.dumps(release))
    grant(tmp_path, "sales_scd2/1", domain="sales")
    argv = [
        "--release",
        at,
        "--region",
        "eu-central-1",
        "--domain",
        "sales",
        "--run",
        "sales_scd2/1",
        "--lease-token",
        "1",
    ]
    spark.conf.set(TABLES_AT_ONCE, "1")
    yield lambda *asked: (application.main([*argv, *(asked or STAGE)]), taken)
    spark.conf.unset(TABLES_AT_ONCE)
    # Whatever the order: tables that run at once share the cores.
    assert pools == [f"sales.{name}" for name in taken]


def test_the_order_is_that_of_the_seconds_before(step, tmp_path, capsys):
    noted = tmp_path / "runs" / "timings" / "sales.json"
    noted.parent.mkdir(parents=True)
    noted.write_text('{"scd2": {"orders": 20.0, "items": 300.0}}')
    assert step() == (0, ["shops", "items", "orders"])
    assert (
        "LAKE sales scd2: up to 1 tables at once, in this order: shops, items, orders."
        " Expected by earlier steps: 320 s for 2 of 3." in capsys.readouterr().out
    )
    found = json.loads(noted.read_text())["scd2"]
    assert (found["items"] > 149, found["shops"] < 1) == (True, True)


def test_each_report_has_the_version_of_the_project(step, tmp_path):
    assert step()[0] == 0
    report = tmp_path / "runs" / "sales_scd2" / "1" / "scd2" / "orders.json"
    assert json.loads(report.read_text())["version"] == VERSION


def test_without_any_note_it_is_that_of_the_domain(step):
    assert step() == (0, ["orders", "items", "shops"])


def test_history_follows_in_the_same_step_also_where_a_table_failed(
    step, tmp_path, monkeypatch
):
    def fails(run):
        raise ValueError(f"no file of {run.spec.name}")

    monkeypatch.setitem(application.STAGES, "incremental", fails)
    asked = ("--stage", "incremental", "--then", "scd2", "--tables", "items,shops")
    assert step(*asked) == (1, ["items", "shops"])
    folder = tmp_path / "runs" / "sales_scd2" / "1"
    states = {
        f"{stage}/{table}": json.loads((folder / stage / f"{table}.json").read_text())
        for stage in ("incremental", "scd2")
        for table in ("items", "shops")
    }
    assert {name: each["state"] for name, each in states.items()} == {
        "incremental/items": "failed",
        "incremental/shops": "failed",
        "scd2/items": "nothing_new",
        "scd2/shops": "nothing_new",
    }
    timings = json.loads((tmp_path / "runs" / "timings" / "sales.json").read_text())
    assert set(timings) == {"scd2"}
