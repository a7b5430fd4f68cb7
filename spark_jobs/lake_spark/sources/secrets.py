"""Users and passwords of connections: held in memory alone, never shown."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from lake_spec.model.choices import SecretStore
from lake_spark.errors import WrongSecret
from lake_spark.storage.object_store import ObjectStore


@dataclass(frozen=True)
class Credentials:
    """Who asks a server, and the password, which no text of this shows."""

    username: str
    password: str = field(repr=False)


def credentials_of(
    store: ObjectStore, connection: str, secret: str, kept_in: SecretStore
) -> Credentials:
    """Return user and password of a connection.

    Raise WrongSecret without showing what was read.
    """
    where = f"connection {connection!r}: the secret {secret!r} ({kept_in.value})"
    try:
        content = store.secret(secret, kept_in)
    except KeyError:
        raise WrongSecret(
            f"{where} does not exist. Create it, as JSON with username and password, or "
            "correct `secret` and `secret_store` of the connection."
        ) from None
    found = _texts(content)
    if found is None:
        raise WrongSecret(
            f"{where} is not a JSON object with two strings, username and password. "
            "Correct it; its value is not shown."
        )
    return found


def _texts(content: bytes) -> "Credentials | None":
    try:
        found: Any = json.loads(content)
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    name, password = found.get("username"), found.get("password")
    if not (isinstance(name, str) and isinstance(password, str) and name and password):
        return None
    return Credentials(name, password)
