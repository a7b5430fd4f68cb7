"""A landing folder is of the domain that its path begins with, which alone can grant it."""

from __future__ import annotations

import pytest

from lake_check.rules.landing_folders import landing_roots_have_tables
from lake_spec.model import JdbcTable, LandingRoot

from tests.unit.lake_check.spec_files import DOMAIN, FEED, SNAPSHOT, changed
from tests.unit.lake_infra.lakes import domain, environment, pulling

SHOP = "tables/shop/orders.yml"


def test_a_table_that_is_pulled_does_not_lie_in_a_root():
    """What is pulled is written below landing."""
    root = (("partner", LandingRoot("s3://partner", ("sales", "sales.t1"))),)
    files = domain("sales", "sales/a", "sales/b")
    place = environment(landing_roots=root)
    assert list(landing_roots_have_tables(place, [files])) == []
    pulled = pulling(files, load_from=JdbcTable("shop", "public.orders"))
    first, second = landing_roots_have_tables(place, [pulled])
    assert first.path == ("landing_roots", "partner", "used_by", 0)
    assert "sales.t0 is pulled, so its files are written below" in first.hint
    assert second.path[-1] == 1 and "sales.t1 is pulled" in second.hint


def test_a_pulled_table_of_another_domain_does_not_lie_in_the_root_of_its_folder():
    root = (("partner", LandingRoot("s3://partner", ("sales",))),)
    moved = pulling(
        domain("shop", "sales/a"), load_from=JdbcTable("shop", "public.orders")
    )
    found = landing_roots_have_tables(
        environment(landing_roots=root), [domain("sales"), moved]
    )
    assert ["shop.t0 is pulled" in each.hint for each in found] == [True]


@pytest.mark.parametrize("used_by, count", [(("sales.t0",), 1), (("sales",), 0)])
def test_all_tables_that_read_a_folder_find_it_in_one_place(used_by, count):
    root = (("partner", LandingRoot("s3://partner", used_by)),)
    place = environment(landing_roots=root)
    domains = [domain("sales", "sales/a"), domain("crm", "sales/a/new")]
    hints = [each.hint for each in landing_roots_have_tables(place, domains)]
    assert len(hints) == count
    assert all("crm.t0 reads 'sales/a/new'" in each for each in hints)


@pytest.fixture
def lake(specs):
    """The specs, with a second domain next to `sales`; the faults of its one table."""
    specs.put("tables/shop/_domain.yml", changed(DOMAIN, {"name": "shop"}))

    def diagnostics(path, base=SNAPSHOT, grants=(), **more):
        settings = {"source.path": path, **more}
        specs.put(SHOP, changed(base, settings))
        own = {"landing_grants": list(grants)} if grants else {}
        specs.put("tables/sales/_domain.yml", changed(DOMAIN, own))
        return specs.diagnostics()

    return diagnostics


def told(path, owner):
    return [
        f"{SHOP}:1: source.path: {path!r} is not below the domain's own landing "
        "folder. Write shop/..., or grant the folder to this domain by landing_grants "
        f"in {owner}/_domain.yml."
    ]


@pytest.mark.parametrize("path", ["shop", "shop/orders", "shop/a/b"])
def test_its_own_folder_and_what_is_below_it_is_a_domain_s(lake, path):
    assert lake(path) == []


@pytest.mark.parametrize(
    "path",
    ["sales", "sales/people", "shops/orders", "shop2", "Shop/orders", "erp/shop"],
)
def test_another_one_is_refused_by_name(lake, path):
    assert lake(path, **{"source.files": "**/*.csv"}) == told(path, path.split("/")[0])
    assert lake(path, FEED) == told(path, path.split("/")[0])


@pytest.mark.parametrize("path", ["../sales", "sales/../shop", "/sales", "./sales", ""])
def test_a_path_that_climbs_is_no_path_at_all(lake, path):
    (diagnostic,) = lake(path)
    assert "Write folders joined by single slashes" in diagnostic


@pytest.mark.parametrize(
    "folder, to, path, is_granted",
    [
        ("sales/people", ["shop"], "sales/people", True),
        ("sales/people", ["moma", "shop"], "sales/people/new", True),
        ("sales", ["shop"], "sales/people", True),
        ("sales/people", ["shop"], "sales", False),
        ("sales/people", ["shop"], "sales/peoples", False),
        ("sales/people", ["moma"], "sales/people", False),
    ],
)
def test_its_owner_alone_grants_it_and_what_is_below(
    lake, folder, to, path, is_granted
):
    found = lake(path, grants=[{"folder": folder, "to": to}])
    assert found == ([] if is_granted else told(path, "sales"))


@pytest.mark.parametrize(
    "folder", ["shop", "shop/orders", "sale", "../sales", "sales2/x"]
)
def test_nobody_grants_the_folder_of_another_domain(lake, folder):
    diagnostics = lake("shop/orders", grants=[{"folder": folder, "to": ["shop"]}])
    assert any("landing_grants[0].folder: got" in each for each in diagnostics)


def test_a_grant_to_nobody_is_refused(lake):
    (diagnostic,) = lake("shop/orders", grants=[{"folder": "sales", "to": []}])
    assert "landing_grants[0].to: got []" in diagnostic


def test_a_domain_with_diagnostics_of_its_own_grants_nothing(lake):
    grants = [{"folder": "sales", "to": ["shop"]}, {"folder": "shop", "to": ["shop"]}]
    diagnostics = lake("sales/people", grants=grants)
    assert [each for each in diagnostics if each.startswith(SHOP)] == told(
        "sales/people", "sales"
    )


def test_what_is_pulled_lands_in_the_domain_s_own_folder_whoever_grants_another(lake):
    pull = {"source.load_from": {"kind": "jdbc", "connection": "erp", "table": "a.b"}}
    grants = [{"folder": "sales", "to": ["shop"]}]
    found = lake("sales/people", FEED, grants, **pull)
    assert [each for each in found if "source.path" in each] == [
        f"{SHOP}:1: source.path: 'sales/people' is not below the domain's own landing"
        " folder. What is pulled is landed: write shop/..."
    ]


def test_one_domain_alone_is_judged_too(lake, specs):
    from lake_check.parsing.loader import load_domain
    from lake_spec.diagnostics.errors import SpecErrors

    lake("sales/people")
    with pytest.raises(SpecErrors, match="own landing folder"):
        load_domain("shop", specs.tables)
    lake("sales/people", grants=[{"folder": "sales", "to": ["shop"]}])
    assert load_domain("shop", specs.tables).name == "shop"
