"""The servers of `connect` as far as they need no Java: ports, logins, failures."""

from __future__ import annotations

import socket
from dataclasses import replace
from pathlib import Path
from unittest.mock import MagicMock
from urllib.error import URLError

import pytest

from lake_spec.model.connections import PostgreSql

from lake_local.capture import debezium, servers
from lake_local.capture.ports import HOST, free_ports
from lake_local.capture.request import Capture
from lake_local.capture.server import ServerError
from lake_local.capture.servers import Broker, Worker, running
from lake_local.errors import BadRequest, Missing
from lake_local.onboard.server import Server
from lake_local.workspace.state_dir import StateDirectory

TRACE = """\
org.apache.kafka.connect.errors.ConnectException: Exiting
\tat io.debezium.Some.java(1)
Caused by: io.debezium.DebeziumException: Creation of replication slot failed
\tat io.debezium.Some.java(2)
Caused by: org.postgresql.util.PSQLException: ERROR: all replication slots are in use
\tat org.postgresql.Some.java(3)
"""


def looked():
    """Nothing is seen of a slot."""


def capture(port):
    database = PostgreSql("db", "shop", "s", ("shop",))
    return Capture("shop", "shop_db", database, port, "pg", (("public", "orders"),))


def test_a_port_that_is_taken_is_refused_before_anything_is_started(tmp_path):
    login = Server("postgresql", "db", 5432, "shop", "lake", "hush")
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(BadRequest, match=f"{HOST}:{port} is in use"):
            with running(StateDirectory.at(tmp_path), capture(port), login):
                pass


def test_the_connector_checks_a_database_by_a_file_of_its_own(tmp_path, monkeypatch):
    worker = MagicMock()
    worker.__enter__.return_value = worker
    monkeypatch.setattr(servers, "Broker", MagicMock())
    monkeypatch.setattr(servers, "Worker", lambda *a: worker)
    login = Server("postgresql", "db", 5432, "shop", "lake", "hush", ca="PEM")
    (port,) = free_ports(1)
    for checked, mode in ((login, "verify-full"), (replace(login, ca=""), "require")):
        with running(StateDirectory.at(tmp_path), capture(port), checked):
            _, config = worker.put_connector.call_args[0]
        assert config["database.sslmode"] == mode
        file = config.get("database.sslrootcert")
        assert file is None or Path(file).read_text() == "PEM"
        assert (file is None) is (mode == "require")


def test_a_missing_java_is_named_before_anything_is_started(tmp_path, monkeypatch):
    monkeypatch.setattr(servers, "installed", lambda piece: tmp_path)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Missing, match="Java is not installed: .* JAVA_HOME to one"):
        servers.require_installed()


@pytest.fixture
def worker(tmp_path, monkeypatch):
    monkeypatch.setattr("lake_local.capture.connect.installed", lambda piece: tmp_path)
    (port,) = free_ports(1)
    env = {"PATH": "/bin", debezium.PASSWORD: "hush"}
    return Worker(tmp_path, Broker(tmp_path, port, env), env)


def test_the_worker_resolves_the_login_and_no_other_variable(worker):
    settings = worker.settings()
    assert "hush" not in str(settings)
    allowed = settings["config.providers.env.param.allowlist.pattern"]
    assert allowed == "LAKE_CAPTURE_USER|LAKE_CAPTURE_PASSWORD"
    assert worker.popen_options()["env"][debezium.PASSWORD] == "hush"


def test_the_broker_keeps_messages_for_a_run_that_comes_late(tmp_path):
    assert Broker(tmp_path, 9092, {}).settings()["log.retention.ms"] == "-1"


def test_a_failed_connector_is_reported_with_its_root_cause(worker, monkeypatch):
    status = {
        "connector": {"state": "RUNNING"},
        "tasks": [{"state": "FAILED", "trace": TRACE}],
    }
    monkeypatch.setattr(worker, "status", lambda name: status)
    with pytest.raises(ServerError) as failed:
        worker.require_health("shop")
    words = str(failed.value)
    assert "connector shop failed" in words and str(worker.log) in words
    assert "all replication slots are in use" in words and "Creation" not in words


def test_a_worker_that_does_not_answer_for_a_while_is_asked_again(worker, monkeypatch):
    answers = iter([URLError("timed out"), ServerError("connector shop failed")])

    def require_health(name):
        raise next(answers)

    monkeypatch.setattr(worker, "require_health", require_health)
    monkeypatch.setattr(Broker, "pid", 1)
    monkeypatch.setattr(Worker, "pid", 1)
    monkeypatch.setattr(servers, "WATCH_SECONDS", 0)
    with pytest.raises(ServerError, match="connector shop failed"):
        servers.Running(capture(9092), worker.kafka, worker).watch(looked)


def test_a_server_that_ended_is_reported_with_its_log(worker):
    watched = servers.Running(capture(9092), worker.kafka, worker)
    with pytest.raises(ServerError, match="kafka ended; see .*kafka.log"):
        watched.watch(looked)
