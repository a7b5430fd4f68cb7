"""From a catalogue to files that `validate` has nothing to say of.

One schema: orders (a primary key, a cursor), an audit table without any key, a
partition, a table whose names are not the lake's.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lake_check.parsing.loader import load_domain
from lake_spec.model.choices import Connector
from lake_spec.model.forms import TABLE

from lake_local.onboard import advice, writing
from lake_local.onboard.catalog import (
    Catalog,
    Column,
    DOMAINS_OF_ENUMS,
    Index,
    Table,
    from_data,
    to_data,
)
from lake_local.onboard.origin import FILES, JDBC, KAFKA, Origin
from lake_local.onboard.plan import Request, planned
from lake_local.onboard.spec_text import domain_text, one_line, scalar
from lake_local.onboard.writing import faults_of, write
from lake_local.workspace.project import Project

ROOT = Path(__file__).parents[4]

ORDERS = Table(
    name="orders",
    columns=(
        Column("id", "bigint", nullable=False),
        Column("amount", "numeric(10,2)", comment="net, in EUR"),
        Column("placed", "date"),
        Column("state", "shop.state", kind="enum"),
        Column("shape", "polygon"),
        Column("valid_from", "timestamp without time zone"),
        Column("updated_at", "timestamp with time zone", nullable=False),
    ),
    indexes=(Index("orders_pkey", ("id",), unique=True, primary=True),),
    rows=1_200_000,
    bytes=300_000_000,
    comment="Orders of the shop: one row each",
    replica_identity="default",
)
KEYED = ORDERS.indexes
AUDIT = Table("audit", (Column("words", "text"),), replica_identity="default")
PART = Table("orders_1", ORDERS.columns, parent="orders")
ODD = Table(
    "Odd Names",
    (
        Column("Key", "text", nullable=False),
        Column("on", "bytea"),
        Column('a"b', "text"),
    ),
    (Index("odd", ("Key",), unique=True),),
    replica_identity="default",
    comment="{{ no }}",
)
CATALOG = Catalog("postgresql", "shop", (ORDERS, AUDIT, PART, ODD))

BY_EVENTS = Origin(KAFKA, "shop_db", Connector.POSTGRESQL, "shop_kafka", "pg")
BY_QUERY = Origin(JDBC, "shop_db")


def written(tmp_path, origin, catalog=CATALOG, force=False, **more):
    drafts = planned(catalog, Request("shop", origin, **more))
    return write(drafts, tmp_path, "shop", owner="", force=force)


def text_of(spec):
    """A spec without its first line, the path of its schema."""
    return spec.read_text().split("\n", 1)[1]


def reasons(done):
    return {each.name: each.why for each in done.skipped}


@pytest.mark.parametrize(
    "origin",
    [BY_EVENTS, BY_QUERY, Origin(FILES, "shop_db", Connector.POSTGRESQL)],
    ids=[KAFKA, JDBC, FILES],
)
def test_what_is_written_passes_validate(tmp_path, origin):
    done = written(tmp_path, origin)
    assert faults_of(tmp_path, "shop")[1] == []
    assert [each.text.name for each in done.drafts][0] == "orders"


def test_a_table_by_events_is_written_as_a_person_would(tmp_path):
    written(tmp_path, BY_EVENTS)
    assert text_of(tmp_path / "shop/orders.yml") == """\
