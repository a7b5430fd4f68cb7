"""Tables that pull their files, and the servers of environments: what is refused."""

import pytest

from tests.unit.lake_check.spec_files import (
    ENVIRONMENT,
    FEED,
    LEFT_OUT,
    SNAPSHOT,
    changed,
    diagnostics_of,
    diagnostics_of_file,
)

FROM_DATABASE = changed(
    FEED,
    {
        "source.format": {"type": "parquet"},
        "source.operation": LEFT_OUT,
        "source.load": "load/**",
        "source.changes": "changes/**",
        "source.load_from": {"connection": "shop_db", "table": "public.orders"},
        "source.changes_from": {
            "kind": "jdbc",
            "connection": "shop_db",
            "table": "public.orders",
            "cursor": "updated_at",
        },
    },
)
FROM_TOPIC = changed(
    FROM_DATABASE,
    {
        "source.format": {"type": "json"},
        "source.changes_from": {
            "kind": "kafka",
            "connection": "shop_kafka",
            "topic": "shop.public.orders",
        },
    },
)
SNAPSHOTS = changed(
    SNAPSHOT,
    {
        "source.format": {"type": "parquet"},
        "source.files": "snapshots/**",
        "source.snapshot_time": {
            "pattern": "snapshots/([^/]+)/",
            "format": "%Y-%m-%dT%H-%M-%S",
        },
        "source.pulled_from": {"connection": "shop_db", "table": "orders"},
    },
)
DATABASE = {
    "kind": "postgresql",
    "host": "shop.example.internal",
    "database": "shop",
    "secret": "lake/dev/shop",
    "domains": ["sales"],
}
KAFKA = {
    "kind": "kafka",
    "bootstrap_servers": ["b-1.example.internal:9096"],
    "secret": "AmazonMSK_lake",
    "domains": ["sales"],
}
SERVERS = changed(
    ENVIRONMENT, {"connections": {"shop_db": DATABASE, "shop_kafka": KAFKA}}
)


@pytest.mark.parametrize(
    "base",
    [FROM_DATABASE, FROM_TOPIC, SNAPSHOTS],
    ids=["database", "topic", "snapshots"],
)
@pytest.mark.parametrize("format", ["parquet", "avro", "orc", "json"])
def test_a_table_that_pulls_has_no_diagnostic(specs, base, format):
    assert diagnostics_of(specs, base, {"source.format": {"type": format}}) == []


def one_diagnostic(specs, base, changes):
    (diagnostic,) = diagnostics_of(specs, base, changes)
    return diagnostic


def test_only_a_pull_by_a_cursor_is_read_again_for_a_new_column(specs):
    asked = {"source.new_columns": "refresh"}
    assert diagnostics_of(specs, FROM_DATABASE, asked) == []
    for others in (FEED, SNAPSHOTS, FROM_TOPIC):
        diagnostic = one_diagnostic(specs, others, asked)
        assert diagnostic.startswith("source.new_columns: got 'refresh'. Write add: ")


@pytest.mark.parametrize(
    "setting, value, message",
    [
        ("load_from.connection", "../x", "got '../x'. Write 1 to 63 of a-z"),
        ("load_from.table", 'a"; DROP', "Write table or schema.table, each of A-Z a-z"),
        ("load_from.table", "a.b.c", "got 'a.b.c'. Write table or schema.table"),
        ("load_from.parallel", 0, "got 0. Choose a number from 1 to 64."),
        ("load_from.parallel", 65, "got 65. Choose a number from 1 to 64."),
        ("changes_from.table", "1st", "got '1st'. Write table or schema.table"),
        ("changes_from.overlap", -1, "got -1. Choose a number from 0 to 31622400."),
    ],
)
def test_what_is_pulled_is_named_by_allow_lists(specs, setting, value, message):
    diagnostic = one_diagnostic(specs, FROM_DATABASE, {f"source.{setting}": value})
    assert diagnostic.startswith(f"source.{setting}: ") and message in diagnostic


