"""`status` says the same to people and to programs."""

from __future__ import annotations

import json
import sqlite3

import pytest
from botocore.exceptions import EndpointConnectionError

from lake_local.capture import slots
from lake_local.cli.commands import status
from lake_local.cli.parser import parse
from lake_local.stack.stack import Stack
from lake_local.workspace.background import Process
from lake_local.workspace.state_dir import StateDirectory


@pytest.fixture
def home(tmp_path):
    """A state directory with one run in Airflow's database."""
    home = StateDirectory.at(tmp_path)
    home.create()
    database = sqlite3.connect(home.airflow / "airflow.db")
    columns = "dag_id, run_id, state, start_date, end_date, queued_at"
    database.execute(f"create table dag_run ({columns})")
    row = ("moma_scd2", "cli__1", "running", "2026-01-31 06:30:00.123", None, None)
    database.execute("insert into dag_run values (?, ?, ?, ?, ?, ?)", row)
    database.commit()
    database.close()
    return home


@pytest.fixture
def up(home, monkeypatch):
    """The same with a process noted that is dead."""
    dead = Process("aws", 2**22 + 1, 1.0)
    since, root = "2026-01-31 06:00:00", str(home.root)
    stack = Stack("/t", 1234, since=since, processes=[dead], home=root)
    stack.note()
    monkeypatch.setattr(Stack, "aws", lambda *args: None)
    return stack


def printed(home, capsys, *argv):
    args = parse(["--state-dir", str(home.root), "status", *argv])
    assert args.run(args) == 0
    return capsys.readouterr().out


def test_where_nothing_is_up_json_has_the_last_runs(home, capsys):
    assert json.loads(printed(home, capsys, "--json")) == {
        "state_dir": str(home.root),
        "in_use_by": [],
        "up": None,
        "left_over": [],
        "clusters": [],
        "leases": [],
        "problems": [],
        "slots": [],
        "last_runs": [
            {
                "dag": "moma_scd2",
                "run": "cli__1",
                "state": "running",
                "started": "2026-01-31 06:30:00",
                "ended": None,
            }
        ],
    }


def test_a_slot_that_connect_made_is_shown_with_what_drops_it(home, capsys):
    slot = slots.Slot("shop", "db:5432/shop", "lake_shop")
    slots.note(home, slot, slots.Found(is_active=False, lag=1234567))
    (line,) = [e for e in printed(home, capsys).splitlines() if "lake_shop" in e]
    assert line.startswith("The replication slot lake_shop of db:5432/shop stays:")
    assert "(of 1,234,567 bytes at 20" in line
    assert "connect shop --drop-slot" in line
    assert line.endswith("or there: SELECT pg_drop_replication_slot('lake_shop');")
    slots.forget(home, slot)
    assert "lake_shop" not in printed(home, capsys)


def test_where_nothing_is_up_people_read_so(home, capsys):
    _, nothing, title, _, _, run = printed(home, capsys).splitlines()
    assert (nothing, title) == ("Nothing is running.", "Last runs")
    assert run.split()[:3] == ["moma_scd2", "cli__1", "running"]


def test_clusters_and_leases_of_what_is_up(home, up, capsys, monkeypatch):
    cluster = {"Id": "j-1", "Status": {"State": "RUNNING"}, "Name": "lake moma"}
    lease = {"holder": "moma_scd2/cli__1", "since": "2026-01-31T06:30:00.5Z"}
    monkeypatch.setattr(status.emulator, "live_clusters", lambda emr: [cluster])
    monkeypatch.setattr(status.objects, "under", lambda s3, url: ["x/moma.json"])
    monkeypatch.setattr(status.objects, "read_json", lambda s3, url: lease)
    found = json.loads(printed(home, capsys, "--json"))
    (process,) = found["up"]["processes"]
    assert (process["name"], process["state"]) == ("aws", "ended")
    assert process["address"] == "http://127.0.0.1:1234"
    assert found["clusters"] == [{"id": "j-1", "state": "RUNNING", "name": "lake moma"}]
    assert found["leases"][0]["since"] == "2026-01-31T06:30:00"
    words = printed(home, capsys)
    assert "Lease of moma: moma_scd2/cli__1 since 2026-01-31T06:30:00 UTC" in words
    assert "j-1      RUNNING  lake moma" in words


def test_an_emulator_that_does_not_answer_is_a_problem(home, up, capsys, monkeypatch):
    def gone(*args):
        raise EndpointConnectionError(endpoint_url="http://127.0.0.1:1234")

    monkeypatch.setattr(status.emulator, "live_clusters", gone)
    monkeypatch.setattr(status.objects, "under", gone)
    found = json.loads(printed(home, capsys, "--json"))
    assert (found["clusters"], found["leases"]) == (None, None)
    assert found["problems"][0].startswith(
        "Clusters and leases: unknown, the AWS emulator does not"
    )
    assert found["problems"][0] in printed(home, capsys)
