"""A compiled domain is the decoded domain, and is used only while it is fresh."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lake_check
import lake_spec
from lake_check.parsing import compiled_domains
from lake_check.parsing.compiled_domains import FILE, compile_domain, read_compiled
from lake_check.parsing.loader import load_domain
from lake_spec.diagnostics.errors import SpecErrors

from tests.unit.lake_check.spec_files import DOMAIN, FEED, changed


@pytest.fixture
def fresh(specs):
    text = compile_domain(specs.tables, "sales")
    specs.put(f"tables/sales/{FILE}", text)
    return specs


def test_the_compiled_domain_is_the_decoded_one(fresh):
    from_compiled = read_compiled(fresh.tables, "sales")
    (fresh.tables / "sales" / FILE).unlink()
    assert from_compiled == load_domain("sales", fresh.tables)


def test_a_fresh_one_is_loaded_without_decoding(fresh):
    path = fresh.tables / "sales" / FILE
    marked = path.read_text().replace("Orders of the shop", "Orders, as compiled")
    path.write_text(marked)
    (table,) = load_domain("sales", fresh.tables).tables
    assert table.description == "Orders, as compiled, one row per order"


@pytest.mark.parametrize(
    "name, content",
    [
        ("sales/orders.yml", changed(FEED, {"description": "Another description"})),
        ("sales/_domain.yml", changed(DOMAIN, {"description": "Another description"})),
        ("sales/new.yml", changed(FEED, {"name": "new", "source.path": "sales/new"})),
        ("_defaults.yml", {"quarantine": {"min_rows": 5}}),
        ("sales/_defaults.yml", {"quarantine": {"min_rows": 5}}),
        (f"sales/{FILE}", "not JSON"),
        (f"sales/{FILE}", {"code": "x", "sources": {}, "domain": {}}),
        (f"sales/{FILE}", []),
    ],
    ids=[
        "table",
        "domain",
        "new",
        "defaults",
        "own-defaults",
        "broken",
        "other-version",
        "a-list",
    ],
)
def test_a_stale_one_is_never_used(fresh, name, content):
    fresh.put(f"tables/{name}", content)
    assert read_compiled(fresh.tables, "sales") is None
    assert load_domain("sales", fresh.tables).name == "sales"


def test_a_table_that_was_removed_makes_it_stale(fresh):
    fresh.put(
        "tables/sales/x.yml", changed(FEED, {"name": "x", "source.path": "sales/x"})
    )
    fresh.put(f"tables/sales/{FILE}", compile_domain(fresh.tables, "sales"))
    (fresh.tables / "sales/x.yml").unlink()
    assert len(load_domain("sales", fresh.tables).tables) == 1


def test_other_code_makes_it_stale(fresh, monkeypatch):
    monkeypatch.setattr(compiled_domains, "code_version", lambda: "of another version")
    assert read_compiled(fresh.tables, "sales") is None


def test_code_of_another_folder_of_the_package_is_other_code(tmp_path):
    for package in (lake_check, lake_spec):
        top = Path(package.__file__).parent
        shutil.copytree(top, tmp_path / top.name)
    before = version_of(tmp_path)
    with (tmp_path / "lake_spec/model/table.py").open("a") as model:
        model.write("# another default\n")
    assert version_of(tmp_path) not in (b"", before)


def version_of(folder):
    """The version of the code of a copy of the packages."""
    code = (
        "from lake_check.parsing.compiled_domains import code_version as v; print(v())"
    )
    command = [sys.executable, "-c", code]
    return subprocess.check_output(command, cwd=folder, env={"PYTHONPATH": str(folder)})


def test_specs_with_diagnostics_are_not_compiled(specs):
    specs.put("tables/sales/orders.yml", "name: orders\n")
    with pytest.raises(SpecErrors, match="orders.yml:1: source: missing"):
        compile_domain(specs.tables, "sales")


def test_the_same_specs_compile_to_the_same_text(specs):
    first = compile_domain(specs.tables, "sales")
    assert compile_domain(specs.tables, "sales") == first
    assert set(json.loads(first)["sources"]) == {
        "../_defaults.yml",
        "_domain.yml",
        "orders.yml",
    }
