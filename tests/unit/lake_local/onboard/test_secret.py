"""Secrets: what is read of them, and that nothing of them is told."""

from __future__ import annotations

import io
import json

import pytest
from botocore.exceptions import ClientError

from lake_spec.model.choices import SecretStore
from lake_spec.model.connections import MariaDb, PostgreSql

from lake_local.onboard.secret import BadSecret, server_of, whole_server

PASSWORD = "hush"
RDS = {
    "engine": "postgres",
    "host": "shop.example.internal",
    "port": 5433,
    "dbname": "shop",
    "username": "lake",
    "password": PASSWORD,
}


class Stores:
    """Both stores, each with the texts given."""

    def __init__(self, **texts):
        self.texts = texts

    def __call__(self, service):
        self.service = service
        return self

    def get_secret_value(self, SecretId):
        if SecretId not in self.texts:
            error = {"Code": "ResourceNotFoundException", "Message": "not there."}
            raise ClientError({"Error": error}, "GetSecretValue")
        return {"SecretString": self.texts[SecretId]}

    def get_object(self, Bucket, Key):
        if Key not in self.texts:
            raise ClientError({"Error": {"Code": "NoSuchKey"}}, "GetObject")
        return {"Body": io.BytesIO(self.texts[Key].encode())}

    def get_parameter(self, Name, WithDecryption):
        assert WithDecryption
        return {"Parameter": {"Value": self.texts[Name]}}


def whole(content, store=SecretStore.SECRETS_MANAGER, tls=True):
    text = content if isinstance(content, str) else json.dumps(content)
    return whole_server(Stores(s=text), "s", store, "a", tls=tls)


def test_a_connection_and_its_secret_are_a_server():
    connection = MariaDb(
        "db.example", "shop", "s", ("a",), secret_store=SecretStore.SSM
    )
    stores = Stores(s=json.dumps({"username": "lake", "password": PASSWORD}))
    server = server_of(stores, connection)
    assert (server.kind, server.port, server.username) == ("mariadb", 3306, "lake")
    assert (server.password, stores.service) == (PASSWORD, "ssm")
    assert PASSWORD not in repr(server)


def test_a_secret_of_rds_is_a_server_and_a_connection():
    server, connection = whole(RDS)
    assert (server.host, server.port, server.tls) == (RDS["host"], 5433, True)
    assert connection == PostgreSql(RDS["host"], "shop", "s", ("a",), 5433)


def test_without_a_port_it_is_the_engine_s_own():
    _, connection = whole({**RDS, "engine": "mysql", "port": None})
    assert (connection.kind, connection.port) == ("mariadb", 3306)


@pytest.mark.parametrize(
    "content, words",
    [
        ("no json " + PASSWORD, "not a JSON object"),
        (json.dumps([PASSWORD]), "not a JSON object"),
        (
            {**RDS, "engine": "oracle"},
            "engine: got 'oracle'. Choose one of: postgres",
        ),
        ({**RDS, "host": "", "dbname": None}, "host and dbname is missing"),
        ({**RDS, "port": "x"}, "port: got 'x'. Write a number"),
        ({**RDS, "username": None}, "username or password is missing or not text"),
    ],
)
def test_a_secret_that_does_not_fit_is_told_without_its_value(content, words):
    with pytest.raises(BadSecret, match="secret 's'") as told:
        whole(content)
    assert words in str(told.value) and PASSWORD not in str(told.value)


def test_a_secret_that_is_not_there_is_told_by_its_name():
    with pytest.raises(BadSecret, match="'none'.*cannot be read.*not there"):
        whole_server(Stores(), "none", SecretStore.SECRETS_MANAGER, "a", tls=True)


PEM = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
CHECKED = PostgreSql("db.example", "shop", "s", ("a",), ca="s3://lake/ca.pem")


def test_a_connection_with_a_ca_is_a_server_that_is_checked():
    login = json.dumps({"username": "lake", "password": PASSWORD})
    assert server_of(Stores(s=login, **{"ca.pem": f"# RDS\n{PEM}"}), CHECKED).ca == PEM
    with pytest.raises(BadSecret, match="put FILE s3://lake/ca.pem"):
        server_of(Stores(s=login), CHECKED)
    with pytest.raises(BadSecret, match="holds no certificate in PEM"):
        server_of(Stores(s=login, **{"ca.pem": "x"}), CHECKED)
