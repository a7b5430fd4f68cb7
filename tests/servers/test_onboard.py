"""`onboard` against real catalogues: a hundred tables of many types in each database,
the secret in an emulator for AWS. Every spec that it writes passes `validate`, nothing
that it prints or writes holds the password, and a minute is far more than it needs."""

from __future__ import annotations

import re
import time

import pytest

from lake_check.parsing.loader import load_domain
from tests.servers.onboarding import PASSWORD, Onboarding, keep_secret, emulator

TABLES = 100
MOST_SECONDS = 60

PG_TYPES = """
smallint|integer|bigint|numeric(12,2)|numeric|numeric(5,-2)|numeric(45,3)|real
double precision|money|boolean|text|varchar(20)|char(3)|uuid|json|jsonb|bytea|date
timestamp|timestamp(3)|timestamptz|time|time(3)|timetz|interval|inet|cidr|bit(1)|bit(9)
varbit(5)|integer[]|numeric(8,3)[]|date[]|timestamp[]|text[]|timestamptz[]|uuid[]|xml
point|box|mood|mood[]|positive|int4range|pair|tsvector|oid|"char"
"""
MARIADB_TYPES = """
tinyint|tinyint(1)|tinyint unsigned|smallint|smallint unsigned|mediumint|int
mediumint unsigned|int unsigned|bigint|bigint unsigned|int(6) zerofill|decimal(12,2)
decimal(20,0) unsigned|decimal(65,30)|float|double|float(7,4)|bit(1)|bit(9)|char(3)
varchar(20)|text|longtext|json|uuid|inet6|enum('a','b')|set('x','y')|binary(16)
varbinary(9)|blob|date|datetime|datetime(3)|datetime(6)|time|time(6)|year|point
timestamp null|timestamp(6) null
"""


def kinds(text):
    return [each for line in text.split("\n") for each in line.split("|") if each]


@pytest.fixture(scope="module")
def aws(tmp_path_factory):
    """The address of an emulator for AWS."""
    with emulator(tmp_path_factory.mktemp("aws")) as url:
        yield url


@pytest.fixture(scope="module")
def shop(postgresql):
    """A schema with a hundred tables, and some that are unlike others."""
    types = kinds(PG_TYPES)
    statements = [
        "CREATE SCHEMA shop",
        "SET search_path = shop",
        "CREATE TYPE mood AS ENUM ('good', 'bad')",
        "CREATE TYPE pair AS (a int, b text)",
        "CREATE DOMAIN positive AS numeric(9,3) CHECK (VALUE > 0)",
    ]
    for number in range(TABLES):
        some = [types[(number * 7 + i) % len(types)] for i in range(12)]
        columns = ", ".join(f"c{i} {each}" for i, each in enumerate(some))
        keyed = "id bigint PRIMARY KEY" if number % 2 else "a int, b text"
        end = ", updated_at timestamptz" if number % 3 else ", PRIMARY KEY (a, b)"
        if number % 2 == 0 and number % 3:
            end += ", PRIMARY KEY (a, b)"
        elif number % 2:
            end = end.replace(", PRIMARY KEY (a, b)", "")
        statements.append(f"CREATE TABLE t{number} ({keyed}, {columns}{end})")
    statements += [
        'CREATE TABLE "Order Items" ("OrderID" int, "Line No" int, valid_from date,'
        ' source_ts text, lake_id int, "on" int, PRIMARY KEY ("OrderID", "Line No"))',
        "CREATE TABLE tagged (tag text NOT NULL UNIQUE, words text)",
        "CREATE TABLE nameless (words text)",
        'CREATE TABLE twice (id int PRIMARY KEY, "A" int, a int)',
        "CREATE TABLE parted (id int, day date, PRIMARY KEY (id, day))"
        " PARTITION BY RANGE (day)",
        "CREATE TABLE parted_1 PARTITION OF parted DEFAULT",
        "COMMENT ON TABLE tagged IS 'Tags of articles: one row each, {{ no template }}'",
        "COMMENT ON COLUMN tagged.words IS E'two\\nlines # of words'",
        "INSERT INTO t1 (id) SELECT generate_series(1, 1000)",
        "ANALYZE",
    ]
    with postgresql.connect(autocommit=True) as connection:
        for each in statements:
            connection.execute(each)
    return postgresql


def pg_connection(server):
    return (
        f"shop_db: {{kind: postgresql, host: {server.host}, port: {server.port},"
        f" database: {server.database}, secret: lake/shop, domains: [shop],"
        " tls: false}"
    )


