"""What `connect` reads from specs: tables, prefix, port, database; and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from lake_local.capture import debezium
from lake_local.capture.request import capture_of
from lake_local.errors import BadRequest
from lake_local.workspace.project import find
from lake_local.workspace.specs import specs_of

DOMAIN = "name: shop\ndescription: A shop with two tables\nowner: shop-data\n"
TABLE = """\
name: {name}
description: Rows of the table {name}
owner: shop-data
source:
  kind: feed
  path: shop/{name}
  format: {{type: json}}
  changes: changes/**
  envelope: {{connector: {connector}}}
  changes_from: {{kind: kafka, connection: {connection}, topic: {topic}}}
columns: {{id: int}}
key: [id]
"""
DATABASE = {
    "kind": "postgresql",
    "host": "db",
    "database": "shop",
    "secret": "s",
    "domains": ["shop"],
}
OTHERS = {"domains": ["hr"]}
MARIADB = {**DATABASE, "kind": "mariadb"}
BROKER = {
    "kind": "kafka",
    "bootstrap_servers": ["127.0.0.1:9092"],
    "security": "plaintext",
    "domains": ["shop"],
}
ELSEWHERE = {**BROKER, "bootstrap_servers": ["kafka.example:9092"]}


@pytest.fixture
def asked(tmp_path):
    """What is captured for a domain of these topics in an environment."""

    def asked(*topics, connections=None, database="", **more):
        (tmp_path / "tables/shop").mkdir(parents=True)
        (tmp_path / "tables/shop/_domain.yml").write_text(DOMAIN)
        for number, topic in enumerate(topics):
            named = {"connection": "broker", "connector": "postgresql", **more}
            text = TABLE.format(name=f"t{number}", topic=topic, **named)
            (tmp_path / f"tables/shop/t{number}.yml").write_text(text)
        found = yaml.safe_load((find().dags / "environments/local.yml").read_text())
        found["connections"] = connections or {"db": DATABASE, "broker": BROKER}
        file = tmp_path / "local.yml"
        file.write_text(json.dumps(found))  # which is YAML, without aliases
        specs = specs_of(find(), tmp_path / "tables", str(file))
        return capture_of(specs, "shop", database)

    return asked


def test_tables_and_prefix_are_those_of_the_topics(asked):
    found = asked("pg.eu.public.orders", "pg.eu.public.items")
    assert found.prefix == "pg.eu" and found.broker_port == 9092
    assert found.tables == (("public", "items"), ("public", "orders"))
    assert found.topics == ("pg.eu.public.items", "pg.eu.public.orders")
    assert (found.connection, found.database.host) == ("db", "db")


def test_the_connector_names_the_login_and_takes_these_tables_alone(asked):
    config = debezium.postgresql(asked("pg.public.orders"))
    assert config["table.include.list"] == r"public\.orders"
    assert config["database.password"] == "${env:LAKE_CAPTURE_PASSWORD}"
    assert config["slot.name"] == config["publication.name"] == "lake_shop"
    assert config["database.sslmode"] == "require"
    assert config["publication.autocreate.mode"] == "disabled"


def test_the_connector_checks_the_server_by_the_file_it_is_given(asked):
    config = debezium.postgresql(asked("pg.public.orders"), Path("/state/ca.pem"))
    assert config["database.sslmode"] == "verify-full"
    assert config["database.sslrootcert"] == "/state/ca.pem"


@pytest.mark.parametrize(
    "topics, more, words",
    [
        ((), {}, "no table of shop has `changes_from` of kind kafka"),
        (["m.shop.orders"], {"connector": "mariadb"}, "no table of shop has"),
        (["orders"], {}, "Debezium names topics PREFIX.SCHEMA.TABLE"),
        (["a.s.t", "b.s.t"], {}, "more than one topic prefix in `changes_from`: a, b"),
        (["a.s.t"], {"connection": "other"}, "other: {kind: kafka, bootstrap_servers"),
        (
            ["a.s.t"],
            {"connections": {"db": DATABASE, "broker": ELSEWHERE}},
            "connections.broker is no broker that `connect` can start",
        ),
        (
            ["a.s.t"],
            {"connections": {"db": MARIADB, "broker": BROKER}},
            "connections of kind postgresql: none",
        ),
        (
            ["a.s.t"],
            {"connections": {"a": DATABASE, "b": {**DATABASE}, "broker": BROKER}},
            "connections of kind postgresql: a, b. Say which one with --connection",
        ),
        (
            ["a.s.t"],
            {"connections": {"db": {**DATABASE, **OTHERS}, "broker": BROKER}},
            "connection 'db': environments/local.yml lets hr use it, not shop. Nothing",
        ),
        (
            ["a.s.t"],
            {"connections": {"db": DATABASE, "broker": {**BROKER, **OTHERS}}},
            "connection 'broker': environments/local.yml lets hr use it, not shop.",
        ),
    ],
)
def test_what_cannot_be_captured_is_refused_with_what_to_do(asked, topics, more, words):
    with pytest.raises(BadRequest) as refused:
        asked(*topics, **more)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    "name, words",
    [("dbs", "Did you mean 'db'?"), ("maria", "is not of kind postgresql")],
)
def test_a_connection_that_is_none_is_refused(asked, name, words):
    known = {"db": DATABASE, "maria": MARIADB, "broker": BROKER}
    with pytest.raises(BadRequest) as refused:
        asked("a.s.t", connections=known, database=name)
    assert words in str(refused.value)
