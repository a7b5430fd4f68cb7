"""`validate` of everything, of a domain, of a file; and of what is not there."""

from __future__ import annotations

import pytest

from lake_local.cli.parser import parse
from lake_local.errors import BadRequest
from lake_local.workspace.project import find
from lake_local.workspace.specs import specs_of
from lake_spec.model import ProductTable

DOMAIN = "name: {0}\ndescription: What the shop knows\nowner: sales-data\n"
TABLE = """\
name: {0}
description: One row for each of them
owner: sales-data
source: {{kind: feed, path: {1}/{0}, format: {{type: csv}}}}
columns: {{id: int, at: timestamp}}
key: [{2}]
order_by: [at]
"""


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """Two domains; sales.orders and shop.carts have a mistake each."""
    root = tmp_path / "tables"
    for domain, table, key in (
        *(("sales", "orders", "nokey"), ("sales", "items", "id")),
        ("shop", "carts", "nokey"),
    ):
        (root / domain).mkdir(parents=True, exist_ok=True)
        (root / domain / "_domain.yml").write_text(DOMAIN.format(domain))
        text = TABLE.format(table, domain, key)
        (root / domain / f"{table}.yml").write_text(text)
    monkeypatch.chdir(tmp_path)
    return root


def with_keys(root):
    """Correct the two specs whose key is not a column."""
    for name in ("sales/orders", "shop/carts"):
        file = root / f"{name}.yml"
        file.write_text(file.read_text().replace("nokey", "id"))


def validated(capsys, *argv):
    args = parse(["validate", *argv])
    code = args.run(args)
    *faults, last = capsys.readouterr().out.splitlines()
    return code, [each.split(":")[0] for each in faults], last


@pytest.mark.parametrize(
    "paths, code, faulty, last",
    [
        (["tables"], 1, ["sales/orders", "shop/carts"], None),
        (["tables/sales"], 1, ["sales/orders"], "3 files: 1 mistake"),
        (["tables/sales/"], 1, ["sales/orders"], "3 files: 1 mistake"),
        (["tables/sales/orders.yml"], 1, ["sales/orders"], "1 file: 1 mistake"),
        (["tables/sales/items.yml"], 0, [], "1 file: no mistakes"),
        (["tables/sales/_domain.yml"], 0, [], "1 file: no mistakes"),
        (
            ["tables/sales/items.yml", "tables/shop"],
            *(1, ["shop/carts"], "3 files: 1 mistake"),
        ),
    ],
)
def test_only_the_mistakes_of_what_is_named(tables, capsys, paths, code, faulty, last):
    found = validated(capsys, *paths)
    assert found[:2] == (code, [f"tables/{each}.yml" for each in faulty])
    assert last in (None, found[2])


def test_without_paths_it_is_the_folder_of_tables(tables, capsys):
    assert validated(capsys, "--tables", "tables") == validated(capsys, "tables")


def test_a_domain_is_named_from_within_its_folder(tables, capsys, monkeypatch):
    monkeypatch.chdir(tables / "sales")
    code, faulty, last = validated(capsys, ".")
    assert (code, len(faulty), last) == (1, 1, "3 files: 1 mistake")


def test_a_domain_without_its_file_is_one(tables, capsys):
    (tables / "shop" / "_domain.yml").unlink()
    _, faulty, _ = validated(capsys, "--tables", "tables", "tables/shop")
    assert faulty == ["tables/shop/_domain.yml", "tables/shop/carts.yml"]


@pytest.mark.parametrize(
    "path, words",
    [
        ("tables/slaes", "no such file or folder. Did you mean 'tables/sales'?"),
        ("tables/slaes/order.yml", "Did you mean 'tables/sales/orders.yml'?"),
        ("tables/sales/orders", "Did you mean 'tables/sales/orders.yml'?"),
        ("nowhere/at/all", "no such file or folder. Write a folder of domains"),
        ("notes.txt", "not a spec. Write a folder of specs, or a file that ends in"),
    ],
)
def test_what_is_no_spec_is_an_error_with_the_nearest_name(tables, path, words):
    (tables.parent / "notes.txt").touch()
    args = parse(["validate", path])
    with pytest.raises(BadRequest) as refused:
        args.run(args)
    assert f"validate {path}: " in str(refused.value) and words in str(refused.value)