KAFKA = (
    "shop_kafka: {kind: kafka, bootstrap_servers: [kafka.example:9092], security: tls,"
    " domains: [shop, store]}"
)


@pytest.fixture(scope="module")
def events(shop, aws, tmp_path_factory):
    """The whole schema onboarded by Debezium's events."""
    content = {"username": shop.capture_user, "password": PASSWORD}
    keep_secret(aws, "secretsmanager", "lake/shop", content)
    made = Onboarding(aws, tmp_path_factory.mktemp("events"))
    made.write_environment([pg_connection(shop), KAFKA])
    started = time.monotonic()
    made.done = made.run(
        *("--connection", "shop_db", "--schema", "shop", "--domain", "shop"),
        *("--kafka-connection", "shop_kafka", "--topic-prefix", "pg"),
    )
    made.seconds = time.monotonic() - started
    return made


def test_a_hundred_tables_are_onboarded_within_a_minute(events):
    print(f"\n{TABLES + 3} tables of PostgreSQL in {events.seconds:.1f} s")
    assert f"{TABLES + 3} specs written" in events.done.stdout
    assert "no mistakes" in events.done.stdout
    assert events.seconds < MOST_SECONDS


def test_tables_without_a_spec_are_told_with_the_reason(events):
    skipped = re.findall(r"^(nameless|twice|parted_1) +(.*)$", events.done.stdout, re.M)
    assert [name for name, _ in skipped] == ["nameless", "parted_1", "twice"]
    assert "no primary key, no unique index" in skipped[0][1]
    assert "a partition of parted" in skipped[1][1]
    assert "'A' and 'a' differ only in case" in skipped[2][1]


def test_what_the_lake_calls_otherwise_is_mapped(events):
    text = (events.out / "shop/order_items.yml").read_text()
    assert "key: [order_id, line_no]" in text
    assert '  line_no: {type: int, source: ["Line No"]}' in text
    assert "  valid_from_of_row: {type: date, source: [valid_from]" in text
    assert "  source_ts_of_row: {type: string, source: [source_ts]}" in text
    assert "topic: pg.shop.Order_Items" in text


def test_domains_dates_and_bytes_have_the_types_of_debezium(events):
    found = {}
    for table in load_domain("shop", events.out).tables:
        for name, column in table.columns:
            found.setdefault(column.type, set()).add(column.format)
    assert "epoch_days" in found["date"]
    assert {None, "epoch_millis", "epoch_micros"} <= found["timestamp"]
    assert found["binary"] == {"base64"}
    assert found["decimal(9,3)"] == {None}
    assert {"decimal(12,2)", "decimal(7,0)", "array<decimal(8,3)>"} <= set(found)


def test_a_table_that_logs_no_old_rows_is_warned_of(events):
    assert "warning: tagged: no primary key, and REPLICA IDENTITY DEFAULT" in (
        events.done.stderr
    )
    assert "warning: parted: partitioned" in events.done.stderr


def test_a_second_time_nothing_is_written(events):
    before = {p: p.read_bytes() for p in events.out.rglob("*.yml")}
    done = events.run(
        *("--connection", "shop_db", "--schema", "shop", "--domain", "shop"),
        *("--kafka-connection", "shop_kafka", "--topic-prefix", "other"),
    )
    assert "no specs written" in done.stdout
    assert {p: p.read_bytes() for p in events.out.rglob("*.yml")} == before


def test_a_secret_that_says_all_needs_no_connection(shop, aws, tmp_path):
    content = {
        "engine": "postgres",
        "host": shop.host,
        "port": shop.port,
        "dbname": shop.database,
        "username": shop.capture_user,
        "password": PASSWORD,
    }
    keep_secret(aws, "ssm", "/rds/shop", content)
    made = Onboarding(aws, tmp_path)
    made.write_environment([KAFKA])
    done = made.run(
        *("--jdbc-secret", "/rds/shop", "--secret-store", "ssm", "--no-tls"),
        *("--schema", "shop", "--domain", "shop", "--only", "t1,t2*,tagged"),
    )
    assert "  postgres_db: {kind: postgresql, host: " in done.stdout
    assert 'secret: "/rds/shop"' in done.stdout
    by_cursor = (made.out / "shop/t1.yml").read_text()
    assert "cursor: updated_at  # GUESS: only its name says" in by_cursor
    assert "order_by: [updated_at]" in by_cursor
    assert "kind: snapshot" in (made.out / "shop/tagged.yml").read_text()


