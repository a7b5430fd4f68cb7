"""`secret set` reads a login from a prompt or standard input, and never shows it."""

from __future__ import annotations

import io
import json
from contextlib import contextmanager
from types import SimpleNamespace

import boto3
import pytest
from moto import mock_aws

from lake_spec.model.choices import SecretStore

from lake_local.cli.commands import secret
from lake_local.cli.parser import parse
from lake_local.errors import BadRequest

PASSWORD = "hush"
LOGIN = json.dumps({"username": "lake", "password": PASSWORD})


@pytest.fixture
def aws(monkeypatch):
    """The emulator of the command, as moto."""
    with mock_aws():

        def client(service):
            return boto3.client(service, region_name="eu-central-1")

        @contextmanager
        def opened(home, specs, *, who):
            yield SimpleNamespace(aws=client)

        monkeypatch.setattr(secret.session, "opened", opened)
        yield client


def typed(monkeypatch, text, *, password=None):
    stdin = io.StringIO(text)
    stdin.isatty = lambda: password is not None
    monkeypatch.setattr(secret.sys, "stdin", stdin)
    monkeypatch.setattr(secret.getpass, "getpass", lambda *args: password)


def run(*argv):
    args = parse(["secret", "set", *argv])
    return args.run(args)


def kept(aws, name="a/b"):
    return json.loads(
        aws("secretsmanager").get_secret_value(SecretId=name)["SecretString"]
    )


def ours(text):
    """The lines of the command: where Airflow was imported, its log is there too."""
    return [line for line in text.splitlines() if not line.startswith("[")]


def test_a_login_is_read_from_standard_input_and_replaced(aws, monkeypatch, capsys):
    typed(monkeypatch, LOGIN + "\n")
    assert run("a/b") == 0
    assert kept(aws)["password"] == PASSWORD
    typed(monkeypatch, json.dumps({"username": "other", "password": PASSWORD}))
    assert run("a/b") == 0
    assert kept(aws)["username"] == "other"
    said = capsys.readouterr()
    assert ours(said.out) == [
        "stored  a/b  in secrets_manager",
        "replaced  a/b  in secrets_manager",
    ]
    assert "WARNING: no connection of the environment local names" in said.err
    assert PASSWORD not in said.out + said.err


def test_on_a_terminal_it_asks(aws, monkeypatch):
    typed(monkeypatch, "lake\n", password=PASSWORD)
    run("a/b")
    assert kept(aws) == {"username": "lake", "password": PASSWORD}


def test_a_parameter_of_ssm(aws, monkeypatch, capsys):
    for _ in range(2):
        typed(monkeypatch, LOGIN)
        run("/a/b", "--secret-store", "ssm")
    found = aws("ssm").get_parameter(Name="/a/b", WithDecryption=True)["Parameter"]
    assert (json.loads(found["Value"])["password"], found["Type"]) == (
        PASSWORD,
        "SecureString",
    )
    words = [line.split()[0] for line in ours(capsys.readouterr().out)]
    assert words == ["stored", "replaced"]


@pytest.mark.parametrize(
    "text, password, words",
    [
        ("", None, "not a JSON object"),
        (PASSWORD, None, "not a JSON object"),
        ('{"username": "x"}', None, "username or password is missing or not text"),
        ("\n", PASSWORD, "user name or password is empty. Nothing was stored."),
        ("lake\n", "", "user name or password is empty. Nothing was stored."),
    ],
)
def test_what_is_no_login_is_refused(monkeypatch, text, password, words):
    typed(monkeypatch, text, password=password)
    with pytest.raises(BadRequest, match=words) as refused:
        run("a/b")
    assert PASSWORD not in str(refused.value)


def test_a_value_among_the_arguments_is_refused_and_not_repeated():
    with pytest.raises(BadRequest, match="got a value as an argument") as refused:
        run("a/b", PASSWORD)
    assert PASSWORD not in str(refused.value)


def test_the_store_is_that_of_the_connection_that_names_it(capsys):
    connection = SimpleNamespace(secret="a/b", secret_store=SecretStore.SSM)
    there = SimpleNamespace(name="local", connections=(("shop_db", connection),))
    assert secret.store_of("a/b", None, there) is SecretStore.SSM
    assert capsys.readouterr().err == ""
    assert secret.store_of("c", None, there) is SecretStore.SECRETS_MANAGER
