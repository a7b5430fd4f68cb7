"""The arguments of `show` become a request for the PySpark program."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from lake_local.cli.commands.show import request_of
from lake_local.cli.parser import parse
from lake_local.errors import BadRequest
from lake_local.show.request import Validity, from_json
from lake_local.workspace.project import find
from lake_local.workspace.specs import specs_of


@pytest.fixture(scope="module")
def specs():
    return specs_of(find(), None)


def request(specs, *argv):
    return request_of(parse(["show", *argv]), specs)


def test_without_options_it_asks_the_current_table(specs):
    asked = request(specs, "moma.artists")
    assert asked.path == "s3://lake/warehouse/moma/artists/current"
    assert (asked.layer, asked.limit, asked.order) == (
        "current",
        20,
        ("constituent_id",),
    )


def test_a_timestamp_of_validity_asks_the_history_by_its_own_column_names(specs):
    asked = request(specs, "moma.artists", "--valid-at", "2016-04-01")
    assert asked.layer == "history"
    assert asked.valid == Validity(
        "2016-04-01T00:00:00+00:00", "valid_from", "valid_to", "is_deleted"
    )


def test_a_request_survives_the_way_to_the_other_process(specs):
    asked = request(
        specs,
        *("moma.artists", "--valid-at", "2016-04-01", "--columns", "a,b", "c"),
        *("--between", "2026-01-01", "2026-02-01", "--where", "a > 1", "--count"),
    )
    assert from_json(json.loads(json.dumps(asdict(asked)))) == asked


def test_programs_get_all_rows_unless_they_say_otherwise(specs):
    assert request(specs, "moma.artists", "--format", "csv").limit == 0
    assert request(specs, "moma.artists", "--format", "csv", "--limit", "5").limit == 5


@pytest.mark.parametrize(
    "argv, message",
    [
        (["moma.artits"], "no table 'moma.artits'. Did you mean 'moma.artists'"),
        (["nothing"], "no table 'nothing'"),
        (["../etc.passwd"], "no table '../etc.passwd'"),
        (["moma.artists", "--as-of", "noon"], "--as-of: not a valid timestamp: 'noon'"),
        (["moma.artists", "--limit", "-1"], "--limit: got -1. Write"),
        (["moma.artists", "--format", "parquet"], "Add -o FILE"),
        (
            ["moma.artists", "--format", "parquet", "-o", "f", "--count"],
            "--format parquet with --count: a number is not written",
        ),
        (
            ["moma.artists", "--layer", "current", "--valid-at", "2016-04-01"],
            "--valid-at with --layer current: only the history",
        ),
        (
            ["moma.artists", "--between", "2026-02-01", "2026-01-01"],
            "the first time is not before the second",
        ),
        (
            ["moma.artists", "--through", "delta", "--layer", "quarantine"],
            "--through delta: the quarantine of moma.artists is kept as Hudi only",
        ),
        (
            [
                *("moma.artists", "--through", "duckdb"),
                *("--between", "2026-01-01", "2026-02-01"),
            ],
            "--through duckdb: --between is answered by Hudi only",
        ),
    ],
)
def test_what_cannot_be_answered_is_refused_with_the_way_out(specs, argv, message):
    with pytest.raises(BadRequest, match=message.replace(".", r"\.")):
        request(specs, *argv)


@pytest.fixture
def shop(tmp_path):
    """Specs with a dimension of two tables."""
    home = tmp_path / "sales"
    home.mkdir()
    words = {"description": "What the shop knows of them", "owner": "sales-data"}
    feed = {"kind": "feed", "format": {"type": "csv"}}
    columns = {"id": "int", "at": "timestamp"}
    tables = {
        "customers": {"source": {**feed, "path": "sales/customers"}},
        "addresses": {"source": {**feed, "path": "sales/addresses"}},
    }
    for table in tables.values():
        table.update(columns=columns, order_by=["at"])
    joined = {"table": "addresses", "columns": ["at"], "rename": {"at": "moved_at"}}
    source = {"kind": "dimension", "main": "customers", "joined": joined}
    tables["dim_customer"] = {"source": source}
    (home / "_domain.yml").write_text(json.dumps({"name": "sales", **words}))
    for name, table in tables.items():
        text = json.dumps({"name": name, **words, "key": ["id"], **table})
        (home / f"{name}.yml").write_text(text)
    return specs_of(find(), tmp_path)


def test_a_dimension_has_a_current_and_a_history(shop):
    now = request(shop, "sales.dim_customer", "--as-of", "2026-01-31")
    assert now.path == "s3://lake/warehouse/sales/dim_customer/current"
    then = request(shop, "sales.dim_customer", "--valid-at", "2026-01-31")
    assert (then.layer, then.order) == ("history", ("id", "valid_from"))


@pytest.fixture
def clinic():
    """Specs whose products are plain Parquet."""
    return specs_of(find(), find().root / "data" / "synthea" / "tables")


def test_a_table_of_plain_parquet_is_read_without_hudi(clinic):
    asked = request(clinic, "clinic.symptom_encounters", "--as-of", "2026-01-31")
    assert (asked.is_plain, asked.as_of) == (True, "20260131000000000")
    assert not request(clinic, "clinic.observations").is_plain


@pytest.mark.parametrize(
    "argv, words",
    [
        (["--between", "2026-01-01", "2026-02-01"], "does not say when a row was"),
        (["--through", "delta"], "is not published as anything else"),
    ],
)
def test_plain_parquet_has_neither_times_of_rows_nor_other_formats(clinic, argv, words):
    with pytest.raises(BadRequest, match=words):
        request(clinic, "clinic.symptom_encounters", *argv)


@pytest.mark.parametrize("layer", ["changes", "history", "quarantine"])
def test_a_product_has_a_current_alone(shop, layer):
    words = {"description": "Customers by their moves", "owner": "sales-data"}
    source = {"kind": "product", "from": "sales.customers"}
    table = {"name": "moves", **words, "key": ["id"], "columns": {"id": "int"}}
    file = shop.tables / "sales" / "moves.yml"
    file.write_text(json.dumps({**table, "source": source}))
    path = "s3://lake/warehouse/sales/moves/current"
    assert request(shop, "sales.moves").path == path
    message = (
        f"is a product and has no {layer}. Show its current, or the {layer} of what"
    )
    with pytest.raises(BadRequest, match=message):
        request(shop, "sales.moves", "--layer", layer)


@pytest.mark.parametrize("layer", ["changes", "quarantine"])
def test_a_dimension_has_no_other_layer(shop, layer):
    message = (
        f"sales.dim_customer is a dimension and has no {layer}. Show those of sales.customers and"
        " sales.addresses."
    )
    with pytest.raises(BadRequest, match=message):
        request(shop, "sales.dim_customer", "--layer", layer)