# Made by `onboard` from the catalogue of postgresql: shop.orders of shop_db.
name: orders
description: "Orders of the shop: one row each"
owner: lake-onboarding  # GUESS: name the owning team
source:
  kind: feed
  path: shop/orders
  format: {type: json}
  changes: changes/**
  envelope: {connector: postgresql}
  changes_from:
    kind: kafka
    connection: shop_kafka
    topic: pg.shop.orders
columns:
  id: bigint
  amount: {type: "decimal(10,2)", description: "net, in EUR"}
  placed: {type: date, format: epoch_days}
  state: string
  # shape: string  # left out: Debezium sends no values of polygon
  valid_from_of_row: {type: timestamp, source: [valid_from], format: epoch_micros}
  updated_at: timestamp
key: [id]
storage: {index: bucket, buckets: 4}  # about 1,200,000 rows, 300 MB in the source
"""


def test_the_docs_show_what_is_written(tmp_path):
    written(tmp_path, BY_EVENTS)
    page = ROOT / "docs" / "onboarding.md"
    assert text_of(tmp_path / "shop/orders.yml") in page.read_text("utf-8")


@pytest.mark.parametrize("name, kind", [("orders", "table"), ("_domain", "domain")])
def test_the_first_line_leads_to_the_schema_from_any_folder(tmp_path, name, kind):
    written(tmp_path / "a", BY_EVENTS)
    first = (tmp_path / f"a/shop/{name}.yml").read_text().splitlines()[0]
    path = first.removeprefix("# yaml-language-server: $schema=")
    schema = (tmp_path / "a/shop" / path).resolve()
    assert schema == ROOT / f"docs/schema/{kind}.schema.json" and schema.is_file()


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with nothing but a folder of tables, and its file lake.py."""
    (tmp_path / "dags/tables").mkdir(parents=True)
    (tmp_path / "dags/lake.py").touch()
    found = Project(tmp_path, tmp_path, tmp_path)
    monkeypatch.setattr(writing, "find", lambda: found)
    return found


def test_a_new_domain_of_the_project_gets_its_dag_file(project):
    done = written(project.tables, BY_EVENTS)
    moma = (ROOT / "dags/moma.py").read_text()
    assert done.dag == project.dags / "shop.py"
    assert done.dag.read_text() == moma.replace("moma", "shop")
    first = (project.tables / "shop/orders.yml").read_text().splitlines()[0]
    assert first.endswith("$schema=../../../docs/schema/table.schema.json")


@pytest.mark.parametrize("name", ["shop.py", "builds_every_domain.py"])
def test_a_dag_file_that_is_there_stays_the_only_one(project, name):
    (project.dags / name).write_text("ours")
    assert written(project.tables, BY_EVENTS, force=True).dag is None
    assert (project.dags / name).read_text() == "ours"
    assert {each.name for each in project.dags.glob("*.py")} == {"lake.py", name}


def test_other_folders_of_tables_need_no_dag_file(project, tmp_path):
    assert written(tmp_path / "mine", BY_EVENTS).dag is None
    assert {each.name for each in project.dags.glob("*.py")} == {"lake.py"}


def test_by_queries_a_time_of_changes_is_the_cursor_and_the_order(tmp_path):
    written(tmp_path, BY_QUERY)
    (spec,) = load_domain("shop", tmp_path).tables
    assert spec.source.changes_from.cursor == "updated_at"
    assert spec.source.load_from.table == "shop.orders"
    assert spec.order_by == ("updated_at",)


def test_by_queries_a_table_without_such_a_time_is_a_snapshot(tmp_path):
    still = Table("tags", (Column("id", "integer"),), ORDERS.indexes)
    written(tmp_path, BY_QUERY, Catalog("postgresql", "shop", (still,)))
    (spec,) = load_domain("shop", tmp_path).tables
    assert (spec.source.kind, spec.source.pulled_from.table) == (
        "snapshot",
        "shop.tags",
    )


def test_what_has_no_spec_is_told_with_the_reason(tmp_path):
    found = reasons(written(tmp_path, BY_QUERY))
    assert "no primary key, no unique index" in found["audit"]
    assert found["orders_1"] == "a partition of orders, which has its rows"
    assert found["Odd Names"] == f"its name cannot be pulled. {TABLE.hint}"


def test_columns_that_differ_only_in_case_keep_a_table_out(tmp_path):
    twice = Table("t", (Column("id", "int"), Column("ID", "int")))
    found = reasons(written(tmp_path, BY_EVENTS, Catalog("mariadb", "s", (twice,))))
    assert found["t"].startswith("columns 'id' and 'ID' differ only in case")


def test_odd_names_are_mapped_or_left_out(tmp_path):
    written(tmp_path, BY_EVENTS)
    text = (tmp_path / "shop/odd_names.yml").read_text()
    assert "description: Rows of the table Odd Names in shop  # GUESS" in text
    assert "  key: string\n" in text
    assert '  "on": {type: binary, format: base64}\n' in text
    assert '  # "a\\"b": string  # left out: this name is not valid in a spec' in text
    assert "key: [key]  # GUESS: no primary key; the unique index odd" in text


def test_a_prefix_that_nobody_named_is_a_guess(tmp_path):
    origin = Origin(KAFKA, "shop_db", Connector.POSTGRESQL, "shop_kafka")
    written(tmp_path, origin)
    text = (tmp_path / "shop/orders.yml").read_text()
    assert "topic: shop_db.shop.orders  # GUESS: the connector's topic.prefix" in text


def test_files_that_are_there_stay_until_force(tmp_path):
    written(tmp_path, BY_EVENTS)
    file = tmp_path / "shop/orders.yml"
    domain = tmp_path / "shop/_domain.yml"
    file.write_text("name: mine\n")
    domain.write_text("name: mine\n")
    assert "--force" in reasons(written(tmp_path, BY_EVENTS))["orders"]
    assert file.read_text() == "name: mine\n"
    written(tmp_path, BY_EVENTS, force=True)
    assert "name: orders" in file.read_text()
    assert domain.read_text() == "name: mine\n"


def test_patterns_choose_tables(tmp_path):
    done = written(tmp_path, BY_EVENTS, only=("order*",))
    assert [each.table.name for each in done.drafts] == ["orders"]
    assert list(reasons(done)) == ["orders_1"]


def test_a_catalogue_survives_json():
    assert from_data(to_data(CATALOG)) == CATALOG


def test_texts_of_the_source_cannot_leave_their_line():
    assert one_line("a\nkey: [x]\u2028\x00b") == "a key: [x] b"
    assert scalar("a: b # c") == '"a: b # c"'
    assert scalar("Yes") == '"Yes"'
    assert scalar("a\u2028b") == '"a\\u2028b"'


def test_a_source_whose_changes_get_lost_is_warned_of():
    silent = Table("t", ORDERS.columns, ORDERS.indexes, replica_identity="nothing")
    catalog = Catalog("postgresql", "shop", (), {"wal_level": "replica"})
    found = advice.warnings(catalog, [ORDERS, AUDIT, silent])
    assert len(found) == 3
    assert found[0].startswith("wal_level is replica: changes cannot be captured.")
    assert "ALTER TABLE shop.audit REPLICA IDENTITY FULL" in found[1]
    assert found[2].startswith("t: REPLICA IDENTITY NOTHING does not log the key")


def test_a_binary_log_without_whole_rows_is_warned_of():
    settings = {
        "log_bin": "ON",
        "binlog_format": "MIXED",
        "binlog_row_image": "MINIMAL",
    }
    found = advice.warnings(Catalog("mariadb", "shop", (), settings), [ORDERS])
    assert [each.split(":")[0] for each in found] == [
        "binlog_format is MIXED",
        "binlog_row_image is MINIMAL",
    ]
    settings.update(binlog_format="ROW", binlog_row_image="FULL")
    assert advice.warnings(Catalog("mariadb", "shop", (), settings), [ORDERS]) == []


def test_types_that_debezium_loses_of_mariadb_are_warned_of():
    settings = {"log_bin": "ON", "binlog_format": "ROW", "binlog_row_image": "FULL"}
    kinds = ("bigint(20) unsigned", "uuid", "longblob")
    tables = [Table(each[:4], (Column("c", each),), KEYED) for each in kinds]
    found = advice.warnings(Catalog("mariadb", "shop", (), settings), tables)
    assert [each.split(":")[0] for each in found] == ["bigi", "uuid", "long"]
    assert "a negative number" in found[0]
    assert "--from jdbc" in found[1] and "NULL in the first snapshot" in found[2]


def test_what_debezium_makes_of_types_of_postgresql_is_warned_of():
    kinds = ("numeric(10,2)[]", "integer[]", "time with time zone")
    tables = [
        Table(each[:4], (Column("c", each),), KEYED, replica_identity="default")
        for each in kinds
    ]
    settings = {"wal_level": "logical", DOMAINS_OF_ENUMS: "mood_domain"}
    found = advice.warnings(Catalog("postgresql", "shop", (), settings), tables)
    assert [each.split(":")[0] for each in found] == ["mood_domain", "nume", "time"]
    assert "ends Debezium's connector at its start" in found[0]
    assert "ALTER TABLE shop.nume REPLICA IDENTITY FULL" in found[1]
    assert "loses its offset" in found[2]


def test_values_that_debezium_changes_in_mariadb_are_warned_of():
    settings = {"log_bin": "ON", "binlog_format": "ROW", "binlog_row_image": "FULL"}
    settings["sql_mode"] = "STRICT_TRANS_TABLES,NO_ZERO_DATE"
    kinds = ("year(4)", "enum('x,y','z')", "date")
    tables = [Table(each[:4], (Column("c", each),), KEYED) for each in kinds]
    found = advice.warnings(Catalog("mariadb", "shop", (), settings), tables)
    assert [each.split(":")[0] for each in found] == ["year", "enum", "date"]
    assert "driver.yearIsDateType" in found[0]
    assert "backslash before the comma" in found[1]
    assert "0000-00-00" in found[2]
    settings["sql_mode"] += ",NO_ZERO_IN_DATE"
    assert len(advice.warnings(Catalog("mariadb", "shop", (), settings), tables)) == 2


def test_a_generated_column_is_not_added_by_snapshot_rows_either(tmp_path):
    total = Column("total", "numeric(12,2)", generated=True)
    table = Table(
        "sums", (*ORDERS.columns[:2], total), KEYED, replica_identity="default"
    )
    files = written(tmp_path, BY_EVENTS, Catalog("postgresql", "shop", (table,)))
    text = (tmp_path / "shop" / "sums.yml").read_text()
    assert "  ignore_columns: [total]\n" in text
    assert "  # total: string  # left out: the database computes it" in text
    assert files


def test_a_new_domain_has_a_weekly_maintenance_at_a_minute_of_its_own(tmp_path):
    names = ("shop", "crm", "stock", "sales", "hr")
    told = set()
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "_domain.yml").write_text(domain_text(name, "shop-data"))
        told.add(load_domain(name, tmp_path).schedules.maintenance)
    assert len(told) == len(names)
    assert all(re.fullmatch(r"\d+ [1-4] \* \* 0", each) for each in told)
