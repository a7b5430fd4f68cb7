"""Every test runs as nobody, away from the user's own Airflow and AWS account."""

from __future__ import annotations

import atexit
import gc
import os
import re
import shutil
import tempfile
from itertools import count
from pathlib import Path

import pytest
from _pytest.unraisableexception import gc_collect_iterations_key

from tests.quicker import make_quicker

gc.disable()  # until all is imported, of which nothing is garbage

# Airflow reads its settings when it is first imported, so a fixture would be too late.
AIRFLOW_HOME = tempfile.mkdtemp(prefix="lake-tests-airflow-")
atexit.register(shutil.rmtree, AIRFLOW_HOME, ignore_errors=True)

for name in list(os.environ):
    if name.startswith(("AIRFLOW", "AWS_", "LAKE_")):
        del os.environ[name]

os.environ.update(
    AIRFLOW_HOME=AIRFLOW_HOME,
    AIRFLOW__CORE__LOAD_EXAMPLES="False",
    AWS_ACCESS_KEY_ID="testing",
    AWS_SECRET_ACCESS_KEY="testing",
    AWS_DEFAULT_REGION="eu-central-1",
    AWS_CONFIG_FILE=os.devnull,
    AWS_SHARED_CREDENTIALS_FILE=os.devnull,
    AWS_EC2_METADATA_DISABLED="true",
)

FOLDERS = count()


def pytest_configure(config: pytest.Config) -> None:
    # Pytest's five searches at the end are for Pythons that find garbage late.
    config.stash[gc_collect_iterations_key] = 1


def pytest_collection_finish() -> None:
    make_quicker()


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory, request) -> Path:
    """Return a new folder, whose number is found without a list of all that there are."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    return tmp_path_factory.mktemp(f"{name}{next(FOLDERS)}", numbered=False)
