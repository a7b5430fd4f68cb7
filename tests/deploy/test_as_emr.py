"""The code of the steps on Python 3.9, with what EMR has next to it and nothing more."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import bundle
import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON_39 = ROOT / ".venv-spec" / "bin" / "python"
ON_EMR = ("pyspark", "py4j")
IMPORT = """
import importlib, sys
sys.path[:0] = sys.argv[1:3]
for name in sys.argv[3:]:
    importlib.import_module(name)
    print(name)
"""


@pytest.fixture
def packages(tmp_path):
    """A folder with the packages of EMR, as those of the tests; all are plain Python."""
    (site,) = (ROOT / ".venv-spark" / "lib").glob("python3.*/site-packages")
    for name in ON_EMR:
        (tmp_path / name).symlink_to(site / name)
    return tmp_path


@pytest.fixture
def zipped(tmp_path):
    bundle.zip_packages(tmp_path / "lake.zip")
    return tmp_path / "lake.zip"


def imported(zipped, packages, *modules):
    return subprocess.run(
        [
            str(PYTHON_39),
            "-I",
            "-S",
            "-c",
            IMPORT,
            str(zipped),
            str(packages),
            *modules,
        ],
        capture_output=True,
        text=True,
    )


needs_python_39 = pytest.mark.skipif(
    not PYTHON_39.exists(), reason="there is no Python 3.9 on this machine"
)


@needs_python_39
def test_where_there_is_a_python_39_it_imports_every_module_of_the_zip(
    zipped, packages
):
    with zipfile.ZipFile(zipped) as archive:
        names = [n[: -len(".py")].replace("/", ".") for n in archive.namelist()]
    # What reads YAML is for Airflow and desks; steps get JSON.
    modules = [n for n in names if n.startswith("lake_spark") and "__" not in n]
    done = imported(zipped, packages, *modules)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == modules and len(modules) > 50


CLIENT = """
import sys
sys.path[:0] = sys.argv[1:3]
from lake_spark.step.shipped_packages import unpack
unpack()
import boto3
print(boto3.client("s3", region_name="eu-central-1").meta.service_model.service_name)
"""


@needs_python_39
def test_where_there_is_a_python_39_boto3_is_what_the_release_brings(zipped):
    bundle.zip_installed(zipped.with_name("boto3.zip"))
    argv = [str(PYTHON_39), "-I", "-S", "-c", CLIENT, str(zipped)]
    argv.append(str(zipped.with_name("boto3.zip")))
    done = subprocess.run(argv, capture_output=True, text=True)
    assert done.stdout == "s3\n", done.stderr


@needs_python_39
def test_where_there_is_a_python_39_what_emr_lacks_is_found(zipped, packages):
    assert "No module named 'yaml'" in imported(zipped, packages, "yaml").stderr