def test_a_cursor_is_a_plain_name(specs):
    found = diagnostics_of(specs, FROM_DATABASE, {"source.changes_from.cursor": "a b"})
    assert found[0] == (
        "source.changes_from.cursor: got 'a b'. Write a column of A-Z a-z 0-9 _ $, as"
        " in updated_at."
    )


@pytest.mark.parametrize(
    "setting, value, message",
    [
        (
            "topic",
            "a/b",
            "got 'a/b'. Write 1 to 249 of A-Z a-z 0-9 . _ -.",
        ),
        ("topic", "..", "got '..'. Write"),
        ("topic", "x" * 250, "Write"),
        ("messages_per_file", 0, "got 0. Choose a number from 1 to 1000000."),
    ],
)
def test_topics_are_named_by_an_allow_list(specs, setting, value, message):
    diagnostic = one_diagnostic(
        specs, FROM_TOPIC, {f"source.changes_from.{setting}": value}
    )
    assert message in diagnostic


@pytest.mark.parametrize("base", [FROM_DATABASE, SNAPSHOTS], ids=["feed", "snapshots"])
def test_rows_of_databases_are_not_landed_as_csv(specs, base):
    assert one_diagnostic(specs, base, {"source.format": {"type": "csv"}}) == (
        "source.format.type: got 'csv'. CSV has no types, and rows are pulled with "
        "theirs: choose parquet, avro, orc or json."
    )


@pytest.mark.parametrize(
    "base, setting, glob, folder",
    [
        (FROM_DATABASE, "load", "load/*", "load"),
        (FROM_DATABASE, "changes", "changes/*", "changes"),
        (FROM_TOPIC, "changes", "changes/*/*", "changes"),
        (SNAPSHOTS, "files", "*.parquet", "snapshots"),
    ],
)
def test_a_glob_that_misses_what_is_pulled_is_told(specs, base, setting, glob, folder):
    assert one_diagnostic(specs, base, {f"source.{setting}": glob}) == (
        f"source.{setting}: got '{glob}'. Files are pulled to folders below "
        f"{folder}/, which it does not match: write {folder}/**."
    )


def test_a_glob_that_takes_the_other_files_too_is_told(specs):
    assert one_diagnostic(specs, FROM_DATABASE, {"source.changes": "**"}) == (
        "source.changes: got '**'. It also matches load/, where the files of `load` "
        "are pulled to: write changes/**."
    )


def test_a_cursor_sees_no_deletes(specs):
    diagnostic = one_diagnostic(
        specs, FROM_DATABASE, {"source.operation": {"column": "op"}}
    )
    assert diagnostic.startswith(
        "source.operation: got 'op'. Remove this: a pull by cursor reads upserts"
    )


def test_the_cursor_orders_the_rows(specs):
    renamed = {"columns.updated_at": {"type": "timestamp", "source": ["Changed"]}}
    found = diagnostics_of(specs, FROM_DATABASE, renamed)
    assert found == [
        "order_by: got ['updated_at']. The cursor 'updated_at' orders the rows: name its"
        " column here."
    ]
    renamed["source.changes_from.cursor"] = "changed"
    assert diagnostics_of(specs, FROM_DATABASE, renamed) == []


@pytest.mark.parametrize(
    "where",
    [
        {"pattern": r"(\d{4}-\d{2}-\d{2})", "format": "%Y-%m-%d"},
        {"pattern": "snapshot_([^/]+)/", "format": "%Y-%m-%dT%H-%M-%S"},
        {"column": "exported_at", "format": "%Y-%m-%d"},
    ],
    ids=["day", "other-folder", "column"],
)
def test_the_time_of_pulled_snapshots_is_read_to_the_second(specs, where):
    diagnostic = one_diagnostic(specs, SNAPSHOTS, {"source.snapshot_time": where})
    assert diagnostic.endswith(
        "Snapshots are pulled into snapshots/<time>/, to the second and in UTC: write"
        " {pattern: 'snapshots/([^/]+)/', format: '%Y-%m-%dT%H-%M-%S'}."
    )


