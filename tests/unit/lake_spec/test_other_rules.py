"""Rules on domains, clusters and environments, and on tables against each other."""

import re

import pytest

from .spec_files import CLUSTER, DOMAIN, ENVIRONMENT, FEED, SNAPSHOT, changed

TOPIC = "arn:aws:sns:eu-central-1:123456789012:lake-failures"


def faults_of(specs, name, base, changes):
    specs.put(name, changed(base, changes))
    return [re.sub(rf"^{name}:1: ", "", each) for each in specs.faults()]


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
        ({"tags": ["a", "{{ ds }}"]}, "tags[1]: got '{{ ds }}'. A tag is 1 to 100"),
        ({"schedules.incremental": "0 3 * *"}, "got '0 3 * *'. Write five fields with"),
        (
            {"notifications.failure_topic": "arn:aws:sqs:eu-central-1:1:x"},
            "notifications.failure_topic: got 'arn:aws:sqs:eu-central-1:1:x'. Write the",
        ),
        (
            {"history_runs": "own"},
            "history_runs: got 'own'. Did you mean 'own_dag'? Choo",
        ),
    ],
)
def test_domains(specs, changes, message):
    found = faults_of(specs, "tables/sales/_domain.yml", DOMAIN, changes)
    assert any(each.startswith(message) or message in each for each in found)


def test_a_domain_with_schedules_and_a_topic_passes(specs):
    changes = {
        "schedules": {"incremental": "*/15 6-22 * * mon-fri", "maintenance": "@daily"},
        "notifications.failure_topic": TOPIC,
        "tags": ["shop", "team:sales"],
    }
    assert faults_of(specs, "tables/sales/_domain.yml", DOMAIN, changes) == []


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"name": "small"}, "name: got 'small'. Its place is named 'standard'"),
        (
            {"release_label": "7.13"},
            "release_label: got '7.13'. Write a release of EMR 6",
        ),
        (
            {"release_label": "emr-5.36.0"},
            "Write a release of EMR 6 or 7, as in emr-7.13",
        ),
        ({"core_type": "large"}, "core_type: got 'large'. Write an EC2 instance type"),
        ({"primary_type": "a b.c"}, "primary_type: got 'a b.c'. Write an EC2 instance"),
        ({"core_count": 0}, "core_count: got 0. Choose a number from 1 to 100"),
        (
            {"step_concurrency": 257},
            "step_concurrency: got 257. Choose a number from 1 to",
        ),
        (
            {"idle_minutes": 10081},
            "idle_minutes: got 10081. Choose a number from 1 to 100",
        ),
        (
            {"driver_memory": "4 GB"},
            "driver_memory: got '4 GB'. Write a whole number and",
        ),
        (
            {"tags": {"aws:x": "y"}},
            "tags.aws:x: got 'aws:x'. AWS keeps keys that begin",
        ),
        ({"tags": {"team": "{{ x }}"}}, "tags.team: got '{{ x }}'. A tag is 1 to 256"),
    ],
)
def test_clusters(specs, changes, message):
    found = faults_of(specs, "clusters/standard.yml", CLUSTER, changes)
    assert any(message in each for each in found)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"name": "prod"}, "name: got 'prod'. Its place is named 'dev'"),
        ({"region": "Frankfurt"}, "region: got 'Frankfurt'. Write an AWS region"),
        ({"landing": "/data"}, "landing: got '/data'. Write s3://bucket/folder of"),
        (
            {"landing": "s3://lake/landing/"},
            "without a slash at its end, as in s3://lake",
        ),
        (
            {"landing": "s3://lake/../x"},
            "landing: got 's3://lake/../x'. Write s3://buck",
        ),
        (
            {"landing": "s3://La ke/x"},
            "landing: got 's3://La ke/x'. Write s3://bucket/",
        ),
        (
            {"logs": "s3://lake/runs"},
            "logs: got 's3://lake/runs'. It is, holds or lies in",
        ),
        (
            {"runs": "s3://lake/landing/runs"},
            "It is, holds or lies in `landing` (s3://la",
        ),
        (
            {"landing": "s3://lake"},
            "warehouse: got 's3://lake/warehouse'. It is, holds",
        ),
        (
            {"service_role": "a b"},
            "service_role: got 'a b'. Write the name of an IAM role",
        ),
        ({"subnet": "subnet-x"}, "subnet: got 'subnet-x'. Write a subnet's id"),
        (
            {"security_configuration": "';"},
            'security_configuration: got "\';". A tag is',
        ),
    ],
)
def test_environments(specs, changes, message):
    found = faults_of(specs, "environments/dev.yml", ENVIRONMENT, changes)
    assert any(message in each for each in found)


def test_roots_with_a_common_beginning_lie_apart(specs):
    changes = {"runs": "s3://lake/landing-runs"}
    assert faults_of(specs, "environments/dev.yml", ENVIRONMENT, changes) == []


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
