"""Airflow of a state directory has its own database, whatever an airflow.cfg names."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version

from lake_local.airflow.settings import airflow_environment, inherited
from lake_local.workspace.project import find
from lake_local.workspace.state_dir import StateDirectory

CONFIG = """[database]
sql_alchemy_conn = sqlite:////elsewhere/production.db
sql_alchemy_conn_async = sqlite+aiosqlite:////elsewhere/production.db
"""
PRINT = """
from airflow.configuration import AIRFLOW_CONFIG, conf
for key in ("sql_alchemy_conn", "sql_alchemy_conn_async"):
    print(conf.get("database", key))
print(AIRFLOW_CONFIG)
"""


def test_the_database_is_that_of_the_state_directory(tmp_path):
    home = StateDirectory.at(tmp_path / "home")
    home.create()
    foreign = tmp_path / "foreign.cfg"
    for file in (home.airflow / "airflow.cfg", foreign):
        file.write_text(CONFIG)
    around = {
        "AIRFLOW_CONFIG": str(foreign),
        "AIRFLOW_HOME": str(tmp_path),
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": "sqlite:////elsewhere/production.db",
    }
    of_ours = airflow_environment(
        home, find(), dags=home.dags, url="http://127.0.0.1:1"
    )
    done = subprocess.run(
        [sys.executable, "-c", PRINT],
        env={**inherited({**os.environ, **around}), **of_ours},
        capture_output=True,
        text=True,
        check=True,
    )
    database = home.airflow / "airflow.db"
    assert done.stdout.splitlines()[-3:] == [
        f"sqlite:///{database}",
        f"sqlite+aiosqlite:///{database}",
        str(home.airflow / "airflow.cfg"),
    ]


PRAGMAS = """
import asyncio
from airflow import settings
from sqlalchemy import text
settings.initialize()
for pragma in ("busy_timeout", "journal_mode"):
    with settings.engine.connect() as connection:
        print(pragma, connection.execute(text(f"PRAGMA {pragma}")).scalar())

async def ask():
    async with settings.async_engine.connect() as connection:
        print("async", (await connection.execute(text("PRAGMA busy_timeout"))).scalar())

asyncio.run(ask())
"""


def test_writers_of_the_database_wait_for_each_other_for_a_minute(tmp_path):
    home = StateDirectory.at(tmp_path / "home")
    home.create()
    ours = airflow_environment(home, find(), dags=home.dags, url="http://127.0.0.1:1")
    done = subprocess.run(
        [sys.executable, "-c", PRAGMAS],
        env={**inherited(os.environ), **ours},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    told = dict(line for line in lines if len(line) == 2)  # between those of Airflow's
    assert (told["busy_timeout"], told["journal_mode"]) == ("60000", "wal")
    if version("apache-airflow") != "3.0.6":  # has no such setting of asynchronous ones
        assert told["async"] == "60000"
