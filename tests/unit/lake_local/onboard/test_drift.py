"""What `onboard --check` tells of specs and a catalogue that differ."""

from __future__ import annotations

import pytest

from lake_check.parsing.loader import load_domain
from lake_local.onboard.catalog import Catalog, Column, Index, Table
from lake_local.onboard.drift import compare
from lake_local.onboard.origin import JDBC, Origin
from lake_local.onboard.plan import Draft, Request, planned

REQUEST = Request("shop", Origin(JDBC, "shop_db"))
ID, NOTE = Column("id", "integer", False), Column("note", "character varying(20)")
AMOUNT = Column("amount", "numeric(10,2)")
MOVED = Column("updated_at", "timestamp with time zone", False)
KEY = Index("orders_pkey", ("id",), True, True)


def catalog(*columns, key=KEY, name="orders"):
    return Catalog("postgresql", "public", (Table(name, columns, (key,)),))


@pytest.fixture
def specs(tmp_path):
    """The spec that onboard writes of a table of four columns."""
    domain = tmp_path / "shop"
    domain.mkdir()
    words = "name: shop\ndescription: Orders of a shop\nowner: test-team\n"
    (domain / "_domain.yml").write_text(words)
    (draft,) = planned(catalog(ID, NOTE, AMOUNT, MOVED), REQUEST)
    assert isinstance(draft, Draft)
    (domain / "orders.yml").write_text(draft.text.text)
    return load_domain("shop", tmp_path).tables


WIDER = Column("amount", "numeric(12,4)")
TWO = Index("orders_pkey", ("id", "note"), True, True)


@pytest.mark.parametrize(
    "there, told",
    [
        (catalog(ID, NOTE, AMOUNT, MOVED), []),
        (catalog(MOVED, AMOUNT, NOTE, ID), []),
        (
            catalog(ID, Column("remark", "text"), AMOUNT, MOVED),
            ["column note: the table has no note", "not declared: remark"],
        ),
        (
            catalog(ID, NOTE, WIDER, MOVED),
            ["column amount: declared decimal(10,2), and the table's numeric(12,4) is"]
            + [" decimal(12,4)"],
        ),
        (catalog(ID, Column("note", "integer"), AMOUNT, MOVED), []),  # text takes all
        (
            catalog(ID, NOTE, AMOUNT, MOVED, key=TWO),
            ["key: declared id, and the table's is id, note"],
        ),
        (
            catalog(ID, NOTE, AMOUNT, MOVED, name="sales"),
            [
                "the table public.orders is not there, or has no spec: renamed or dropped?"
            ],
        ),
    ],
)
def test_what_differs_is_told_by_column(specs, there, told):
    compared, found = compare(there, REQUEST, list(specs))
    assert compared == 1
    assert "".join(words for _, words in found) == "".join(told)
    assert {name for name, _ in found} <= {"orders"}


def test_tables_of_other_connections_are_not_compared(specs):
    other = Request("shop", Origin(JDBC, "other_db"))
    assert compare(catalog(ID), other, list(specs)) == (0, [])
