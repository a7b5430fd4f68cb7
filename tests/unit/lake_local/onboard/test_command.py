"""`onboard` as it is typed: what it refuses, what it prints, and what it never does."""

from __future__ import annotations

import json
import os
import sys
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from lake_local import __main__ as program
from lake_local.__main__ import main
from lake_local.onboard import account, catalog_process, databases
from lake_local.onboard.catalog import Catalog, Column, Index, Table
from lake_local.onboard.server import Server

PASSWORD = "hush"
KEY = (Index("p", ("id",), unique=True, primary=True),)
ORDERS = Table("orders", (Column("id", "bigint", nullable=False),), KEY, 10, 8192)
ENVIRONMENT = """\
name: test
region: eu-central-1
landing: s3://lake/landing
warehouse: s3://lake/warehouse
artifacts: s3://lake/artifacts
runs: s3://lake/runs
logs: s3://lake/logs
connections:
  shop_db: {kind: postgresql, host: db.example, database: shop, secret: lake/shop, domains: [shop]}
  shop_kafka: {kind: kafka, bootstrap_servers: ["k.example:9092"], security: tls, domains: [shop]}
"""


class Secrets:
    def get_secret_value(self, SecretId):
        content = {"username": "lake", "password": PASSWORD}
        if SecretId == "rds/shop":
            place = {"engine": "postgres", "host": "db.example", "dbname": "shop"}
            content.update(place, port=5432)
        return {"SecretString": json.dumps(content)}


