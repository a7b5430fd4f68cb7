"""Secrets stay where they are kept: a run that pulls tables, well and in vain, and then a
look through everything that it left and through the arguments of every process."""

from __future__ import annotations

import base64
import gzip
import json
import re
from urllib.parse import quote

import pytest

from tests.servers.canary import CommandLines, found_in
from lake_local.capture.ports import free_ports
from tests.servers.shop_lake import CANARY, PASSWORD, ShopLake

pytestmark = pytest.mark.nightly  # it starts a lake of its own and runs five tables

TABLES = re.compile(r"^(\w+ +incremental +\w+) ", re.MULTILINE)
KEPT = ("services/secretsmanager.pickle", "services/ssm.pickle")
"""Where the emulator keeps secrets, below its home."""


@pytest.fixture(scope="module")
def told(postgresql, tmp_path_factory):
    """A run of which three tables fail; the lake, its secrets, and what was seen."""
    postgresql.execute(
        "CREATE TABLE orders (id int PRIMARY KEY, what text, at timestamp)"
    )
    postgresql.execute(
        "INSERT INTO orders VALUES (1, 'chair', now() - interval '1 hour')"
    )
    postgresql.execute("CREATE TABLE customers (id int PRIMARY KEY, name text)")
    postgresql.execute("INSERT INTO customers VALUES (1, 'Ada')")
    lake = ShopLake(tmp_path_factory.mktemp("shop"), postgresql, *free_ports(1))
    with CommandLines({"password": CANARY}) as processes:
        try:
            lake.up()
            secrets = lake.secrets()
            processes.add(secrets)
            run = lake.command("run", "shop_incremental", code=1)
        finally:
            lake.command("down")
    return lake, secrets, processes, run


def test_the_secrets_were_used(told):
    lake, _, processes, run = told
    for call in (
        '"GetSecretValue", "thing": "shop/db"',
        '"GetParameter", "thing": "/shop/db"',
    ):
        assert call in lake.calls()
    states = {line.split()[0]: line.split()[2] for line in TABLES.findall(run.out)}
    assert states == {
        "orders": "done",
        "customers": "done",
        "broken": "failed",
        "refused": "failed",
        "events": "failed",
    }
    assert "password authentication failed" in run.err
    home = str(lake.home).encode()
    at_work = [e for e in processes.seen if b"java" in e.split(b"\0")[0] and home in e]
    assert at_work, "no Spark was seen at work"


def test_no_file_that_a_run_leaves_holds_a_secret(told):
    lake, secrets, *_ = told
    kept = {str(lake.home / each) for each in KEPT}
    found = [
        each
        for each in found_in([lake.folder], secrets)
        if each.rsplit(": ", 1)[0] not in kept
    ]
    assert found == []
    assert {"aws.log", "airflow.db"} <= {each.name for each in lake.home.rglob("*")}


def test_the_emulator_holds_them_and_so_they_would_have_been_found(told):
    lake, secrets, *_ = told
    found = "\n".join(found_in([lake.home / "services"], secrets))
    assert all(f"{lake.home / each}: password" in found for each in KEPT)
    assert f"{lake.home / KEPT[1]}: erase" in found


def test_no_process_had_a_secret_among_its_arguments(told):
    _, _, processes, *_ = told
    assert processes.found == set()


@pytest.mark.parametrize(
    "content",
    [
        f"a{PASSWORD}b".encode(),
        f"?password={quote(PASSWORD, safe='')}&".encode(),
        base64.b64encode(f'{{"p": "{PASSWORD}"}}'.encode()),
        base64.b64encode(f'{{"pw": "{PASSWORD}"}}'.encode()),
        base64.b64encode(f'{{"pwd": "{PASSWORD}"}}'.encode()),
        gzip.compress(json.dumps(PASSWORD).encode()),
    ],
    ids=["plain", "url", "base64", "base64-1", "base64-2", "gzip"],
)
def test_a_secret_is_found_in_every_disguise(tmp_path, content):
    (tmp_path / "file").write_bytes(content)
    assert found_in([tmp_path], {"password": CANARY}) == [
        f"{tmp_path / 'file'}: password"
    ]
