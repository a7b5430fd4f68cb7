"""`connect` from a database that is not ready to changes in a topic, twice.

shop.item has one row, and gets one more while the command runs, one while it does not, and
one after it has started again. The user's password is asked for by the server.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time

import pytest

from lake_local.capture.installed import PROJECT
from lake_local.capture.ports import free_ports
from tests.servers.canary import CommandLines, found_in
from tests.servers.postgresql import PostgreSql
from tests.servers.processes import processes_of
from tests.servers.records import Records

CANARY = "canary-71d09f2c"
TOPIC = "pg.shop.item"
STARTED = "Changes are captured until Ctrl-C."
STATEMENT = re.compile(r": ((?:ALTER|CREATE|GRANT) .*;)$", re.MULTILINE)
DOMAIN = "name: shop\ndescription: A shop with one table\nowner: shop-data\n"
ITEM = f"""\
name: item
description: Items, by their changes
owner: shop-data
source:
  kind: feed
  path: shop/item
  format: {{type: json}}
  changes: changes/**
  envelope: {{connector: postgresql}}
  changes_from: {{kind: kafka, connection: shop_kafka, topic: {TOPIC}}}
columns: {{id: int, what: string}}
key: [id]
"""


class Command:
    """The commands of a state directory and a folder of tables of its own."""

    def __init__(self, folder, database):
        self.folder, self.state = folder, folder / "state"
        (self.broker_port,) = free_ports(1)
        tables = folder / "tables" / "shop"
        tables.mkdir(parents=True)
        (tables / "_domain.yml").write_text(DOMAIN)
        (tables / "item.yml").write_text(ITEM)
        local = PROJECT / "dags/environments/local.yml"
        (folder / "local.yml").write_text(f"""\
{local.read_text()}
connections:
  shop_db:
    {{kind: postgresql, host: {database.host}, port: {database.port}, tls: false,
     database: {database.database}, secret: lake/local/shop, domains: [shop]}}
  shop_kafka:
    {{kind: kafka, bootstrap_servers: ["127.0.0.1:{self.broker_port}"],
     security: plaintext, domains: [shop]}}
""")
        packages = ":".join(
            str(PROJECT / each)
            for each in ("emulator", "local", "dags", "spark_jobs", "infra")
        )
        where = ["--state-dir", str(self.state), "--tables", str(tables.parent)]
        python = str(PROJECT / ".venv-airflow/bin/python")
        self.argv = [python, "-m", "lake_local", *where]
        environment = str(folder / "local.yml")
        self.env = {
            **os.environ,
            "PYTHONPATH": packages,
            "LAKE_ENVIRONMENT": environment,
        }

    def __call__(self, *arguments, text="", code=0):
        argv = [*self.argv, *arguments]
        done = subprocess.run(
            argv, env=self.env, input=text, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == code, f"{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def connect(self, log, act):
        """Run `connect`; `act` when it captures; then Ctrl-C. All that it printed."""
        with open(log, "wb") as output:
            argv = [*self.argv, "connect", "shop"]
            running = subprocess.Popen(argv, env=self.env, stdout=output, stderr=output)
        try:
            deadline = time.monotonic() + 180
            while STARTED not in log.read_text():
                assert (
                    running.poll() is None and time.monotonic() < deadline
                ), log.read_text()
                time.sleep(0.2)
            act()
            running.send_signal(signal.SIGINT)
            assert running.wait(60) == 0, log.read_text()
        finally:
            running.kill()
            running.wait()
        return log.read_text()

    def events(self, count):
        """Operation and row of the first events of the topic."""
        with Records(f"127.0.0.1:{self.broker_port}", TOPIC, committed=True) as records:
            read = records.until(lambda found: len(found) >= count, seconds=60)
        return [(each.json()["op"], each.json()["after"]) for each in read]


FOREIGN_SLOT = "SELECT pg_create_logical_replication_slot('lake_shop', 'pgoutput')"
SLOTS = "SELECT slot_name FROM pg_replication_slots"
OTHER_BYTES = 20_000_000
OTHER_CHANGES = f"""
CREATE TABLE other AS
SELECT n, repeat(md5(n::text), 32) AS words FROM generate_series(1, {OTHER_BYTES // 1024}) n
"""
"""Changes of a table that is not captured, of about so many bytes of log."""


def lag_within(database, most, seconds):
    """The bytes of log that the slot keeps, once they are at most so many, or at the end."""
    query = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), confirmed_flush_lsn)"
    deadline = time.monotonic() + seconds
    while True:
        lag = int(database.execute(f"{query} FROM pg_replication_slots")[0][0])
        if lag <= most or time.monotonic() > deadline:
            return lag
        time.sleep(1)


def row(number, what):
    return {"id": number, "what": what}


@pytest.fixture(scope="module")
def captured(servers_folder, tmp_path_factory):
    """Everything that was printed and seen, and the command."""
    folder = tmp_path_factory.mktemp("shop")
    with PostgreSql(servers_folder / "postgresql-of-connect") as database:
        database.execute(f"CREATE ROLE lake LOGIN PASSWORD '{CANARY}'")
        rules = database.execute("SHOW hba_file")[0][0]
        with open(rules, encoding="utf-8") as file:
            before = file.read()
        with open(rules, "w", encoding="utf-8") as file:
            file.write(f"host all lake 127.0.0.1/32 scram-sha-256\n{before}")
        database.execute("SELECT pg_reload_conf()")
        database.execute("CREATE SCHEMA shop")
        database.execute("CREATE TABLE shop.item (id int PRIMARY KEY, what text)")
        database.execute("INSERT INTO shop.item VALUES (1, 'chair')")
        command = Command(folder, database)
        seen = {}
        login = json.dumps({"username": "lake", "password": CANARY})
        with CommandLines({"password": CANARY}) as processes:
            seen["without a secret"] = command("connect", "shop", code=2)
            command("secret", "set", "lake/local/shop", text=login)
            seen["not ready"] = command("connect", "shop", code=3)
            for statement in STATEMENT.findall(seen["not ready"]):
                database.execute(statement)

            def first():
                database.execute("INSERT INTO shop.item VALUES (2, 'table')")
                seen["first"] = command.events(2)
                seen["twice"] = command("connect", "shop", code=4)

            def second():
                database.execute("UPDATE shop.item SET what = 'stool' WHERE id = 1")
                seen["second"] = command.events(4)
                database.execute(OTHER_CHANGES)
                seen["lag"] = lag_within(database, OTHER_BYTES // 2, seconds=90)

            database.execute(FOREIGN_SLOT)
            seen["foreign slot"] = command("connect", "shop", code=2)
            database.execute("SELECT pg_drop_replication_slot('lake_shop')")
            seen["output"] = command.connect(folder / "first.log", first)
            database.execute("INSERT INTO shop.item VALUES (3, 'lamp')")
            seen["status"] = command("status")
            command.connect(folder / "second.log", second)
            seen["slots"] = database.execute(SLOTS)
            seen["dropped"] = command("connect", "shop", "--drop-slot")
            seen["left"] = database.execute(SLOTS)
            seen["again"] = command("connect", "shop", "--drop-slot", code=2)
        seen["processes"] = processes
        yield command, seen


def test_a_secret_that_is_missing_is_refused_with_the_command_that_stores_it(captured):
    _, seen = captured
    assert "./run_locally.sh secret set lake/local/shop" in seen["without a secret"]


def test_what_the_database_lacks_is_refused_with_the_statements(captured):
    _, seen = captured
    assert STATEMENT.findall(seen["not ready"]) == [
        'ALTER ROLE "lake" REPLICATION;',
        'GRANT USAGE ON SCHEMA "shop" TO "lake";',
        'GRANT SELECT ON "shop"."item" TO "lake";',
        'CREATE PUBLICATION "lake_shop" FOR TABLE "shop"."item";',
    ]


def test_rows_and_changes_are_in_the_topic(captured):
    _, seen = captured
    assert seen["first"] == [("r", row(1, "chair")), ("c", row(2, "table"))]
    assert f"Topic     {TOPIC}" in seen["output"]
    assert "./run_locally.sh run shop_incremental" in seen["output"]


def test_the_next_start_goes_on_with_what_happened_meanwhile(captured):
    _, seen = captured
    more = [("c", row(3, "lamp")), ("u", row(1, "stool"))]
    assert seen["second"] == [*seen["first"], *more]


def test_the_same_capture_is_not_started_twice(captured):
    _, seen = captured
    assert "is in use by `connect shop`" in seen["twice"]


def test_a_slot_that_another_made_is_refused_before_anything_is_started(captured):
    _, seen = captured
    assert "a replication slot lake_shop that no `connect` of" in seen["foreign slot"]
    assert "--slot NAME" in seen["foreign slot"]


def test_a_slot_without_a_limit_is_warned_of(captured):
    _, seen = captured
    assert "max_slot_wal_keep_size is -1" in seen["output"]


def test_changes_of_other_tables_do_not_make_the_server_keep_its_log(captured):
    _, seen = captured
    assert seen["lag"] <= OTHER_BYTES // 2


def test_the_slot_is_shown_after_the_command_and_dropped_by_it(captured):
    _, seen = captured
    assert "The replication slot lake_shop of 127.0.0.1:" in seen["status"]
    assert seen["slots"] == [("lake_shop",)] and seen["left"] == []
    assert seen["dropped"].endswith("dropped\n")
    assert "no replication slot lake_shop of" in seen["again"]


def test_nothing_runs_after_an_interrupt_and_the_slot_is_named(captured):
    command, seen = captured
    assert "SELECT pg_drop_replication_slot('lake_shop');" in seen["output"]
    assert processes_of(command.state) == []


def test_the_password_is_in_no_argument_and_in_no_file_but_the_secret_store(captured):
    command, seen = captured
    assert seen["processes"].found == set()
    kept = f"{command.state / 'services/secretsmanager.pickle'}: password"
    assert found_in([command.folder], {"password": CANARY}) == [kept]
