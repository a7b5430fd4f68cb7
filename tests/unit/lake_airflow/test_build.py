"""A DAG file of five lines: its DAGs, or all mistakes of its domain as one error."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from lake_airflow import build_domain

DAGS = Path(__file__).resolve().parents[3] / "dags"


def test_the_example_domain_has_its_dags():
    assert set(build_domain("moma")) == {
        "moma_full_load",
        "moma_incremental",
        "moma_maintenance",
        "moma_rebuild",
    }


def test_the_package_has_nothing_else_to_offer():
    import lake_airflow

    with pytest.raises(AttributeError, match="no attribute 'build_everything'"):
        lake_airflow.build_everything


def fill_bag(code, **environ):
    """What a fresh Airflow prints that parses all DAG files with `code` around it."""
    script = textwrap.dedent(code)
    env = {**os.environ, "PYTHONPATH": str(DAGS), **environ}
    # Airflow's own reading of .airflowignore is not ours to mend.
    warnings = ["-W", "error", "-W", "ignore:GitWildMatchPattern:DeprecationWarning"]
    env["AIRFLOW__LOGGING__LOGGING_LEVEL"] = "CRITICAL"
    command = [sys.executable, *warnings, "-c", script, str(DAGS)]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


BAG = """
import sys
from airflow.models import DagBag
{before}
bag = DagBag(sys.argv[1])
for error in bag.import_errors.values():
    print(error)
print(sorted(bag.dags))
"""


def test_dags_parse_without_pyspark_network_or_warnings():
    before = (
        "import socket; sys.modules['pyspark'] = None\n"
        "def refuse(*_): raise OSError('a socket was opened')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse"
    )
    assert fill_bag(BAG.format(before=before)) == [
        "['moma_full_load', 'moma_incremental', 'moma_maintenance', 'moma_rebuild']"
    ]


def test_mistakes_in_a_domain_are_the_import_error_of_its_dag_file(tmp_path):
    shutil.copytree(DAGS / "tables", tmp_path / "tables")
    artists = tmp_path / "tables" / "moma" / "artists.yml"
    wrong = artists.read_text().replace("key: [constituent_id]", "key: [id]")
    artists.write_text(wrong + "traked: 1\n")
    printed = fill_bag(BAG.format(before=""), LAKE_TABLES=str(tmp_path / "tables"))
    text = "\n".join(printed)
    assert printed[-1] == "[]"
    assert "SpecErrors" in text
    assert "artists.yml" in text and "traked" in text and "'id'" in text
