"""Servers whose certificates are checked: the right one, another's, and another name.

Each database has a certificate of the authority `right`, which names `localhost`.
"""

from __future__ import annotations

import socket
import ssl
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from lake_local.onboard import mariadb, postgresql
from lake_local.onboard.server import Server as OnboardServer
from lake_local.onboard.server import Unreachable
from lake_spark.errors import PullFailed, WrongCertificates
from lake_spark.sources import kafka_admin
from lake_spark.sources.database import Server
from lake_spark.sources.mariadb import MariaDbDialect
from lake_spark.sources.secrets import Credentials
from lake_spec.model import KafkaCluster
from lake_spec.model.choices import KafkaSecurity
from tests.servers.certificates import Authority
from tests.servers.fixtures import (  # noqa: F401
    ended_in_order,
    server_folder,
    servers_folder,
)
from tests.servers.tls import NAME, TlsMariaDb, TlsPostgreSql
from tests.spark.pulling import (
    FEED,
    PASSWORD,
    PullingLake,
    mariadb_at,
    postgresql_at,
    things,
)

ROWS = "CREATE TABLE {} (id int PRIMARY KEY, updated_at timestamp NULL)"


@pytest.fixture(scope="module")
def authorities(tmp_path_factory):
    folder = tmp_path_factory.mktemp("authorities")
    return {name: Authority(folder, name) for name in ("right", "wrong")}


@pytest.fixture(scope="module")
def databases(servers_folder, authorities):  # noqa: F811
    """Both kinds, each with a table `things` of one row, and their readers of catalogues."""
    right = authorities["right"]
    with TlsPostgreSql(servers_folder / "pg-tls", right) as pg, TlsMariaDb(
        servers_folder / "mariadb-tls", right
    ) as maria:
        pg.execute("CREATE ROLE lake LOGIN; GRANT pg_read_all_data TO lake")
        pg.execute(ROWS.format("things"))
        pg.execute("INSERT INTO things VALUES (1, now())")
        maria.execute("CREATE DATABASE shop")
        maria.execute(ROWS.format("shop.things"))
        maria.execute("INSERT INTO shop.things VALUES (1, now())")
        maria.execute(f"CREATE USER lake IDENTIFIED BY '{PASSWORD}'")
        maria.execute("GRANT ALL ON shop.* TO lake")
        yield {
            "postgresql": (postgresql_at(pg), postgresql),
            "mariadb": (mariadb_at(maria, "shop"), mariadb),
        }


@pytest.fixture(autouse=True)
def own_files(request):
    """Remove what the driver's working folder gets, which is the checkout here.

    At the very end: Spark gives its files to each task that needs them, and fails without.
    """
    before = set(Path.cwd().glob("lake-ca-*"))
    yield
    for each in set(Path.cwd().glob("lake-ca-*")) - before:
        request.config.add_cleanup(partial(each.unlink, missing_ok=True))


KINDS = pytest.mark.parametrize("kind", ["postgresql", "mariadb"])


def bundle(folder, *authorities):
    """A file of several authorities, with words between them, as people have them."""
    file = folder / "bundle.pem"
    texts = [each.certificate.read_text() for each in authorities]
    file.write_text("# a comment\n".join(texts))
    return file


def pulled(spark, tmp_path, connection, ca, host=NAME):
    trusted = replace(connection, tls=True, ca=f"file://{ca}", host=host)
    lake = PullingLake(spark, tmp_path, things(FEED, "things"), trusted)
    lake.pull("full_load")
    return [row.id for row in lake.landed("load").collect()]


@KINDS
def test_a_server_is_read_whose_authority_is_one_of_the_file(
    spark, databases, authorities, tmp_path, kind
):
    ca = bundle(tmp_path, authorities["wrong"], authorities["right"])
    assert pulled(spark, tmp_path, databases[kind][0], ca) == [1]


