"""PostgreSQL and MariaDB by themselves: each starts, keeps a row through kill -9,
and leaves no process and no port behind. One row, written once."""

from __future__ import annotations

import os
import socket

import pytest

from tests.servers.mariadb import MariaDb
from lake_local.capture.ports import HOST, is_free
from tests.servers.postgresql import PostgreSql
from tests.servers.processes import processes_of
from tests.servers.server import ServerError

each_database = pytest.mark.parametrize("kind", [PostgreSql, MariaDb])


@each_database
def test_it_starts_answers_and_is_gone_afterwards(kind, server_folder):
    with kind(server_folder) as server:
        assert server.execute("SELECT 1 + %s", (1,)) == [(2,)]
        assert processes_of(server_folder) != []
    assert processes_of(server_folder) == []
    assert is_free(server.port)


@each_database
def test_a_killed_one_starts_again_with_what_was_committed(kind, server_folder):
    with kind(server_folder) as server:
        server.execute("CREATE SCHEMA shop")
        server.execute("CREATE TABLE shop.item (id INT PRIMARY KEY)")
        server.execute("INSERT INTO shop.item VALUES (7)")
        server.kill()
        assert is_free(server.port)
        server.start()
        assert server.execute("SELECT id FROM shop.item") == [(7,)]


@each_database
def test_one_that_cannot_start_says_why_and_leaves_nothing(kind, server_folder):
    server = kind(server_folder)
    with socket.create_server((HOST, server.port)):
        with pytest.raises(ServerError, match="(?s)exit code.*already in use"):
            with server:
                pass
    assert processes_of(server_folder) == []


def test_rows_that_are_not_committed_are_not_seen_by_others(postgresql):
    postgresql.execute("CREATE TABLE uncommitted (id INT)")
    with postgresql.connect() as connection:
        connection.execute("INSERT INTO uncommitted VALUES (1)")
        assert postgresql.execute("SELECT * FROM uncommitted") == []
        connection.rollback()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts it as somebody else")
def test_a_folder_that_its_user_may_not_enter_is_refused(server_folder):
    server_folder.chmod(0o700)
    with pytest.raises(ServerError, match=f"may not enter {server_folder}"):
        with PostgreSql(server_folder / "closed"):
            pass