def test_paths_of_pulled_snapshots_name_no_scope(specs):
    scope = {"column": "status", "pattern": "status=([^/]+)/"}
    diagnostic = one_diagnostic(specs, SNAPSHOTS, {"source.scope": scope})
    assert diagnostic.startswith(
        "source.scope.pattern: got 'status=([^/]+)/'. Remove the pattern: paths of "
        "pulled snapshots"
    )


def environment_diagnostics(specs, changes, base=SERVERS):
    return diagnostics_of_file(specs, "environments/dev.yml", base, changes)


def test_an_environment_with_servers_and_jars_has_no_diagnostic(specs):
    jars = ["s3://lake/artifacts/jars/postgresql-42.7.4.jar"]
    assert environment_diagnostics(specs, {"jars": jars}) == []


@pytest.mark.parametrize(
    "setting, value, message",
    [
        ("shop_db.host", "http://x", "Write a host name or an IPv4 address"),
        ("shop_db.host", "x:5432", "Write a host name or an IPv4 address"),
        (
            "shop_db.database",
            "a?ssl=no",
            "Write a name of A-Z a-z 0-9 _ $ - that begins",
        ),
        ("shop_db.port", 65536, "got 65536. Choose a number from 1 to 65535."),
        ("shop_db.secret", "a b", "Write the secret's name, of A-Z"),
        ("shop_db.secret_store", "vault", "Choose one of: secrets_manager, ssm."),
        ("shop_kafka.bootstrap_servers", [], "Name a broker"),
        ("shop_kafka.bootstrap_servers", ["b-1"], "got 'b-1'. Write host:port"),
        ("shop_kafka.bootstrap_servers", ["b:0"], "got 'b:0'. Write host:port"),
        (
            "shop_kafka.secret",
            LEFT_OUT,
            "secret: missing. scram requires a user and a password: give the",
        ),
        ("shop_db.ca", "rds.pem", "got 'rds.pem'. Write the s3:// URI of a .pem file"),
        ("shop_db.ca", "s3://lake/ca/", "Write the s3:// URI of a .pem file"),
        ("shop_kafka.ca", "s3://lake/*.pem", "Write the s3:// URI of a .pem file"),
        ("shop_db.domains", [], "got []. List the domains that may pull from it."),
        ("shop_db.domains", ["*"], "domains[0]: got '*'. Write 1 to 63 of a-z"),
        ("shop_kafka.domains", ["a", "b", "a"], "domains[2]: got 'a'. Name each"),
        (
            "shop_kafka.domains",
            LEFT_OUT,
            "domains: missing. Domains whose tables may pull from it; no other domain "
            "gets its secret. Write for example `domains: [shop]`.",
        ),
        ("Shop", DATABASE, "connections.Shop: got 'Shop'. Write 1 to 63 of a-z"),
    ],
)
def test_servers_are_named_by_allow_lists(specs, setting, value, message):
    (diagnostic,) = environment_diagnostics(specs, {f"connections.{setting}": value})
    assert diagnostic.startswith("connections.") and message in diagnostic


CA = "s3://lake/artifacts/certificates/global-bundle.pem"


def test_certificates_are_for_encrypted_connections(specs):
    encrypted = {"connections.shop_db.ca": CA, "connections.shop_kafka.ca": CA}
    assert environment_diagnostics(specs, encrypted) == []
    secret = {"connections.shop_kafka.secret": LEFT_OUT}
    plain = {"connections.shop_kafka.security": "plaintext", **secret}
    without = {**encrypted, **plain, "connections.shop_db.tls": False}
    assert environment_diagnostics(specs, without) == [
        f"connections.{name}.ca: got '{CA}'. No certificate is seen without TLS: remove "
        "this, or turn TLS on."
        for name in ("shop_db", "shop_kafka")
    ]


