"""Every test runs as nobody, away from the user's own Airflow and AWS account."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import tempfile

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


def pytest_collection_finish() -> None:
    make_quicker()
