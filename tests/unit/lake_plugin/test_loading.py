"""Airflow loads the plugin from its folder, as MWAA unpacks it, and nothing else of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SHOW = """
import json, sys
from airflow import plugins_manager as manager
if hasattr(manager, "get_plugin_info"):
    manager.ensure_plugins_loaded() if hasattr(manager, "ensure_plugins_loaded") else None
found = [each for each in manager.get_plugin_info() if each["name"] == "lake"]
errors = getattr(manager, "import_errors", None)
if errors is None:
    errors = manager.get_import_errors()
ours = [n for n in sys.modules if n.split(".")[0] in ("lake_spec", "lake_airflow")]
print(json.dumps({"found": found, "errors": dict(errors), "ours": ours}, default=str))
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


def test_airflow_has_a_page_named_lake(loaded):
    (plugin,) = loaded[0]["found"]
    pages = [*plugin.get("external_views", ()), *plugin["appbuilder_menu_items"]]
    assert pages[0]["name"] == "Lake" and pages[0]["href"] == "/lake/"
    if "external_views" in plugin:
        places = {each["destination"] for each in plugin["external_views"]}
        assert places == {"nav", "dag", "dag_run"}


def test_it_needs_no_code_of_the_dags(loaded):
    assert loaded[0]["ours"] == []