@pytest.fixture(autouse=True)
def own_process(monkeypatch):
    """What `main` does to signals and environment stays in the test."""
    monkeypatch.setattr(program, "handle_signals", lambda: None)
    monkeypatch.setattr(os, "environ", dict(os.environ))


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Runs the command on a database with one table; exit code, output, errors."""
    file = tmp_path / "test.yml"
    file.write_text(ENVIRONMENT)
    monkeypatch.setattr(account.boto3, "client", lambda *a, **k: Secrets())
    catalog = Catalog("postgresql", "public", (ORDERS,), {"wal_level": "replica"})
    monkeypatch.setattr(catalog_process, "catalog_of", lambda *a: catalog)
    monkeypatch.setattr(databases, "require_drivers", lambda project: None)

    def run(*arguments):
        where = ["--environment", str(file), "--out", str(tmp_path / "tables")]
        code = main(["onboard", "--domain", "shop", *where, *arguments])
        told = capsys.readouterr()
        assert PASSWORD not in told.out + told.err
        return code, told.out, told.err

    return run


def test_a_connection_s_tables_are_written_and_validated(run, tmp_path):
    code, out, err = run("--connection", "shop_db", "--kafka-connection", "shop_kafka")
    assert code == 0
    assert "1 spec written" in out and "validate: 2 files, no mistakes" in out
    assert "Add to the environment" not in out
    assert "warning: wal_level is replica" in err
    assert (tmp_path / "tables/shop/orders.yml").is_file()


def test_by_queries_nothing_is_said_of_the_log(run):
    assert "warning" not in run("--connection", "shop_db")[2]


def test_a_whole_secret_tells_the_connection_to_add(run):
    _, out, _ = run("--jdbc-secret", "rds/shop", "--owner", "shop-team")
    assert (
        "connections:\n  shop_db: {kind: postgresql, host: db.example, database: shop,"
        " secret: rds/shop, domains: [shop]}" in out
    )


def test_a_connection_that_is_for_others_gets_the_domain_added(run, tmp_path):
    known = ENVIRONMENT.replace("lake/shop, domains: [shop]", "rds/shop, domains: [hr]")
    (tmp_path / "test.yml").write_text(known)
    _, out, _ = run("--jdbc-secret", "rds/shop")
    assert "secret: rds/shop, domains: [hr, shop]}" in out
    (tmp_path / "test.yml").write_text(known.replace("[hr]", "[hr, shop]"))
    _, out, _ = run("--jdbc-secret", "rds/shop")
    assert "Add to the environment" not in out


@pytest.mark.parametrize("name", ["shop_db", "shop_kafka"])
def test_a_connection_that_is_for_others_is_refused(run, tmp_path, name):
    lines = [
        line.replace("[shop]", "[hr]") if f" {name}:" in line else line
        for line in ENVIRONMENT.splitlines()
    ]
    (tmp_path / "test.yml").write_text("\n".join(lines))
    code, _, err = run("--connection", "shop_db", "--kafka-connection", "shop_kafka")
    assert code == 2 and not (tmp_path / "tables").exists()
    assert (
        f"connection '{name}': environments/test.yml lets hr use it, not shop. Nothing was"
        " read. Ask those who answer for it to add shop to its `domains`, or name another"
        " connection." in err
    )


def test_brokers_that_the_environment_lacks_are_told_to_be_added(run):
    _, out, _ = run("--connection", "shop_db", "--kafka-connection", "other")
    assert (
        '  other: {kind: kafka, bootstrap_servers: ["HOST:9096"], domains: [shop], secret: NAME}'
        in out
    )


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--connection", "shop"], "no connection 'shop'. Did you mean 'shop_db'?"),
        (["--connection", "shop_kafka"], "got a connection of kind kafka"),
        (["--connection", "shop_db", "--from", "kafka"], "--kafka-connection NAME"),
        (["--connection", "shop_db", "--topic-prefix", "p"], "no topics are read"),
        (["--connection", "shop_db", "--no-tls"], "`tls: false`"),
        (["--connection", "shop_db", "--only", "x*"], "Tables: orders"),
        (["--connection", "shop_db", "--owner", "me"], "more than 5 characters"),
        (["--connection", "shop_db", "--domain", "../x"], "beginning with a letter"),
        (["--files", "none"], "no such folder"),
        (
            ["--files", "none", "--schema", "s"],
            "--schema with --files: the option is for databases",
        ),
        (["--files", "s3:/x"], "no such folder"),
    ],
)
def test_what_cannot_be_followed_is_told(run, arguments, words, tmp_path):
    code, _, err = run(*arguments)
    assert code == 2 and words in err
    assert not (tmp_path / "tables").exists()


def test_a_folder_of_files_is_onboarded_without_a_database(run, tmp_path):
    file = tmp_path / "files/artists/2026-01-01.csv"
    file.parent.mkdir(parents=True)
    file.write_text("id,name\n1,Ana\n2,Bo\n")
    code, out, _ = run("--files", str(tmp_path / "files"))
    assert code == 0 and "1 spec written" in out
    assert "path: shop/artists" in (tmp_path / "tables/shop/artists.yml").read_text()


def next_of(out):
    """The commands under `Next:`, without their comments."""
    lines = out.split("Next:\n", 1)[1].splitlines()
    return [each.split("   #")[0].strip() for each in lines]


def test_the_next_steps_of_files_lead_to_their_rows(run, tmp_path):
    file = tmp_path / "files/artists/2026-01-01.csv"
    file.parent.mkdir(parents=True)
    file.write_text("id,name\n1,Ana\n2,Bo\n")
    local, tables = tmp_path / "local.yml", tmp_path / "tables"
    local.write_text(ENVIRONMENT.replace("name: test", "name: local"))
    where = ["--environment", str(local), "--state-dir", str(tmp_path / "state")]
    _, out, _ = run("--files", str(tmp_path / "files"), *where)
    options = f"--tables {tables} --state-dir {tmp_path / 'state'}"
    assert next_of(out) == [
        f"grep -n GUESS {tables}/shop/*.yml",
        f"./run_locally.sh validate {tables}/shop",
        f"export LAKE_ENVIRONMENT={local}",
        f"./run_locally.sh put {tmp_path}/files s3://lake/landing/shop/ {options}",
        f"./run_locally.sh run shop_full_load {options}",
        f"./run_locally.sh show shop.artists {options}",
    ]


def test_the_next_steps_of_topics_of_this_machine_begin_with_their_capture(
    run, tmp_path, monkeypatch
):
    local, tables = tmp_path / "local.yml", tmp_path / "tables"
    local.write_text(ENVIRONMENT.replace("name: test", "name: local"))
    opened = nullcontext(SimpleNamespace(aws=lambda service: Secrets()))
    monkeypatch.setattr(account.session, "opened", lambda *a, **k: opened)
    topics = ["--kafka-connection", "ours", "--topic-prefix", "pg"]
    where = ["--environment", str(local)]
    code, out, _ = run("--connection", "shop_db", *topics, *where)
    assert code == 0
    assert (
        'ours: {kind: kafka, bootstrap_servers: ["127.0.0.1:9092"], domains: [shop],'
        " security: plaintext}" in out
    )
    assert next_of(out)[3:] == [
        f"./run_locally.sh connect shop --tables {tables}",
        f"./run_locally.sh run shop_incremental --tables {tables}",
        f"./run_locally.sh show shop.orders --tables {tables}",
    ]


def test_the_next_steps_of_another_environment_are_a_deploy(run):
    _, out, _ = run("--connection", "shop_db")
    assert next_of(out)[2:] == [
        "# commit, deploy (docs/deploy.md) and start shop_full_load in Airflow"
    ]


def test_specs_that_are_there_and_wrong_make_it_fail(run, tmp_path):
    folder = tmp_path / "tables/shop"
    folder.mkdir(parents=True)
    (folder / "old.yml").write_text("nme: old\n")
    code, out, _ = run("--connection", "shop_db")
    assert code == 1 and "Did you mean 'name'?" in out


def test_the_password_goes_by_standard_input_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("PGHOST", "elsewhere.example")
    seen = tmp_path / "seen.json"
    fake = tmp_path / "python"
    fake.write_text(
        f"#!{sys.executable}\n"
        "import json, os, sys\n"
        "asked = sys.stdin.read()\n"
        f"json.dump([sys.argv, dict(os.environ), asked], open({str(seen)!r}, 'w'))\n"
        "sys.stderr.write('ImportError: with hush in it')\n"
        "sys.exit(1)\n"
    )
    fake.chmod(0o700)
    server = Server("postgresql", "db.example", 5432, "shop", "lake", PASSWORD)
    with pytest.raises(catalog_process.NoAnswer) as told:
        catalog_process.catalog_of(fake, tmp_path, server, "public")
    argv, environment, asked = json.loads(seen.read_text())
    assert PASSWORD in asked
    assert PASSWORD not in json.dumps([argv, environment]) + str(told.value)
    assert "PGHOST" not in environment
