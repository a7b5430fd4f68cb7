"""Rules on domains, and on tables against each other."""

import pytest

from .spec_files import DOMAIN, FEED, SNAPSHOT, changed, faults_of_file

TOPIC = "arn:aws:sns:eu-central-1:123456789012:lake-failures"


@pytest.mark.parametrize(
    "changes, message",
    [
        (
            {"name": "shop"},
            "name: got 'shop'. Its place is named 'sales': write `name: s",
        ),
        (
            {"description": "Orders"},
            "description: got 'Orders'. Say in over 15 charact",
        ),
        (
            {"owner": "airflow"},
            "owner: got 'airflow'. Name a team in over 5 characters",
        ),
        ({"cluster": "../x"}, "cluster: got '../x'. A name is 1 to 63 of a-z"),
        (
            {"cluster": "standart"},
            "cluster: no cluster is named 'standart'. Did you mean",
        ),
        (
            {"clusters": {"full_load": "lrage"}},
            "clusters.full_load: no cluster is named 'lrage'. Clusters: standard.",
        ),
        (
            {"clusters": {"full_laod": "standard"}},
            "clusters.full_laod: unknown key. Did you mean 'full_load'?",
        ),
        (
            {"clusters": {"rebuild": "../x"}},
            "clusters.rebuild: got '../x'. A name is 1 to 63 of a-z",
        ),
        (
            {"clusters": {"scd2": "standard"}},
            "clusters.scd2: got 'standard'. There is no DAG of its own for history",
        ),
        ({"tags": ["a", "{{ ds }}"]}, "tags[1]: got '{{ ds }}'. A tag is 1 to 100"),
        ({"schedules.incremental": "0 3 * *"}, "got '0 3 * *'. Write five fields with"),
        (
            {"notifications.topic": "arn:aws:sqs:eu-central-1:1:x"},
            "notifications.topic: got 'arn:aws:sqs:eu-central-1:1:x'. Write the",
        ),
        (
            {"notifications.events": ["success"]},
            "notifications.events[0]: got 'success'. Choose one of: failure, recov",
        ),
        (
            {"history_runs": "own"},
            "history_runs: got 'own'. Did you mean 'own_dag'? Choo",
        ),
    ],
)
def test_domains(specs, changes, message):
    found = faults_of_file(specs, "tables/sales/_domain.yml", DOMAIN, changes)
    assert any(each.startswith(message) or message in each for each in found)


def test_a_domain_with_schedules_and_a_topic_passes(specs):
    changes = {
        "schedules": {"incremental": "*/15 6-22 * * mon-fri", "maintenance": "@daily"},
        "notifications.topic": TOPIC,
        "tags": ["shop", "team:sales"],
    }
    assert faults_of_file(specs, "tables/sales/_domain.yml", DOMAIN, changes) == []


def test_two_tables_cannot_take_the_same_files(specs):
    specs.put("tables/sales/returns.yml", changed(FEED, {"name": "returns"}))
    assert specs.faults() == [
        "tables/sales/returns.yml:1: source.load: got 'load/*'. Table sales.orders takes"
        " the same files (sales/orders/load/*): give each its own.",
        "tables/sales/returns.yml:1: source.changes: got 'changes/*'. Table sales.orders takes"
        " the same files (sales/orders/changes/*): give each its own.",
    ]


def test_tables_of_other_domains_cannot_take_the_same_files_either(specs):
    specs.put("tables/shop/_domain.yml", changed(DOMAIN, {"name": "shop"}))
    grants = [{"folder": "sales", "to": ["shop"]}]
    specs.put("tables/sales/_domain.yml", changed(DOMAIN, {"landing_grants": grants}))
    same = {"source.path": "sales", "source.files": "orders/load/*"}
    specs.put("tables/shop/orders.yml", changed(SNAPSHOT, same))
    (fault,) = specs.faults()
    assert fault == (
        "tables/shop/orders.yml:1: source.files: got 'orders/load/*'. Table sales.orders"
        " takes the same files (sales/orders/load/*): give each its own."
    )


@pytest.mark.parametrize("suffix", ["_history", "_changes"])
def test_a_table_cannot_be_called_like_a_part_of_another(specs, suffix):
    name = "orders" + suffix
    other = changed(FEED, {"name": name, "source.path": "sales/other"})
    specs.put(f"tables/sales/{name}.yml", other)
    assert specs.faults() == [
        f"tables/sales/{name}.yml:1: name: got '{name}'. Table sales.orders has a table of"
        " that name: choose another."
    ]
