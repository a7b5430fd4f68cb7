"""Airflow of a state directory has its own database, whatever an airflow.cfg names."""

from __future__ import annotations

import os
import subprocess
import sys

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
        env={**inherited({**os.environ, **around}), **of_ours, "PYTHONPATH": ""},
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
