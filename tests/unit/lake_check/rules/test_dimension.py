"""A dimension is judged alone and next to the two tables that it is made of.

The shop's customers come as a feed (`customers`), their addresses as snapshots
(`addresses`); both have a column `updated_at`.
"""

import re
from pathlib import Path

import pytest

from lake_check.parsing.loader import load_domain
from lake_spec.model import DimensionTable, Side, TableSpec
from lake_spec.model.json_codec import from_data, to_data

from tests.unit.lake_check.spec_files import FEED, LEFT_OUT, SNAPSHOT, changed

CUSTOMERS = changed(
    FEED,
    {
        "name": "customers",
        "source.path": "sales/customers",
        "columns": {"id": "int", "name": "string", "updated_at": "timestamp"},
        "key": ["id"],
    },
)
ADDRESSES = changed(
    SNAPSHOT,
    {
        "name": "addresses",
        "source.path": "sales/addresses",
        "columns": {"id": "integer", "city": "string", "updated_at": "timestamp"},
        "key": ["id"],
    },
)
DIMENSION = {
    "name": "dim_customer",
    "description": "Customers with the address of the same time",
    "owner": "sales-data",
    "source": {
        "kind": "dimension",
        "main": "customers",
        "joined": {"table": "addresses", "rename": {"updated_at": "moved_at"}},
    },
    "key": ["id"],
}


@pytest.fixture
def shop(specs):
    specs.put("tables/sales/customers.yml", CUSTOMERS)
    specs.put("tables/sales/addresses.yml", ADDRESSES)
    return specs


def diagnostics_of(shop, changes=None, table="dim_customer", base=DIMENSION):
    """The faults of all files with these changes of one, without their lines."""
    shop.put("tables/sales/dim_customer.yml", DIMENSION)
    shop.put(f"tables/sales/{table}.yml", changed(base, changes or {}))
    return [
        re.sub(r"^tables/sales/(\w+).yml:1: ", "", each) for each in shop.diagnostics()
    ]


def test_a_dimension_of_a_feed_and_of_snapshots_is_sound(shop):
    assert diagnostics_of(shop) == []
    (spec,) = [
        t
        for t in load_domain("sales", shop.tables).tables
        if isinstance(t, DimensionTable)
    ]
    assert spec.source.main == Side("customers")
    assert spec.source.joined.rename == (("updated_at", "moved_at"),)
    assert from_data(TableSpec, to_data(spec)) == spec


@pytest.mark.parametrize(
    "key, value, takers",
    [
        ("columns", {"id": "int"}, "a snapshot, a feed or a product"),
        ("order_by", ["updated_at"], "a feed"),
        ("effective_at", "updated_at", "a snapshot or a feed"),
        ("load_effective_at", "1900-01-01", "a snapshot or a feed"),
        ("future_dates", True, "a snapshot or a feed"),
    ],
)
def test_what_is_said_of_landing_files_is_refused(shop, key, value, takers):
    (diagnostic,) = diagnostics_of(shop, {key: value})
    assert diagnostic == (
        f"{key}: no key of a dimension. Remove it: a dimension has no landing files, its "
        f"two tables define this. Only {takers} takes it."
    )


def test_quality_rules_and_the_streamer_are_refused(shop):
    rules = [{"column": "city", "not_null": True}]
    streamer, quality = diagnostics_of(shop, {"quality": rules, "engine": "streamer"})[
        ::-1
    ]
    assert streamer.startswith("engine: got 'streamer'. Choose one of: pyspark.")
    assert quality.startswith("quality: no key of a dimension. Remove it: ")


@pytest.mark.parametrize(
    "key, takers",
    [
        ("path", "a snapshot or a feed"),
        ("files", "a snapshot"),
        ("operation", "a feed"),
    ],
)
def test_settings_of_other_sources_are_unknown_to_it(shop, key, takers):
    (diagnostic,) = diagnostics_of(shop, {f"source.{key}": "x"})
    assert diagnostic == (
        f"source.{key}: unknown key. source takes: main, joined. Only {takers} takes it."
    )


