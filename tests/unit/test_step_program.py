"""A step uses nothing of packages that are not those that Airflow told it.

main.py is run as spark-submit runs it: the zips on the path, in a process of its own.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import bundle
import pytest

RAN = "the packages ran"
PROGRAM = bundle.SPARK_JOBS / "main.py"


def zip_of(path: Path, text: str) -> str:
    """A zip with the packages of a step that say so when they run; its SHA-256."""
    files = {
        "lake_spark/__init__.py": "",
        "lake_spark/step/__init__.py": "",
        "lake_spark/step/application.py": f"print({text!r})\ndef main(argv): return 0",
        "lake_spark/step/shipped_packages.py": "def unpack(): pass",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def step(*argv: str, path: Path) -> subprocess.CompletedProcess:
    program = path / "program" / PROGRAM.name  # downloaded, away from the packages
    program.parent.mkdir()
    shutil.copyfile(PROGRAM, program)
    return subprocess.run(
        [sys.executable, str(program), *argv],
        env={"PYTHONPATH": f"{path / 'lake.zip'}:{path / 'boto3.zip'}"},
        capture_output=True,
        text=True,
    )


@pytest.fixture
def told(tmp_path):
    """What Airflow tells of the zips that lie there."""
    found = {name: zip_of(tmp_path / name, RAN) for name in ("lake.zip", "boto3.zip")}
    spec = f"specs/shop.json={'0' * 64}"
    return ",".join([*(f"{name}={found[name]}" for name in found), spec])


def test_the_packages_of_the_release_run(tmp_path, told):
    assert step("--sha256", told, path=tmp_path).stdout == f"{RAN}\n"


@pytest.mark.parametrize("name", ["lake.zip", "boto3.zip"])
def test_a_zip_with_another_content_is_not_imported(tmp_path, told, name):
    size = (tmp_path / name).stat().st_size
    expected = dict(each.split("=") for each in told.split(","))[name]
    found = zip_of(tmp_path / name, RAN[::-1])
    assert (tmp_path / name).stat().st_size == size
    done = step("--sha256", told, path=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"{name} is not that of the release: its SHA-256 is {found}, expected "
        f"{expected}. Somebody replaced it: find out who, delete the object, and deploy "
        "the commit of the release, which puts it again.\n"
    )


def test_a_zip_that_is_not_on_the_path_is_told(tmp_path, told):
    (tmp_path / "other").mkdir()
    done = step("--sha256", told, path=tmp_path / "other")
    assert "lake.zip is not that of the release: its SHA-256 is unknown" in done.stderr


def test_a_step_that_an_older_release_asked_for_runs(tmp_path, told):
    assert step(path=tmp_path).stdout == f"{RAN}\n"
