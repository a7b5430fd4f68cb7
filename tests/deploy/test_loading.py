"""Airflow loads the plugin from its folder, as MWAA unpacks it, and nothing else of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHOW = """
import json, sys
from airflow import plugins_manager as manager
from airflow.api_fastapi.app import init_plugins
from airflow.api_fastapi.core_api.app import init_flask_plugins
from fastapi import FastAPI
server = FastAPI()
init_plugins(server)
init_flask_plugins(server)
found = [each for each in manager.get_plugin_info() if each["name"] == "lake"]
errors = getattr(manager, "import_errors", None)
if errors is None:
    errors = manager.get_import_errors()
ours = [n for n in sys.modules if n.split(".")[0] in ("lake_spec", "lake_airflow")]
mounted = [each.path for each in server.routes if type(each).__name__ == "Mount"]
said = {"found": found, "errors": dict(errors), "ours": ours, "mounted": mounted}
print(json.dumps(said, default=str))
"""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """What the plugin manager of this Airflow says, of plugins.zip alone."""
    sys.path.insert(0, str(ROOT / "infra"))
    from lake_release import airflow_files

    made = tmp_path_factory.mktemp("release") / "airflow"
    airflow_files.write(
        made, project=ROOT, environment="prod", runs="s3://lake/runs", wheels=None
    )
    home = tmp_path_factory.mktemp("home")
    with zipfile.ZipFile(made / "plugins.zip") as archive:
        archive.extractall(home / "plugins")
    env = {
        **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(home / "plugins"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__LOGGING__LOGGING_LEVEL": "ERROR",
    }
    done = subprocess.run(
        [sys.executable, "-c", SHOW], env=env, capture_output=True, text=True, cwd=home
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def test_it_is_loaded_once_without_an_error(loaded):
    said, log = loaded
    assert said["errors"] == {}
    assert "Traceback" not in log
    (plugin,) = said["found"]
    assert [each["url_prefix"] for each in plugin["fastapi_apps"]] == ["/lake"]


def test_the_web_server_mounts_it(loaded):
    assert loaded[0]["mounted"] == ["/lake"]


def test_airflow_has_a_page_named_lake(loaded):
    """In Airflow 3.0 only with the FAB provider: without it a menu stops the server."""
    (plugin,) = loaded[0]["found"]
    if "external_views" not in plugin:
        assert find_spec("airflow.providers.fab") or not plugin["appbuilder_menu_items"]
        return
    pages = {each["destination"]: each for each in plugin["external_views"]}
    assert set(pages) == {"nav", "dag", "dag_run"}
    assert (pages["nav"]["name"], pages["nav"]["href"]) == ("Lake", "/lake/")


def test_it_needs_no_code_of_the_dags(loaded):
    assert loaded[0]["ours"] == []
