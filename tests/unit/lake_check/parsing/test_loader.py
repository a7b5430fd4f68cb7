"""Specs are found in their folders, whole or not at all."""

from pathlib import Path

import pytest

from lake_check.parsing.loader import (
    load_cluster,
    load_domain,
    load_environment,
    load_lake,
)
from lake_spec.diagnostics.errors import LakeError, NoSuchSpec, SpecErrors

from tests.unit.lake_check.spec_files import FEED, changed


def test_a_lake_holds_domains_with_their_tables_and_clusters(specs):
    customers = changed(FEED, {"name": "customers", "source.path": "sales/customers"})
    specs.put("tables/sales/customers.yml", customers)
    lake = load_lake(specs.tables, clusters=specs.clusters)
    assert list(lake.domains) == ["sales"]
    tables = lake.domains["sales"].tables
    assert [each.full_name for each in tables] == ["sales.customers", "sales.orders"]
    assert list(lake.clusters) == ["standard"]


def test_without_clusters_their_names_are_not_looked_up(specs):
    (specs.clusters / "standard.yml").unlink()
    assert load_lake(specs.tables).clusters == {}
    with pytest.raises(SpecErrors, match="unknown cluster 'standard'. Clusters: none"):
        load_lake(specs.tables, clusters=specs.clusters)


def test_a_domain_is_loaded_without_the_diagnostics_of_others(specs):
    specs.put("tables/shop/_domain.yml", "name: [")
    assert load_domain("sales", specs.tables).name == "sales"
    with pytest.raises(SpecErrors, match="shop/_domain.yml:2: not YAML"):
        load_domain("shop", specs.tables)


def test_an_unknown_domain_is_told_with_the_nearest(specs):
    words = "domain: got 'sale'. Did you mean 'sales'[?] There are: sales[.]"
    with pytest.raises(NoSuchSpec, match=words):
        load_domain("sale", specs.tables)


@pytest.mark.parametrize("name", ["../dev", "/etc/passwd", "", ".", "dev.yml", "a; rm"])
def test_only_names_of_files_become_paths(specs, name):
    specs.put("dev.yml", "outside")
    with pytest.raises(NoSuchSpec, match="There are: dev"):
        load_environment(name, specs.environments)
    with pytest.raises(NoSuchSpec, match="There are: standard"):
        load_cluster(name, specs.clusters)
    with pytest.raises(NoSuchSpec, match="There are: sales"):
        load_domain(name, specs.tables)


def test_a_cluster_and_an_environment_are_loaded_by_name(specs):
    assert load_cluster("standard", specs.clusters).release_label == "emr-7.13.0"
    assert load_environment("dev", specs.environments).landing == "s3://lake/landing"


def test_a_bad_cluster_is_refused(specs):
    specs.put("clusters/standard.yml", "name: standard\nmax_hours: 0\n")
    with pytest.raises(SpecErrors, match="standard.yml:2: max_hours: got 0"):
        load_cluster("standard", specs.clusters)


@pytest.mark.parametrize(
    "name, message",
    [
        (
            "tables/sales/orders.yaml",
            "tables/sales/orders.yaml: not a valid name of a table's file",
        ),
        (
            "tables/sales/_notes.yml",
            "tables/sales/_notes.yml: not a valid name of a table's file",
        ),
        ("tables/sales/more/x.yml", "tables/sales/more: a folder in a domain"),
        ("tables/orders.yml", "tables/orders.yml: a spec outside of any domain"),
        ("tables/_domain.yml", "tables/_domain.yml: a spec outside of any domain"),
        (
            "tables/shop/README.md",
            "tables/shop/_domain.yml: missing. Create this file with `name`, "
            "`description` and",
        ),
        (
            "clusters/small.yaml",
            "clusters/small.yaml: not a valid name of a spec. Name it <name>",
        ),
    ],
)
def test_files_that_would_be_passed_over_are_diagnostics(specs, name, message):
    specs.put(name, "name: x\n")
    (diagnostic,) = specs.diagnostics()
    assert diagnostic.startswith(message)


def test_other_files_and_hidden_ones_are_none_of_ours(specs):
    for name in ("README.md", ".orders.yml.swp", "__pycache__/x.yml"):
        specs.put(f"tables/sales/{name}", "x")
        specs.put(f"tables/{name}", "x")
    assert specs.diagnostics() == []


def test_a_folder_that_is_not_there_is_a_diagnostic(tmp_path):
    with pytest.raises(
        SpecErrors, match="nowhere: No such file or directory. Give a fo"
    ):
        load_lake(tmp_path / "nowhere")


def test_an_unreadable_file_is_a_diagnostic(specs):
    path = specs.tables / "sales/orders.yml"
    path.unlink()
    path.symlink_to("gone.yml")
    assert specs.diagnostics() == [
        "tables/sales/orders.yml: No such file or directory. Make the file readable, or"
        " remove it."
    ]


def test_all_errors_are_lake_errors():
    assert issubclass(SpecErrors, LakeError) and issubclass(NoSuchSpec, LakeError)


def test_the_specs_that_ship_are_sound():
    dags = Path(__file__).parents[4] / "dags"
    lake = load_lake(dags / "tables", clusters=dags / "clusters")
    assert "moma" in lake.domains
    for path in (dags / "environments").glob("*.yml"):
        assert load_environment(path.stem, path.parent).name == path.stem
