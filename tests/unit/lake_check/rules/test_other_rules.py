"""Rules on domains, and on tables against each other."""

import pytest

from tests.unit.lake_check.spec_files import (
    DOMAIN,
    ENVIRONMENT,
    FEED,
    SNAPSHOT,
    changed,
    diagnostics_of_file,
)

TOPIC = "arn:aws:sns:eu-central-1:123456789012:lake-failures"


@pytest.mark.parametrize(
    "changes, message",
    [
        (
            {"name": "shop"},
            "name: got 'shop'. Its file or folder is named 'sales': write `name: s",
        ),
        (
            {"name": "sales_iceberg"},
            "name: got 'sales_iceberg'. The Glue database of this name has the tables",
        ),
        (
            {"description": "Orders"},
            "description: got 'Orders'. Write more than 15 characters that say what it",
        ),
        (
            {"owner": "airflow"},
            "owner: got 'airflow'. Name a team in more than 5 characters",
        ),
        (
            {"contact": "javascript:alert(1)"},
            "contact: got 'javascript:alert(1)'. Write https://..., an address of mail",
        ),
        ({"cluster": "../x"}, "cluster: got '../x'. Write 1 to 63 of a-z"),
        (
            {"cluster": "standart"},
            "cluster: unknown cluster 'standart'. Did you mean",
        ),
        (
            {"clusters": {"full_load": "lrage"}},
            "clusters.full_load: unknown cluster 'lrage'. Clusters: standard.",
        ),
        (
            {"clusters": {"full_laod": "standard"}},
            "clusters.full_laod: unknown key. Did you mean 'full_load'?",
        ),
        (
            {"clusters": {"rebuild": "../x"}},
            "clusters.rebuild: got '../x'. Write 1 to 63 of a-z",
        ),
        (
            {"clusters": {"scd2": "standard"}},
            "clusters.scd2: got 'standard'. History has no DAG of its own",
        ),
        ({"tags": ["a", "{{ ds }}"]}, "tags[1]: got '{{ ds }}'. Write 1 to 100"),
        ({"schedules.incremental": "0 3 * *"}, "got '0 3 * *'. Write five fields with"),
        (
            {"notifications.topic": "arn:aws:sqs:eu-central-1:1:x"},
            "notifications.topic: got 'arn:aws:sqs:eu-central-1:1:x'. Write the",
        ),
        (
            {"notifications.events": ["success"]},
            "notifications.events[0]: got 'success'. Choose one of: failure, recov",
        ),
        ({"stage_hours": 0}, "stage_hours: got 0. Choose a number from 1 to 168."),
        ({"stage_hours": 169}, "stage_hours: got 169. Choose a number from 1 to 168."),
        (
            {"history_runs": "own"},
            "history_runs: got 'own'. Did you mean 'own_dag'? Choo",
        ),
    ],
)
def test_domains(specs, changes, message):
    found = diagnostics_of_file(specs, "tables/sales/_domain.yml", DOMAIN, changes)
    assert any(each.startswith(message) or message in each for each in found)


def test_a_domain_with_schedules_and_a_topic_passes(specs):
    changes = {
        "schedules": {"incremental": "*/15 6-22 * * mon-fri", "maintenance": "@daily"},
        "notifications.topic": TOPIC,
        "tags": ["shop", "team:sales"],
    }
    assert diagnostics_of_file(specs, "tables/sales/_domain.yml", DOMAIN, changes) == []


def test_a_stage_may_take_as_long_as_its_clusters_live(specs):
    file = "tables/sales/_domain.yml"
    specs.put("clusters/short.yml", {"name": "short", "max_hours": 12})
    mixed = {"clusters": {"rebuild": "short"}}
    assert diagnostics_of_file(specs, file, DOMAIN, {"stage_hours": 24}) == []
    assert diagnostics_of_file(specs, file, DOMAIN, {**mixed, "stage_hours": 12}) == []
    assert diagnostics_of_file(specs, file, DOMAIN, {**mixed, "stage_hours": 13}) == [
        "stage_hours: a stage of sales may take 13 hours (stage_hours). The cluster "
        "'short' is terminated after max_hours: 12: choose up to 12 hours, a greater "
        "max_hours, or another cluster."
    ]


def test_the_hours_of_a_stage_fit_the_one_cluster_of_an_environment(specs):
    specs.put("clusters/short.yml", {"name": "short", "max_hours": 12})
    specs.put("environments/dev.yml", changed(ENVIRONMENT, {"cluster": "short"}))
    file = "tables/sales/_domain.yml"
    (found,) = diagnostics_of_file(specs, file, DOMAIN, {"stage_hours": 20})
    told = "environments/dev.yml:1: cluster: a stage of sales may take 20 hours"
    assert found.startswith(told)


def test_a_domain_that_says_no_hours_may_have_a_cluster_that_lives_shorter(specs):
    specs.put("clusters/short.yml", {"name": "short", "max_hours": 6})
    file = "tables/sales/_domain.yml"
    assert diagnostics_of_file(specs, file, DOMAIN, {"cluster": "short"}) == []


def test_two_tables_cannot_take_the_same_files(specs):
    specs.put("tables/sales/returns.yml", changed(FEED, {"name": "returns"}))
    assert specs.diagnostics() == [
        "tables/sales/returns.yml:1: source.load: got 'load/*'. Table sales.orders "
        "reads the same files (sales/orders/load/*): give each table its own files.",
        "tables/sales/returns.yml:1: source.changes: got 'changes/*'. Table "
        "sales.orders reads the same files (sales/orders/changes/*): give each table "
        "its own files.",
    ]


def test_tables_of_other_domains_cannot_take_the_same_files_either(specs):
    specs.put("tables/shop/_domain.yml", changed(DOMAIN, {"name": "shop"}))
    grants = [{"folder": "sales", "to": ["shop"]}]
    specs.put("tables/sales/_domain.yml", changed(DOMAIN, {"landing_grants": grants}))
    same = {"source.path": "sales", "source.files": "orders/load/*"}
    specs.put("tables/shop/orders.yml", changed(SNAPSHOT, same))
    (diagnostic,) = specs.diagnostics()
    assert diagnostic == (
        "tables/shop/orders.yml:1: source.files: got 'orders/load/*'. Table "
        "sales.orders reads the same files (sales/orders/load/*): give each table its "
        "own files."
    )


@pytest.mark.parametrize(
    "suffix", ["_history", "_changes", "_quarantine", "_ro", "_history_ro"]
)
def test_a_table_cannot_be_called_like_a_part_of_another(specs, suffix):
    name = "orders" + suffix
    other = changed(FEED, {"name": name, "source.path": "sales/other"})
    specs.put(f"tables/sales/{name}.yml", other)
    merged = changed(FEED, {"storage.type": "merge_on_read"})
    specs.put("tables/sales/orders.yml", merged)
    assert specs.diagnostics() == [
        f"tables/sales/{name}.yml:1: name: got '{name}'. Table sales.orders uses that "
        "name: choose another."
    ]


def test_a_copy_on_write_table_needs_no_name_that_ends_in_ro(specs):
    other = changed(FEED, {"name": "orders_ro", "source.path": "sales/other"})
    specs.put("tables/sales/orders_ro.yml", other)
    specs.put(
        "tables/sales/orders.yml", changed(FEED, {"storage.type": "copy_on_write"})
    )
    assert specs.diagnostics() == []
