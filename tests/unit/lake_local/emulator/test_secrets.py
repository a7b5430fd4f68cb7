"""Secrets that the command line stores are there for the steps of a run."""

from __future__ import annotations

from functools import partial

import pytest

from lake_spec.model.choices import SecretStore

from lake_emulator import client
from lake_local.stack.secret_store import put


@pytest.fixture
def clients(emulator):
    def make(service):
        return client(service, emulator.url, secret=emulator.secret)

    return make


@pytest.mark.parametrize("store", SecretStore)
def test_a_secret_is_stored_and_replaced(clients, store):
    stored = partial(put, clients, "lake/dev/shop", at=store)
    assert [stored("one"), stored("two")] == [True, False]
    if store is SecretStore.SSM:
        found = clients("ssm").get_parameter(Name="lake/dev/shop", WithDecryption=True)
        assert found["Parameter"]["Value"] == "two"
    else:
        found = clients("secretsmanager").get_secret_value(SecretId="lake/dev/shop")
        assert found["SecretString"] == "two"
