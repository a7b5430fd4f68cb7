"""Connections and their secrets: found by name, and never shown."""

from __future__ import annotations

import pytest

from lake_spark.errors import ForeignConnection, WrongConnection, WrongSecret
from lake_spark.sources.connections import connection_of
from lake_spark.sources.secrets import credentials_of
from lake_spark.storage.object_store import FolderStore
from lake_spec.model import EnvironmentSpec, KafkaCluster, PostgreSql
from lake_spec.model.choices import SecretStore
from lake_spec.model.connections import DATABASES

SHOP = PostgreSql("h", "d", "s", ("shop", "sales"))
EVENTS = KafkaCluster(("b:1",), ("hr",))
PLACES = dict.fromkeys(("landing", "warehouse", "artifacts", "runs", "logs"), "s3://x")
DEV = EnvironmentSpec(
    name="dev",
    region="eu-central-1",
    connections=(("shop_db", SHOP), ("events", EVENTS)),
    **PLACES,
)


def test_a_connection_is_found_by_its_name():
    assert connection_of(DEV, "shop_db", "sales", *DATABASES) is SHOP


def test_an_unknown_connection_is_told_with_those_that_there_are():
    with pytest.raises(WrongConnection) as told:
        connection_of(DEV, "shop_bd", "shop", *DATABASES)
    assert str(told.value) == (
        "connection 'shop_bd': the environment 'dev' has no connection of that name. Did"
        " you mean 'shop_db'? Its connections: events, shop_db. Add it under `connections` of"
        " environments/dev.yml."
    )


def test_a_connection_of_another_kind_is_told():
    with pytest.raises(WrongConnection) as told:
        connection_of(DEV, "events", "hr", *DATABASES)
    assert str(told.value) == (
        "connection 'events': is of kind kafka in the environment 'dev', and this source"
        " needs postgresql or mariadb. Name another connection."
    )


@pytest.mark.parametrize(
    "name, kinds, others",
    [("shop_db", DATABASES, "shop, sales"), ("events", (KafkaCluster,), "hr")],
)
def test_a_connection_of_other_domains_is_refused(name, kinds, others):
    with pytest.raises(ForeignConnection) as told:
        connection_of(DEV, name, "thief", *kinds)
    assert str(told.value) == (
        f"connection '{name}': environments/dev.yml lets {others} use it, not thief."
        " Nothing was read. Ask those who answer for it to add thief to its `domains`, or"
        " name another connection."
    )


def read(path, kept_in=SecretStore.SECRETS_MANAGER):
    return credentials_of(FolderStore(), "shop_db", str(path), kept_in)


def test_a_secret_is_a_user_and_a_password_which_no_text_shows(tmp_path):
    path = tmp_path / "secret"
    path.write_text('{"username": "lake", "password": "hush", "engine": "postgres"}')
    found = read(path)
    assert (found.username, found.password) == ("lake", "hush")
    assert "hush" not in repr(found) and "hush" not in f"{found}"


def test_a_secret_that_is_not_there_is_named(tmp_path):
    path = tmp_path / "secret"
    with pytest.raises(WrongSecret) as told:
        read(path, SecretStore.SSM)
    assert str(told.value) == (
        f"connection 'shop_db': the secret '{path}' (ssm) does not exist. Create it, as"
        " JSON with username and password, or correct `secret` and `secret_store` of the"
        " connection."
    )


@pytest.mark.parametrize(
    "text",
    [
        "hush",
        '"hush"',
        '{"username": "hush"}',
        '{"username": "lake", "password": 17}',
        '{"username": "", "password": "hush"}',
        '{"username": "lake", "password": "hush"',
        "\udcff",
    ],
)
def test_a_secret_that_is_no_user_and_password_is_named_and_not_shown(tmp_path, text):
    path = tmp_path / "secret"
    path.write_text(text, errors="surrogateescape")
    with pytest.raises(WrongSecret, match="is not a JSON object with two") as told:
        read(path)
    assert "hush" not in str(told.value)
    assert told.value.__context__ is None  # a traceback would quote what was read
