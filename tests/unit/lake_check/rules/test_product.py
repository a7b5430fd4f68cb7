"""What a product cannot have is refused by its key; defaults of other tables are not."""

import pytest

from lake_check.parsing.loader import load_domain
from lake_spec.model import ProductTable

from tests.unit.lake_check.spec_files import FEED, LEFT_OUT, diagnostics_of_file

PRODUCT = {
    "name": "totals",
    "description": "Totals of the orders of each status",
    "owner": "sales-data",
    "source": {"kind": "product", "sql": "totals.sql"},
    "key": ["status"],
    "columns": {"status": "string", "pieces": "bigint"},
}
SQL = "SELECT status, count(*) AS pieces FROM {{ current('sales.orders') }} GROUP BY status"
FILE = "tables/sales/totals.yml"


@pytest.fixture
def shop(specs):
    specs.put("tables/sales/totals.sql", SQL)
    return specs


def test_a_sound_product_reads_what_its_sql_names(shop):
    assert diagnostics_of_file(shop, FILE, PRODUCT, {}) == []
    spec = {t.name: t for t in load_domain("sales", shop.tables).tables}["totals"]
    assert spec.source.reads == ("sales.orders",)
    assert isinstance(spec, ProductTable) and spec.late_after_hours is None


WRONG = {
    "order_by": (["status"], "a feed"),
    "effective_at": ("status", "a snapshot or a feed"),
    "load_effective_at": ("1900-01-01", "a snapshot or a feed"),
    "future_dates": (True, "a snapshot or a feed"),
    "history.open_end": ("9999-12-31", "a snapshot, a feed or a dimension"),
    "current.deletes": ("soft", "a snapshot, a feed or a dimension"),
}


@pytest.mark.parametrize("key", WRONG)
def test_settings_of_landing_files_are_refused(shop, key):
    value, takers = WRONG[key]
    name = key.split(".")[0]
    assert diagnostics_of_file(shop, FILE, PRODUCT, {key: value})[0] == (
        f"{name}: no key of a product. Remove it: a product has no landing files, deletes "
        f"or history. Only {takers} takes it."
    )


@pytest.mark.parametrize(
    "changes, message",
    [
        (
            {"engine": "streamer"},
            "engine: got 'streamer'. Choose one of: pyspark. Only a feed takes it.",
        ),
        (
            {"columns.status": {"type": "string", "source": ["Status"]}},
            "columns.status.source: got ['Status']. Remove it: a product reads no files; "
            "write it into its SQL.",
        ),
        (
            {"columns.pieces": {"type": "bigint", "dropped": True}},
            "columns.pieces.dropped: got true. Remove it: a product reads no files; write "
            "it into its SQL.",
        ),
        (
            {"columns": LEFT_OUT},
            "columns: missing. List the columns that it makes, each with its type.",
        ),
        (
            {"source.from": "sales.orders"},
            "source: has both `sql` and `from`. Write `sql` with a file, or `from` with a "
            "table.",
        ),
        (
            {"source.where": "TRUE"},
            "source.where: has `where`. It goes with `from` only: write it into the SQL, "
            "or remove it.",
        ),
        (
            {"source.plan": {"sql": "SELECT 1"}},
            "source.plan: unknown key. source takes: sql, from, where, derive, "
            "deduplicate, unknown.",
        ),
        (
            {"source.sql": "../totals.sql"},
            "source.sql: got '../totals.sql'. Write the name of a file next to the spec, "
            "as in totals.sql.",
        ),
        (
            {"source.sql": "total.sql"},
            "source.sql: 'total.sql' cannot be read: No such file or directory. Create "
            "total.sql next to the spec, as text in UTF-8, or correct the name.",
        ),
        (
            {"storage.sort_by": ["amount"]},
            "storage.sort_by[0]: 'amount' is not a declared column. Declared columns: "
            "status, pieces.",
        ),
        (
            {"quality": [{"column": "pieces"}]},
            "quality[0]: has no test. Write exactly one test of: not_null, one_of, "
            "matches, at_least, at_most.",
        ),
    ],
)
def test_what_a_product_cannot_have_is_refused(shop, changes, message):
    found = diagnostics_of_file(shop, FILE, PRODUCT, changes)
    assert [each for each in found if "no product names it" not in each] == [message]


def test_a_product_has_sql_or_from(shop):
    changes = {"source": {"kind": "product"}}
    assert diagnostics_of_file(shop, FILE, PRODUCT, changes) == [
        "source: has neither `sql` nor `from`. Write `sql` with a file, or `from` with a "
        "table."
    ]


FROM = {"kind": "product", "from": "sales.orders"}


@pytest.mark.parametrize(
    "source, message",
    [
        (
            {"from": "orders"},
            "source.from: got 'orders'. Write domain and table, as in sales.orders.",
        ),
        (
            {"unknown": {"sales.orders": {"status": "x"}}},
            "source.unknown: has `unknown`. It goes with `sql` only, for tables that it "
            "joins: remove it.",
        ),
        (
            {"derive": {"peces": "count(*)"}},
            "source.derive.peces: 'peces' is not a declared column. Did you mean "
            "'pieces'? Declare it under `columns`.",
        ),
    ],
)
def test_keys_next_to_from_are_checked(specs, source, message):
    changes = {"source": {**FROM, **source}}
    assert diagnostics_of_file(specs, FILE, PRODUCT, changes) == [message]


def test_a_sql_file_that_no_product_names_is_reported(specs):
    specs.put("tables/sales/totals.sql", SQL)
    assert specs.diagnostics() == [
        "tables/sales/totals.sql: no product names it. Write `sql: totals.sql` into the "
        "source of a product, or remove it."
    ]


def test_a_sql_file_of_another_encoding_is_refused(shop):
    (shop.tables / "sales" / "totals.sql").write_bytes(b"SELECT '\xff'")
    assert diagnostics_of_file(shop, FILE, PRODUCT, {}) == [
        "source.sql: 'totals.sql' cannot be read: not UTF-8. Create totals.sql next to "
        "the spec, as text in UTF-8, or correct the name."
    ]


def test_defaults_that_a_product_does_not_have_are_those_of_other_tables(shop):
    defaults = {
        "history": {"open_end": "9999-12-31"},
        "maintenance": {"keep_commits": 9},
    }
    shop.put("tables/_defaults.yml", defaults)
    assert diagnostics_of_file(shop, FILE, PRODUCT, {}) == []
    spec = {t.name: t for t in load_domain("sales", shop.tables).tables}["totals"]
    assert not hasattr(spec, "history")
    assert spec.maintenance.keep_commits == 9


def test_only_products_are_sorted(specs):
    name = "tables/sales/orders.yml"

    changes = {"storage": {"sort_by": ["status"]}}
    assert diagnostics_of_file(specs, name, FEED, changes) == [
        "storage.sort_by: got ['status']. Only products are sorted: remove it."
    ]


@pytest.mark.parametrize(
    "table, message",
    [
        (
            {
                "source.enrich": [
                    {
                        "table": "totals",
                        "by": {"status": "status"},
                        "columns": ["pieces"],
                    }
                ]
            },
            "source.enrich[0].table: got 'totals'. It is a product: name a table that is "
            "built from landing files only.",
        ),
    ],
)
def test_no_feed_is_enriched_by_a_product(shop, table, message):

    assert diagnostics_of_file(shop, FILE, PRODUCT, {}) == []
    found = diagnostics_of_file(shop, "tables/sales/orders.yml", FEED, table)
    assert found == [message]