@pytest.mark.parametrize(
    "changes, message",
    [
        (
            {"source.main": "custmers"},
            "source.main.table: unknown table 'custmers'. Did you mean 'customers'? "
            "Other tables of sales: addresses, customers, orders.",
        ),
        (
            {"source.joined": "customers"},
            "source.joined.table: got 'customers'. That is the main table: name two other"
            " tables of the domain.",
        ),
        (
            {"source.main": "dim_customer"},
            "source.main.table: got 'dim_customer'. That is the dimension itself: name two"
            " other tables of the domain.",
        ),
        (
            {"key": ["name"]},
            "key: got ['name']. Write the key of the main table: [id].",
        ),
        (
            {"source.joined.columns": ["city", "town"]},
            "source.joined.columns[1]: addresses has no column 'town'. Its columns: id,"
            " city, updated_at.",
        ),
        (
            {"source.joined.rename": {"ciy": "town", "updated_at": "moved_at"}},
            "source.joined.rename.ciy: addresses has no column 'ciy'. Did you mean 'city'?"
            " Its columns: id, city, updated_at.",
        ),
        (
            {"source.joined.columns": ["city"]},
            "source.joined.rename.updated_at: got 'updated_at'. Add it to `columns`, "
            "or remove it: the dimension does not show it.",
        ),
        (
            {"source.joined.rename": LEFT_OUT},
            "source.joined.table: got 'addresses'. Its column 'updated_at' would be"
            " 'updated_at', which is a column of customers: write rename: {updated_at:"
            " addresses_updated_at}, or list the columns to show without it in `columns`.",
        ),
        (
            {"source.joined.rename.city": "moved_at"},
            "source.joined.table: got 'addresses'. Its column 'updated_at' would be"
            " 'moved_at', which is a column of addresses: write rename: {updated_at:"
            " addresses_updated_at}, or list the columns to show without it in `columns`.",
        ),
        (
            {"history.columns.valid_to": "city"},
            "source.joined.table: got 'addresses'. Its column 'city' would be 'city', which"
            " is a column that the lake adds: write rename: {city: addresses_city}, or list"
            " the columns to show without it in `columns`.",
        ),
        (
            {"source.joined.rename.city": "valid_to"},
            "source.joined.rename.city: got 'valid_to'. The lake adds a column of "
            "that name: choose another name.",
        ),
        (
            {"source.joined.rename.id": "address_id"},
            "source.joined.rename.id: got 'address_id'. Remove it: a key column keeps "
            "its name in a dimension.",
        ),
        (
            {"source.joined.rename.city": "The City"},
            "source.joined.rename.city: got 'The City'. Write 1 to 63 of a-z, 0-9",
        ),
        (
            {"history.track": ["city", "updatd_at"]},
            "history.track[1]: 'updatd_at' is not a column of the dimension. Did you "
            "mean 'updated_at'? Columns of the dimension: id, name, updated_at, city, "
            "moved_at.",
        ),
    ],
)
def test_what_does_not_fit_its_tables_is_told(shop, changes, message):
    diagnostics = [
        each for each in diagnostics_of(shop, changes) if each.startswith(message)
    ]
    assert len(diagnostics) == 1


def test_a_dimension_of_a_dimension_is_refused(shop):
    chain = {"name": "dim_more", "source.main": "dim_customer"}
    assert diagnostics_of(shop, chain, table="dim_more") == [
        "source.main.table: got 'dim_customer'. It is a dimension: name a table that "
        "has landing files."
    ]


@pytest.mark.parametrize(
    "changes, message",
    [
        (
            {"key": ["id", "city"]},
            "Its key is [id, city], the key of customers is [id]: give both tables "
            "the same key columns in the same order.",
        ),
        (
            {"columns.id": "long"},
            "Its key column 'id' is long, in customers it is int: give both the same "
            "type.",
        ),
    ],
)
def test_both_tables_have_one_key(shop, changes, message):
    assert diagnostics_of(shop, changes, "addresses", ADDRESSES) == [
        f"source.joined.table: got 'addresses'. {message}"
    ]


def test_a_table_with_diagnostics_of_its_own_is_not_called_unknown(shop):
    (diagnostic,) = diagnostics_of(
        shop, {"source.path": "../x"}, "addresses", ADDRESSES
    )
    assert diagnostic.startswith("source.path: got '../x'.")
    shop.put("tables/sales/addresses.yml", "name: [")
    assert all("addresses.yml" in each for each in shop.diagnostics())


def test_the_example_of_the_docs_is_sound(specs):
    page = Path(__file__).parents[4] / "docs/dimensions.md"
    (example,) = re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL)
    columns = {"customer_id": "int", "row_audit_ts": "timestamp"}
    for base, name, shown in (
        (CUSTOMERS, "customer_master", ["name"]),
        (ADDRESSES, "customer_address", ["street", "city"]),
    ):
        changes = {
            "name": name,
            "source.path": f"sales/{name}",
            "columns": {**columns, **dict.fromkeys(shown, "string")},
            "key": ["customer_id"],
        }
        if name == "customer_master":
            changes["order_by"] = ["row_audit_ts"]
        specs.put(f"tables/sales/{name}.yml", changed(base, changes))
    specs.put("tables/sales/dim_customer.yml", example)
    assert specs.diagnostics() == []