@KINDS
@pytest.mark.parametrize(
    "authority, host", [("wrong", NAME), ("right", "127.0.0.1")], ids=["ca", "name"]
)
def test_another_s_certificate_and_another_name_are_refused(
    spark, databases, authorities, tmp_path, kind, authority, host
):
    ca = authorities[authority].certificate
    with pytest.raises(PullFailed) as told:
        pulled(spark, tmp_path, databases[kind][0], ca, host)
    print(told.value)
    assert str(told.value).endswith(
        f"The server that answers as {host} is not the one that is trusted: check `host`,"
        " which its certificate must name, and `ca`, which must have signed it"
    )
    assert not list(tmp_path.rglob("part-*"))


@KINDS
def test_a_file_without_certificates_is_told_before_anybody_is_asked(
    spark, databases, tmp_path, kind
):
    (tmp_path / "empty.pem").write_text("-----BEGIN CERTIFICATE-----\n")
    with pytest.raises(WrongCertificates, match="holds no certificate in PEM"):
        pulled(spark, tmp_path, databases[kind][0], tmp_path / "empty.pem")
    with pytest.raises(WrongCertificates, match="cannot be read: it does not exist"):
        pulled(spark, tmp_path, databases[kind][0], tmp_path / "none.pem")


@KINDS
def test_onboard_checks_it_too(databases, authorities, kind):
    connection, reader = databases[kind]
    names = ("host", "port", "database")
    place = {each: getattr(connection, each) for each in names}
    server = OnboardServer(
        kind, **{**place, "host": NAME}, username="lake", password=PASSWORD
    )
    texts = {name: each.certificate.read_text() for name, each in authorities.items()}
    both = texts["wrong"] + texts["right"]
    schema = "public" if kind == "postgresql" else "shop"
    found = reader.read(replace(server, ca=both), schema)
    assert [each.name for each in found.tables] == ["things"]
    for ca, host in ((texts["wrong"], NAME), (texts["right"], "127.0.0.1")):
        with pytest.raises(Unreachable, match="certificate"):
            reader.read(replace(server, ca=ca, host=host), schema)


def test_mariadb_gets_no_file_of_the_machine_that_reads_it(spark, databases, tmp_path):
    (tmp_path / "secret").write_text("7\n")
    who = Credentials("lake", PASSWORD)
    server = Server("shop", databases["mariadb"][0], who, MariaDbDialect())
    with server.session(spark) as session:
        session.execute("COMMIT")
        with pytest.raises(Exception, match="(?i)local.infile"):
            session.execute(
                f"LOAD DATA LOCAL INFILE '{tmp_path / 'secret'}' INTO TABLE things"
            )


@pytest.fixture
def broker(authorities):
    """A port that does a TLS handshake with each client, and what became of each."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authorities["right"].sign(NAME))
    heard = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer():
            while True:
                try:
                    client, _ = listening.accept()
                except OSError:
                    return
                try:
                    with context.wrap_socket(client, server_side=True) as encrypted:
                        heard.append(encrypted.recv(1) != b"")
                except OSError:  # of ssl, too
                    heard.append(False)

        threading.Thread(target=answer, daemon=True).start()
        yield listening.getsockname()[1], heard


@pytest.mark.parametrize(
    "authority, host, is_trusted",
    [
        ("right", NAME, True),
        ("wrong", NAME, False),
        ("right", "127.0.0.1", False),
        (None, NAME, False),
    ],
    ids=["right", "wrong-ca", "wrong-name", "what-java-trusts"],
)
def test_kafka_s_client_says_nothing_to_a_broker_that_is_not_trusted(
    spark, broker, authorities, authority, host, is_trusted
):
    port, heard = broker
    cluster = KafkaCluster((f"{host}:{port}",), ("tests",), KafkaSecurity.TLS)
    text = authorities[authority].certificate.read_text() if authority else None
    settings = kafka_admin.properties(cluster, None, text)
    soon = {"request.timeout.ms": "1000", "default.api.timeout.ms": "2000"}
    with pytest.raises(PullFailed):
        kafka_admin.describe(spark, "things", {**settings, **soon})
    assert any(heard) is is_trusted and heard
