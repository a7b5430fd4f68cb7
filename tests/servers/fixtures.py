"""Servers for tests, started by the first test that asks and ended after the last.

A conftest.py offers them with `from tests.servers.fixtures import *`.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Iterator

import pytest

from tests.ending import ended_in_order
from tests.servers.connect import DistributedConnect
from tests.servers.kafka import Kafka
from tests.servers.mariadb import MariaDb
from tests.servers.postgresql import PostgreSql

__all__ = [
    "connect",
    "ended_in_order",
    "kafka",
    "mariadb",
    "postgresql",
    "server_folder",
    "servers_folder",
]


@pytest.fixture(scope="session")
def servers_folder(ended_in_order: None) -> Iterator[Path]:
    """A folder that also `nobody` may enter, as those of pytest are not."""
    folder = Path(tempfile.mkdtemp(prefix="lake-servers-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def server_folder(servers_folder: Path) -> Path:
    """A folder for a server that one test starts by itself."""
    folder = Path(tempfile.mkdtemp(dir=servers_folder))
    folder.chmod(0o755)
    return folder


@pytest.fixture(scope="session")
def postgresql(servers_folder: Path) -> Iterator[PostgreSql]:
    """PostgreSQL that changes can be captured from."""
    with PostgreSql(servers_folder / "postgresql") as server:
        yield server


@pytest.fixture(scope="session")
def mariadb(servers_folder: Path) -> Iterator[MariaDb]:
    """MariaDB that changes can be captured from."""
    with MariaDb(servers_folder / "mariadb") as server:
        yield server


@pytest.fixture(scope="session")
def kafka(servers_folder: Path) -> Iterator[Kafka]:
    """A broker."""
    with Kafka(servers_folder / "kafka") as server:
        yield server


@pytest.fixture(scope="session")
def connect(servers_folder: Path, kafka: Kafka) -> Iterator[DistributedConnect]:
    """A worker with Debezium's connectors, which writes each record once."""
    with DistributedConnect(servers_folder / "connect", kafka) as server:
        yield server
