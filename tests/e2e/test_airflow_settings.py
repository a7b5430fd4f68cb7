"""Airflow of a state directory has its own database, whatever an airflow.cfg names."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version

import pytest

from lake_local.airflow.settings import airflow_environment, inherited
from lake_local.workspace.project import find
from lake_local.workspace.state_dir import StateDirectory

CONFIG = """[database]
sql_alchemy_conn = sqlite:////elsewhere/production.db
sql_alchemy_conn_async = sqlite+aiosqlite:////elsewhere/production.db
"""
ASK = """
import asyncio
from airflow import settings
from airflow.configuration import AIRFLOW_CONFIG, conf
from sqlalchemy import text
for key in ("sql_alchemy_conn", "sql_alchemy_conn_async"):
    print(key, conf.get("database", key))
print("config", AIRFLOW_CONFIG)
settings.initialize()
for pragma in ("busy_timeout", "journal_mode"):
    with settings.engine.connect() as connection:
        print(pragma, connection.execute(text(f"PRAGMA {pragma}")).scalar())

async def ask():
    async with settings.async_engine.connect() as connection:
        print("async", (await connection.execute(text("PRAGMA busy_timeout"))).scalar())

asyncio.run(ask())
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    found = StateDirectory.at(tmp_path_factory.mktemp("state") / "home")
    found.create()
    return found


@pytest.fixture(scope="module")
def told(home, tmp_path_factory):
    """What an Airflow says that was started among settings of another one."""
    around = tmp_path_factory.mktemp("around")
    foreign = around / "foreign.cfg"
    for file in (home.airflow / "airflow.cfg", foreign):
        file.write_text(CONFIG)
    theirs = {
        "AIRFLOW_CONFIG": str(foreign),
        "AIRFLOW_HOME": str(around),
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": "sqlite:////elsewhere/production.db",
    }
    ours = airflow_environment(home, find(), dags=home.dags, url="http://127.0.0.1:1")
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        env={**inherited({**os.environ, **theirs}), **ours},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    return dict(line for line in lines if len(line) == 2)  # between those of Airflow's


def test_the_database_is_that_of_the_state_directory(home, told):
    database = home.airflow / "airflow.db"
    assert told["sql_alchemy_conn"] == f"sqlite:///{database}"
    assert told["sql_alchemy_conn_async"] == f"sqlite+aiosqlite:///{database}"
    assert told["config"] == str(home.airflow / "airflow.cfg")


def test_writers_of_the_database_wait_for_each_other_for_a_minute(told):
    assert (told["busy_timeout"], told["journal_mode"]) == ("60000", "wal")
    if version("apache-airflow") != "3.0.6":  # has no such setting of asynchronous ones
        assert told["async"] == "60000"