def test_a_parameter_has_the_name_of_a_parameter(specs):
    changes = {
        "connections.shop_db.secret_store": "ssm",
        "connections.shop_db.secret": "a@b",
    }
    (diagnostic,) = environment_diagnostics(specs, changes)
    assert "secret: got 'a@b'. Write the parameter's name" in diagnostic


@pytest.mark.parametrize("jar", ["x.jar", "s3://lake/x.zip", "s3://lake/a,b.jar"])
def test_jars_are_s3_uris(specs, jar):
    (diagnostic,) = environment_diagnostics(specs, {"jars": [jar]})
    assert diagnostic.startswith(f"jars[0]: got '{jar}'. Write the s3:// URI of a jar")


def test_a_connection_that_an_environment_lacks_is_told_once(specs):
    specs.put("tables/sales/orders.yml", FROM_DATABASE)
    changes = {"connections": {"shop_dv": DATABASE}}
    assert environment_diagnostics(specs, changes) == [
        "connections: unknown connection 'shop_db'. Did you mean 'shop_dv'? "
        "sales.orders (source.load_from) uses it: add a connection of kind postgresql "
        "or mariadb, or correct the table."
    ]


def test_a_connection_of_another_kind_is_told(specs):
    specs.put("tables/sales/orders.yml", FROM_DATABASE)
    assert environment_diagnostics(specs, {"connections.shop_db": KAFKA}) == [
        "connections.shop_db.kind: got 'kafka'. sales.orders (source.load_from) "
        "requires a connection of kind postgresql or mariadb."
    ]


def test_an_environment_without_servers_pulls_nothing_and_has_no_diagnostic(specs):
    specs.put("tables/sales/orders.yml", FROM_DATABASE)
    assert environment_diagnostics(specs, {}, base=ENVIRONMENT) == []


@pytest.mark.parametrize(
    "base, connection, setting",
    [
        (FROM_DATABASE, "shop_db", "load_from"),
        (FROM_TOPIC, "shop_kafka", "changes_from"),
        (SNAPSHOTS, "shop_db", "pulled_from"),
    ],
    ids=["database", "topic", "snapshots"],
)
def test_a_connection_of_other_domains_is_told_once(specs, base, connection, setting):
    for name in ("orders", "returns"):
        changes = {"name": name, "source.path": f"sales/{name}"}
        specs.put(f"tables/sales/{name}.yml", changed(base, changes))
    others = {f"connections.{connection}.domains": ["hr", "legal"]}
    assert environment_diagnostics(specs, others) == [
        f"connections.{connection}.domains: got ['hr', 'legal']. sales.orders "
        f"(source.{setting}) pulls from {connection}, which is not for sales: ask those "
        f"who answer for {connection} to add sales here, or name another connection in "
        "the table."
    ]


def test_a_misspelt_domain_of_a_connection_is_told(specs):
    changes = {"connections.shop_db.domains": ["sale"]}
    assert environment_diagnostics(specs, changes) == [
        "connections.shop_db.domains[0]: unknown domain 'sale'. Did you mean 'sales'?"
    ]


def test_what_is_pulled_is_landed_in_lines(specs):
    as_array = {"source.format": {"type": "json", "layout": "array"}}
    assert diagnostics_of(specs, FROM_TOPIC, as_array) == [
        "source.format.layout: got 'array'. What `load_from` pulls is landed one object a"
        " line: remove it.",
        "source.format.layout: got 'array'. What `changes_from` pulls is landed one object"
        " a line: remove it.",
    ]


def test_arrays_that_others_land_are_read(specs):
    as_array = {"source.format": {"type": "json", "layout": "array"}}
    assert diagnostics_of(specs, FEED, as_array) == []
    assert diagnostics_of(specs, FEED, {"source.format.layout": "array"}) != []
