"""A feed is enriched from reference tables of its domain: judged alone and next to them.

The shop's orders are given columns of `countries` by their country's name.
"""

import re

import pytest

from lake_check.parsing.loader import load_domain
from lake_spec.model import Enrichment, TableSpec
from lake_spec.model.json_codec import from_data, to_data

from tests.unit.lake_check.spec_files import FEED, SNAPSHOT, changed

COUNTRIES = changed(
    SNAPSHOT,
    {
        "name": "countries",
        "source.path": "sales/countries",
        "columns": {
            "name": "string",
            "continent": "string",
            "status": "string",
            "borders": "array<string>",
        },
        "key": ["name"],
    },
)
ENRICH = {
    "table": "countries",
    "by": {"country": "name"},
    "columns": ["continent", "status"],
    "rename": {"status": "country_status"},
}
ORDERS = changed(FEED, {"columns.country": "string", "source.enrich": [ENRICH]})


def diagnostics_of(specs, enrich=None, table="orders", **others):
    """The faults of all files with these changes, without their lines."""
    specs.put("tables/sales/countries.yml", COUNTRIES)
    orders = changed(ORDERS, {"source.enrich": [{**ENRICH, **(enrich or {})}]})
    specs.put("tables/sales/orders.yml", orders)
    base = orders if table == "orders" else COUNTRIES
    specs.put(f"tables/sales/{table}.yml", changed(base, others.get("changes", {})))
    return [
        re.sub(r"^tables/sales/(\w+).yml:1: ", "", each) for each in specs.diagnostics()
    ]


def test_a_sound_enrichment_says_what_is_given_under_which_name(specs):
    assert diagnostics_of(specs) == []
    orders = {t.name: t for t in load_domain("sales", specs.tables).tables}["orders"]
    assert orders.enrich == (
        Enrichment(
            "countries",
            (("country", "name"),),
            ("continent", "status"),
            (("status", "country_status"),),
        ),
    )
    assert orders.enrich[0].given == (
        ("continent", "continent"),
        ("status", "country_status"),
    )
    assert from_data(TableSpec, to_data(orders)) == orders


def test_history_may_ignore_what_is_given(specs):
    ignored = {"history": {"ignore": ["country_status"]}}
    assert diagnostics_of(specs, changes=ignored) == []


@pytest.mark.parametrize(
    "enrich, message",
    [
        (
            {"table": "countrys"},
            "source.enrich[0].table: unknown table 'countrys'. Did you mean "
            "'countries'? Other tables of sales: countries.",
        ),
        (
            {"table": "orders"},
            "source.enrich[0].table: got 'orders'. That is the table itself: name another"
            " table of the domain.",
        ),
        (
            {"by": {"land": "name"}},
            "source.enrich[0].by.land: 'land' is not a declared column. Declared "
            "columns: order_id, status, amount, is_paid, lines, updated_at, country.",
        ),
        (
            {"by": {"country": "continent"}},
            "source.enrich[0].by: got {'country': 'continent'}. The key of countries "
            "is [name]: give each of its columns once, so that a row matches at most "
            "one row.",
        ),
        (
            {"by": {"order_id": "name"}},
            "source.enrich[0].by.order_id: got 'name'. It is long, and 'name' of"
            " countries is string: give both the same type.",
        ),
        (
            {"columns": ["continents"], "rename": {}},
            "source.enrich[0].columns[0]: countries has no column 'continents'. Did you"
            " mean 'continent'? Its columns: name, continent, status, borders.",
        ),
        (
            {"columns": ["borders"], "rename": {}},
            "source.enrich[0].columns[0]: got 'borders'. It is of type array: give a column"
            " with single values.",
        ),
        (
            {"rename": {}},
            "source.enrich[0].columns[1]: got 'status'. That is a column of this table:"
            " write rename: {status: countries_status}.",
        ),
        (
            {"rename": {"status": "lake_key"}},
            "source.enrich[0].rename.status: got 'lake_key'. That is reserved, as is "
            "every name that begins with lake_: write rename: "
            "{status: countries_status}.",
        ),
        (
            {"columns": ["continent"]},
            "source.enrich[0].rename.status: got 'status'. Add it to `columns`, or "
            "remove it: rows do not get it.",
        ),
    ],
)
def test_what_does_not_fit_is_told(specs, enrich, message):
    assert diagnostics_of(specs, enrich) == [message]


def test_the_streamer_joins_no_tables(specs):
    (diagnostic,) = diagnostics_of(specs, changes={"engine": "streamer"})
    assert diagnostic == (
        "engine: got 'streamer'. Rows for HoodieStreamer are prepared before any table of "
        "the run is built, so before its reference tables: write engine: pyspark, or "
        "remove source.enrich."
    )


def test_a_reference_table_declares_its_columns(specs):
    (diagnostic,) = diagnostics_of(specs, table="countries", changes={"columns": {}})
    assert diagnostic == (
        "source.enrich[0].table: got 'countries'. It declares no columns, so their "
        "types are unknown: declare them."
    )
