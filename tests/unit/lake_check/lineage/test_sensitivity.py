"""Personal columns stay personal where their values are copied to."""

from lake_check.parsing.loader import load_domain
from lake_spec.lineage.sensitivity import ColumnSensitivity
from lake_spec.model import Sensitivity
from tests.unit.lake_check.spec_files import FEED, changed

PERSONAL = {"columns.status": {"type": "string", "sensitivity": "personal"}}


def domain_of(specs, changes):
    specs.put("tables/sales/orders.yml", changed(FEED, changes))
    return load_domain("sales", specs.tables)


def test_a_declared_column_has_its_sensitivity(specs):
    found = ColumnSensitivity(domain_of(specs, PERSONAL).tables)
    assert found.of("sales.orders", "status") is Sensitivity.PERSONAL
    assert found.of("sales.orders", "amount") is Sensitivity.NONE


def test_values_of_a_table_without_personal_columns_may_be_shown(specs):
    domain = domain_of(specs, {})
    found = ColumnSensitivity(domain.tables)
    assert not found.is_guarded("sales.orders")
    assert found.may_show(domain.tables[0], "order_id")


def test_next_to_a_personal_column_neither_keys_nor_unknown_columns_are_shown(specs):
    domain = domain_of(specs, PERSONAL)
    found, (table,) = ColumnSensitivity(domain.tables), domain.tables
    shown = [n for n in (*dict(table.columns), "new") if found.may_show(table, n)]
    assert shown == ["amount", "is_paid", "lines", "updated_at"]


def test_a_product_of_a_guarded_table_shows_only_what_is_followed(specs):
    domain_of(specs, PERSONAL)
    specs.put(
        "tables/sales/big.yml",
        {
            "name": "big",
            "description": "Orders of a large amount",
            "owner": "sales-data",
            "source": {"kind": "product", "from": "sales.orders"},
            "columns": {"order_id": "long", "amount": "decimal(10,2)"},
            "key": ["order_id"],
        },
    )
    domain = load_domain("sales", specs.tables)
    big = next(each for each in domain.tables if each.name == "big")
    assert big.source.reads == ("sales.orders",)
    found = ColumnSensitivity(domain.tables)
    assert found.may_show(big, "amount") and not found.may_show(big, "total")
