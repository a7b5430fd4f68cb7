"""The archive of classes is what the JVM of an incremental step leaves; here a script."""

from __future__ import annotations

import subprocess
from pathlib import Path
from uuid import uuid4

import pytest

from lake_emulator import runtimes
from lake_local.emulator import class_data

SUBMIT = """#!/usr/bin/env bash
settings=$(grep '^spark.driver.defaultJavaOptions' "$2")
echo "$* $(ls "$SPARK_CONF_DIR" | wc -l)" >>"{notes}"
archive=$(sed -n 's/.*-XX:ArchiveClassesAtExit=\\([^"]*\\)".*/\\1/p' <<<"$settings")
[ -z "$archive" ] || printf four >"$archive"
exit {code}
"""


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Give a place whose spark-submit takes notes and ends with a code."""
    jar = tmp_path / "jars/spark-3.5/hudi-spark3.5-bundle_2.12-1.0.2.jar"
    jar.parent.mkdir(parents=True)
    jar.touch()
    programs = tmp_path / ".venv-spark/lib/python3.11/site-packages/pyspark/bin"
    programs.mkdir(parents=True)
    monkeypatch.setenv("LAKE_VENVS", str(tmp_path))
    monkeypatch.setenv("LAKE_JARS", str(tmp_path / "jars"))
    monkeypatch.setenv("LAKE_JAVA_OPTIONS", "-Xint")  # put back afterwards
    # moto's buckets are there until the process ends.
    monkeypatch.setattr(class_data, "BUCKET", f"lake-{uuid4()}")

    def make(code: int = 0) -> Path:
        submit = programs / "spark-submit"
        submit.write_text(SUBMIT.format(notes=tmp_path / "notes", code=code))
        submit.chmod(0o755)
        return tmp_path

    return make


def test_the_last_of_two_steps_leaves_the_archive(machine):
    root = machine()
    class_data.main()
    folder = root / "class-data/spark-3.5"
    assert sorted(each.name for each in folder.iterdir()) == ["classes-4.jsa", "empty"]
    assert runtimes.class_archive(runtimes.SPARK_35) == folder / "classes-4.jsa"
    steps = (root / "notes").read_text().splitlines()
    assert [each.split("--stage ")[1].split(" ")[0] for each in steps] == [
        "full_load",
        "incremental",
    ]
    assert all(each.endswith(" 0") for each in steps), "the folder is empty"


def test_a_step_that_fails_leaves_no_archive(machine):
    root = machine(code=1)
    with pytest.raises(subprocess.CalledProcessError):
        class_data.main()
    assert runtimes.class_archive(runtimes.SPARK_35) is None
    assert list((root / "class-data/spark-3.5").glob("*.jsa")) == []


def test_the_archive_before_goes(machine):
    root = machine()
    old = root / "class-data/spark-3.5/classes-9.jsa"
    old.parent.mkdir(parents=True)
    old.write_text("of before")
    class_data.main()
    assert not old.exists()
