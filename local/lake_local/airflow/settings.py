"""The environment variables of Airflow and its tasks, close to MWAA's."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path
from typing import Mapping

from lake_local.workspace.project import Project
from lake_local.workspace.state_dir import StateDirectory

USER = "admin"
# Settings that would lead a client to a real account, or to another Spark.
FOREIGN = (
    "AWS_PROFILE",
    "AWS_DEFAULT_PROFILE",
    "AWS_SESSION_TOKEN",
    "AWS_SECURITY_TOKEN",
    "HADOOP_CONF_DIR",
    "PYTHONHOME",
    "SPARK_CONF_DIR",
    "SPARK_HOME",
)
_FOREIGN_PREFIXES = ("AIRFLOW", "AWS_ENDPOINT_URL_")


def aws_environment(endpoint: str, region: str, secret: str) -> dict[str, str]:
    """Return variables with which any AWS client uses the emulator only."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
    }


def shut_out_real_accounts() -> None:
    """Remove variables that would lead AWS clients of this process to a real account."""
    for name in set(os.environ) - set(inherited(os.environ)):
        del os.environ[name]
    os.environ.update(aws_environment("http://127.0.0.1:9", "eu-central-1", "none"))


def inherited(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that processes inherit from the caller."""
    return {
        name: value
        for name, value in environ.items()
        if name not in FOREIGN and not name.startswith(_FOREIGN_PREFIXES)
    }


def airflow_environment(
    home: StateDirectory, project: Project, *, dags: Path, url: str
) -> dict[str, str]:
    """Return the settings of all Airflow processes; `url` is the address of its API."""
    port = url.rsplit(":", 1)[1]
    return {
        "AIRFLOW_HOME": str(home.airflow),
        "PATH": f"{project.airflow_bin}{os.pathsep}{os.environ.get('PATH', '')}",
        "PYTHONPATH": f"{dags}{os.pathsep}{project.root / 'local' / 'executor'}",
        "AWS_ACCESS_KEY_ID": "airflow",
        "LAKE_AIRFLOW": "",  # one Airflow per state directory: run ids alone are unique
        "AIRFLOW_CONN_AWS_DEFAULT": "aws://",
        "AIRFLOW_CONN_EMR_DEFAULT": "emr://",
        **{f"AIRFLOW__{key}": value for key, value in _core(home, project).items()},
        "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
        "AIRFLOW__API__BASE_URL": url,
        "AIRFLOW__API__PORT": port,
    }


def _core(home: StateDirectory, project: Project) -> dict[str, str]:
    database = home.airflow / "airflow.db"
    return {
        # Whatever airflow.cfg says: these are migrated, and their active runs are failed.
        "DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{database}",
        "DATABASE__SQL_ALCHEMY_CONN_ASYNC": f"sqlite+aiosqlite:///{database}",
        # Of local/executor, which PYTHONPATH has; 3.0.6 knows only the first.
        "DATABASE__SQL_ALCHEMY_CONNECT_ARGS": "metadata_database.CONNECT_ARGS",
        "DATABASE__SQL_ALCHEMY_CONNECT_ARGS_ASYNC": (
            "metadata_database.CONNECT_ARGS_ASYNC"
        ),
        "CORE__PLUGINS_FOLDER": str(project.root / "plugins"),
        "CORE__EXECUTOR": "resuming.ResumingExecutor",
        "CORE__LOAD_EXAMPLES": "False",
        "CORE__PARALLELISM": "4",
        "CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        "CORE__SIMPLE_AUTH_MANAGER_USERS": f"{USER}:admin",
        "CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(passwords_file(home)),
        "API__HOST": "127.0.0.1",
        "API__WORKERS": "1",
        # The default of one second costs half a second between two tasks.
        "SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "0.25",
        # A changed spec or DAG file is seen within seconds, not minutes.
        "DAG_PROCESSOR__REFRESH_INTERVAL": "5",
        "DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "5",
        "USAGE_DATA_COLLECTION__ENABLED": "False",
    }


def passwords_file(home: StateDirectory) -> Path:
    """Return the file with the password of Airflow's pages, for its owner only."""
    return home.airflow / "passwords.json"


def password(home: StateDirectory) -> str:
    """Return the password of Airflow's pages; create it at the first use."""
    file = passwords_file(home)
    if not file.exists():
        made = json.dumps({USER: secrets.token_urlsafe(12)})
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as output:
            output.write(made)
    password: str = json.loads(file.read_text())[USER]
    return password
