"""Stores secrets in the local AWS emulator."""

from __future__ import annotations

from typing import Any, Callable

from lake_spec.model.choices import SecretStore


def put(clients: Callable[[str], Any], name: str, text: str, at: SecretStore) -> bool:
    """Store a secret; replace one of the same name.

    Args:
        clients: returns a boto3 client by the name of its service.

    Returns:
        Whether the name is new.
    """
    if at is SecretStore.SSM:
        kept = clients("ssm").put_parameter(
            Name=name, Value=text, Type="SecureString", Overwrite=True
        )
        return bool(kept["Version"] == 1)
    manager = clients("secretsmanager")
    try:
        manager.create_secret(Name=name, SecretString=text)
    except manager.exceptions.ResourceExistsException:
        manager.put_secret_value(SecretId=name, SecretString=text)
        return False
    return True