@pytest.mark.parametrize("file", ["tables/_defaults.yml", "tables/sales/_defaults.yml"])
def test_defaults_of_all_and_of_a_domain_are_validated_with_the_tables_below(
    tables, capsys, file
):
    (tables.parent / file).write_text("storage: {readable_as: [parquet]}\n")
    code, faulty, last = validated(capsys, file)
    assert (code, last) == (1, "1 file: 1 mistake")
    assert [each.endswith(file) for each in faulty] == [True]


@pytest.mark.parametrize("name", ["times.sql", "by_time.sql"])
def test_mistakes_of_a_sql_file_are_those_of_its_product(
    tables, capsys, monkeypatch, name
):
    with_keys(tables)
    words = "description: Items by their time\nowner: sales-data"
    (tables / "sales" / "times.yml").write_text(
        f"name: times\n{words}\nsource: {{kind: product, sql: {name}}}\n"
        "key: [id]\ncolumns: {id: int}\n"
    )
    sql = tables / "sales" / name
    sql.write_text("SELECT nope AS id FROM {{ current('sales.items') }}")
    faulty = str(sql)
    assert validated(capsys, str(tables))[:2] == (1, [faulty])
    file = str(tables / "sales" / "times.yml")
    assert validated(capsys, file) == (1, [faulty], "1 file: 1 mistake")
    others = (str(tables / "sales" / "items.yml"), str(tables / "shop"))
    assert [validated(capsys, each)[:2] for each in others] == [(0, [])] * 2
    monkeypatch.chdir(tables / "sales")
    code, (found,), last = validated(capsys, ".")
    assert (code, found.endswith(name), last) == (1, True, "4 files: 1 mistake")


def test_a_note_is_printed_with_the_file_that_it_is_about(tables, capsys):
    with_keys(tables)
    words = "description: The item that came last\nowner: sales-data"
    sql = "SELECT max(id) AS id FROM {{ current('sales.items') }}"
    (tables / "sales" / "newest.yml").write_text(
        f"name: newest\n{words}\nsource: {{kind: product, sql: newest.sql}}\n"
        "key: [id]\ncolumns: {id: int}\n"
    )
    (tables / "sales" / "newest.sql").write_text(sql)
    for path in ("tables", "tables/sales", "tables/sales/newest.yml"):
        code, noted, last = validated(capsys, path)
        assert (code, noted) == (0, ["note"]) and last.endswith(": no mistakes")
    both = ("tables/sales/newest.yml", "tables/shop")
    assert validated(capsys, *both) == (0, ["note"], "3 files: no mistakes")
    for path in ("tables/sales/items.yml", "tables/shop"):
        assert validated(capsys, path)[:2] == (0, [])


def test_a_release_of_this_machine_has_the_plans_or_names_the_mistakes(tables, capsys):
    with_keys(tables)
    words = "description: Carts by their time\nowner: sales-data"
    product = tables / "shop" / "times.yml"
    text = f"name: times\n{words}\nsource: {{kind: product, from: sales.items}}\nkey: [id]\n"
    product.write_text(f"{text}columns: {{id: int}}\n")
    grants = "table_grants: [{tables: [items], to: [shop]}]\n"
    (tables / "sales" / "_domain.yml").write_text(DOMAIN.format("sales") + grants)
    specs = specs_of(find(), tables)
    (planned,) = [
        t for t in specs.planned_domains()[1].tables if isinstance(t, ProductTable)
    ]
    assert planned.source.plan.inputs[0].table == "sales.items"
    product.write_text(f"{text}columns: {{id: string}}\n")
    with pytest.raises(BadRequest, match="the products have mistakes:\n.*times.yml:6"):
        specs.planned_domains()
