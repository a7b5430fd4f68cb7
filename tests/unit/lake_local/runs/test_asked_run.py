"""A run is checked against the specs before anything starts."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lake_local.cli.commands import backfill, run
from lake_local.cli.parser import parse
from lake_local.errors import BadRequest
from lake_local.runs import asked_run
from lake_local.workspace.project import find
from lake_local.workspace.specs import specs_of
from tests.unit.lake_check.spec_files import SNAPSHOT, changed


@pytest.fixture(scope="module")
def specs():
    return specs_of(find(), None)


@pytest.mark.parametrize(
    "dag_id, conf",
    [
        ("moma_incremental", {"tables": ["artists"], "accept_losses": True}),
        ("moma_reprocess", {"quarantined": True}),
        ("moma_rebuild", {"verify": True, "sample": 0.1}),
        ("lake_reaper", {}),
        ("lake_proof", {}),
    ],
)
def test_what_a_dag_can_do_passes(specs, dag_id, conf):
    asked_run.check(specs, dag_id, conf)


def test_products_run_with_partitions_that_are_folders():
    clinic = specs_of(find(), find().root / "data/synthea/tables")
    asked = {"tables": ["daily_observations"], "partitions": ["year=2025/month=3"]}
    asked_run.check(clinic, "clinic_products", asked)
    with pytest.raises(BadRequest, match="partitions: got '2025'. Give folders"):
        asked_run.check(clinic, "clinic_products", {"partitions": ["2025"]})


def test_a_domain_without_products_has_no_dag_of_them(specs):
    with pytest.raises(BadRequest, match="no DAG 'moma_products'"):
        asked_run.check(specs, "moma_products", {})


@pytest.mark.parametrize(
    "dag_id, conf, words",
    [
        ("moma_ful_load", {}, "no DAG 'moma_ful_load'. Did you mean 'moma_full_load'?"),
        ("moma_redo", {}, "It was renamed: write 'moma_reprocess'."),
        (
            "mona_scd2",
            {},
            "no domain 'mona'. Did you mean 'moma'? Domains are read from",
        ),
        ("shop_full_load", {}, "no domain 'shop'. Choose one of: moma. Domains"),
        ("moma_continuous", {}, "no DAG 'moma_continuous'."),
        ("qqqqqqq", {}, "no DAG 'qqqqqqq'. Choose one of: moma_continuous, "),
        ("_scd2", {}, "no DAG '_scd2'."),
        (
            *("moma_incremental", {"tables": ["artists", "artits"]}),
            "tables: 'artits' is not a table of moma. Did you mean 'artists'?",
        ),
        (
            *("moma_incremental", {"tables": ["qqq"]}),
            "'qqq' is not a table of moma. Choose from: artists, loans.",
        ),
        (
            *("moma_full_load", {"dry_rnu": True}),
            "'dry_rnu': unknown param. Did you mean 'dry_run'? moma_full_load takes:",
        ),
        (
            *("moma_reprocess", {"withdraw_missing": True}),
            "It was renamed: write 'retract_missing'. moma_reprocess takes:",
        ),
        ("moma_scd2", {"files": ["a"]}, "no DAG 'moma_scd2'"),
        ("moma_rebuild", {"files": ["a"]}, "'files': unknown param."),
    ],
)
def test_what_no_dag_can_do_is_refused_with_the_nearest(specs, dag_id, conf, words):
    with pytest.raises(BadRequest) as refused:
        asked_run.check(specs, dag_id, conf)
    assert words in str(refused.value)


def test_a_domain_with_mistakes_is_refused_with_them(tmp_path):
    (tmp_path / "shop").mkdir()
    words = {"name": "shop", "description": "What the shop has", "owner": "shop-data"}
    (tmp_path / "shop" / "_domain.yml").write_text(json.dumps({**words, "ownr": "x"}))
    with pytest.raises(
        BadRequest, match="ownr: unknown key.*\nFix them, then check again"
    ):
        asked_run.check(specs_of(find(), tmp_path), "shop_full_load", {})


@pytest.fixture
def checkout(tmp_path):
    """A project with one domain of one table, and no DAG file."""
    tables = tmp_path / "dags" / "tables"
    (tables / "shop").mkdir(parents=True)
    words = {"name": "shop", "description": "What the shop has", "owner": "shop-data"}
    (tables / "shop" / "_domain.yml").write_text(json.dumps(words))
    orders = changed(SNAPSHOT, {"source.path": "shop/orders"})
    (tables / "shop" / "orders.yml").write_text(json.dumps(orders))
    (tmp_path / "dags" / "lake.py").touch()
    found = replace(find(), root=tmp_path)
    return replace(specs_of(find(), None), project=found, tables=tables)


def test_a_domain_without_tables_has_no_dag_to_run(checkout):
    (checkout.tables / "shop" / "orders.yml").unlink()
    with pytest.raises(BadRequest, match="no DAG 'shop_full_load'"):
        asked_run.check(checkout, "shop_full_load", {})


def test_a_domain_without_its_dag_file_is_refused_with_how_to_make_it(checkout):
    with pytest.raises(BadRequest, match="dags/shop.py is missing.* sed s/moma/shop/g"):
        asked_run.check(checkout, "shop_full_load", {})


@pytest.mark.parametrize("name", ["shop.py", "all_domains.py"])
def test_a_dag_file_that_may_build_the_domain_is_enough(checkout, name):
    (checkout.project.dags / name).touch()
    asked_run.check(checkout, "shop_full_load", {})


@pytest.mark.parametrize("end", ["2016-05-01T00:00:00Z", "2016-04-30T00:00:00Z"])
def test_a_window_that_does_not_end_after_its_start_is_refused(checkout, end):
    (checkout.project.dags / "shop.py").touch()
    window = {"window_from": "2016-05-01T00:00:00Z", "window_to": end}
    with pytest.raises(BadRequest, match=f"window_to {end} is not after window_from"):
        asked_run.check(checkout, "shop_full_load", window)


@pytest.mark.parametrize(
    "command, argv",
    [
        (run, ["run", "moma_ful_load"]),
        (
            backfill,
            ["backfill", "moma_ful_load", "--from", "2016-01-01", "--to", "2016-02-01"],
        ),
    ],
)
def test_nothing_starts_for_what_is_refused(command, argv, monkeypatch, tmp_path):
    monkeypatch.setattr(command.session, "opened", None)
    args = parse(["--state-dir", str(tmp_path), *argv])
    with pytest.raises(BadRequest, match="no DAG 'moma_ful_load'"):
        command.run(args)
