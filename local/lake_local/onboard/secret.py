"""Reads secrets of databases by name; never shows their values."""

from __future__ import annotations

import json
from typing import Any, Dict, Tuple

from botocore.exceptions import BotoCoreError, ClientError

from lake_spec.model.choices import SecretStore
from lake_spec.model.connections import MariaDb, PostgreSql
from lake_spec.text.certificates import NoCertificates, certificates_in

from lake_local.onboard.server import Server

_ENGINES = {
    "postgres": PostgreSql,
    "postgresql": PostgreSql,
    "aurora-postgresql": PostgreSql,
    "mariadb": MariaDb,
    "mysql": MariaDb,
    "aurora-mysql": MariaDb,
}
"""RDS's name of an engine -> the class of its connections."""


class BadSecret(Exception):
    """The secret of a database, or its `ca`, does not exist, cannot be read, or lacks a
    value.

    Fix: Put the file where `ca` of the connection says. Store the secret with
    `./run_locally.sh secret set NAME`, or in AWS as JSON with username and password.
    """


def server_of(clients: Any, connection: Any) -> Server:
    """Return a connection of the environment with its user. Raises BadSecret.

    `clients` returns a boto3 client by the name of its service.
    """
    found = _content(clients, connection.secret, connection.secret_store)
    username, password = _login(found, connection.secret)
    return Server(
        kind=connection.kind,
        host=connection.host,
        port=connection.port,
        database=connection.database,
        username=username,
        password=password,
        tls=connection.tls,
        ca=_certificates(clients, connection.ca) if connection.ca else "",
    )


def _certificates(clients: Any, uri: str) -> str:
    bucket, _, key = uri[len("s3://") :].partition("/")
    try:
        content = clients("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
        return certificates_in(content, uri)
    except NoCertificates as error:
        raise BadSecret(f"ca: {error}") from None
    except (BotoCoreError, ClientError) as error:
        raise BadSecret(
            f"ca: {uri} cannot be read: {str(error).rstrip('.')}. Put the file there; on"
            f" this machine: ./run_locally.sh put FILE {uri}"
        ) from None


def whole_server(
    clients: Any, name: str, store: SecretStore, domain: str, *, tls: bool
) -> Tuple[Server, Any]:
    """Return the database of a secret with all settings, and its connection for a domain."""
    found = _content(clients, name, store)
    username, password = _login(found, name)
    engine = found.get("engine")
    cls = _ENGINES.get(str(engine).lower())
    if cls is None:
        raise BadSecret(
            f"secret {name!r}: engine: got {engine!r}. Choose one of:"
            f" {', '.join(_ENGINES)}."
        )
    missing = [each for each in ("host", "dbname") if not found.get(each)]
    if missing:
        raise BadSecret(
            f"secret {name!r}: {' and '.join(missing)} is missing. Write engine, host, port,"
            " dbname, username and password into it, as RDS does."
        )
    connection = cls(
        host=str(found["host"]),
        database=str(found["dbname"]),
        secret=name,
        domains=(domain,),
        port=_port(found.get("port"), cls.port, name),
        secret_store=store,
        tls=tls,
    )
    place = (connection.host, connection.port, connection.database)
    return Server(cls.kind, *place, username, password, tls), connection


def require_login(text: str, name: str) -> None:
    """Raise BadSecret unless the text is a JSON object with username and password."""
    _login(_object(text, name), name)


def _port(value: Any, default: int, name: str) -> int:
    try:
        return int(value or default)
    except (TypeError, ValueError):
        raise BadSecret(
            f"secret {name!r}: port: got {value!r}. Write a number, as in 5432."
        ) from None


def _login(found: Dict[str, Any], name: str) -> Tuple[str, str]:
    values = [found.get(each) for each in ("username", "password")]
    if not isinstance(values[0], str) or not isinstance(values[1], str):
        raise BadSecret(
            f"secret {name!r}: username or password is missing or not text (the value is"
            " not shown). Write both into it as texts."
        )
    return values[0], values[1]


def _content(clients: Any, name: str, store: SecretStore) -> Dict[str, Any]:
    try:
        text = _text(clients, name, store)
    except (BotoCoreError, ClientError) as error:
        raise BadSecret(
            f"secret {name!r} ({store.value}) cannot be read: {str(error).rstrip('.')}. Check"
            " its name, the region of the environment and the AWS credentials; on this"
            f" machine store it: ./run_locally.sh secret set {name}"
        ) from None
    return _object(text, name)


def _object(text: str, name: str) -> Dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise BadSecret(
            f"secret {name!r}: not a JSON object (the value is not shown). Write one with"
            " the texts username and password."
        )
    return found


def _text(clients: Any, name: str, store: SecretStore) -> str:
    if store is SecretStore.SSM:
        found = clients("ssm").get_parameter(Name=name, WithDecryption=True)
        value: str = found["Parameter"]["Value"]
        return value
    found = clients("secretsmanager").get_secret_value(SecretId=name)
    if found.get("SecretString") is None:
        return bytes(found["SecretBinary"]).decode()
    text: str = found["SecretString"]
    return text