def test_a_schema_that_is_not_there_is_told_with_those_that_are(events):
    done = events.run(
        *("--connection", "shop_db", "--schema", "shp", "--domain", "shop"), code=1
    )
    told = re.search(
        "'shp' has no tables. Schemas with tables: ([^.]*)[.]", done.stderr
    )
    assert "shop" in told[1].split(", ")  # other tests have schemas of theirs


@pytest.fixture(scope="module")
def store(mariadb, aws, tmp_path_factory):
    """A database of a hundred tables onboarded by events."""
    types = kinds(MARIADB_TYPES)
    user = f"'onboarder'@'{mariadb.host}'"
    mariadb.execute("CREATE DATABASE store")
    mariadb.execute(f"CREATE USER {user} IDENTIFIED BY '{PASSWORD}'")
    mariadb.execute(f"GRANT SELECT ON store.* TO {user}")
    for number in range(TABLES):
        some = [types[(number * 7 + i) % len(types)] for i in range(12)]
        columns = ", ".join(f"c{i} {each}" for i, each in enumerate(some))
        mariadb.execute(
            f"CREATE TABLE store.t{number} (id bigint unsigned PRIMARY KEY, {columns},"
            " changed timestamp(6) NOT NULL DEFAULT now(6) ON UPDATE now(6),"
            " KEY (changed))"
        )
    content = {"username": "onboarder", "password": PASSWORD}
    keep_secret(aws, "secretsmanager", "lake/store", content)
    made = Onboarding(aws, tmp_path_factory.mktemp("store"))
    made.write_environment(
        [
            f"store_db: {{kind: mariadb, host: {mariadb.host}, port: {mariadb.port},"
            " database: store, secret: lake/store, tls: false,"
            " domains: [store, pulled, none]}",
            KAFKA,
        ]
    )
    return made


def test_a_hundred_tables_of_mariadb_within_a_minute(store):
    started = time.monotonic()
    done = store.run(
        *("--connection", "store_db", "--domain", "store"),
        *("--kafka-connection", "shop_kafka", "--topic-prefix", "maria"),
    )
    print(f"\n{TABLES} tables of MariaDB in {time.monotonic() - started:.1f} s")
    assert f"{TABLES} specs written" in done.stdout
    told = re.findall(r"^warning: .*?: (.{18})", done.stderr, re.M)
    assert told == [
        *("bigint unsigned: D", "columns of type uu", "blobs come as NULL"),
        *("a year 0000 ends t", "the server's sql_m"),
    ]
    text = (store.out / "store/t0.yml").read_text()
    assert "envelope: {connector: mariadb}" in text
    assert "topic: maria.store.t0" in text
    types = store.columns("store", "t0")
    assert types["id"] == ("decimal(20,0)", "unsigned_bigint")
    assert types["changed"] == ("timestamp", None)


def test_a_column_that_the_database_moves_is_a_cursor_without_a_guess(store):
    store.run("--connection", "store_db", "--domain", "pulled", "--only", "t3")
    text = (store.out / "pulled/t3.yml").read_text()
    assert "    cursor: changed\n" in text


def test_what_the_database_refuses_is_told_without_the_password(store, aws):
    keep_secret(
        aws, "secretsmanager", "lake/other", {"username": "no", "password": PASSWORD}
    )
    other = store.environment.read_text().replace("lake/store", "lake/other")
    store.environment.write_text(other)
    done = store.run("--connection", "store_db", "--domain", "none", code=1)
    assert "Access denied for user 'no'" in done.stderr
    assert not (store.out / "none").exists()


def test_what_the_source_has_changed_is_told_by_a_check(events, shop):
    asked = ("--connection", "shop_db", "--schema", "shop", "--domain", "shop")
    asked += ("--kafka-connection", "shop_kafka", "--topic-prefix", "pg", "--check")
    assert "0 differ" in events.run(*asked).stdout
    before = {p: p.read_bytes() for p in events.out.rglob("*.yml")}
    shop.execute("ALTER TABLE shop.tagged RENAME words TO remarks")
    try:
        done = events.run(*asked, code=1)
    finally:
        shop.execute("ALTER TABLE shop.tagged RENAME remarks TO words")
    assert "tagged: column words: the table has no words\n" in done.stdout
    assert "tagged: not declared: remarks\n" in done.stdout
    assert "1 differ" in done.stdout
    assert {p: p.read_bytes() for p in events.out.rglob("*.yml")} == before
