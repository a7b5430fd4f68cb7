"""What is found on a machine, whose programs are those of one folder."""

from __future__ import annotations

import os

import pytest

from tools.setup.machine import Machine


@pytest.fixture
def programs(tmp_path):
    """Make programs; return the variables of a machine that has no other ones."""
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "sh").symlink_to("/bin/sh")

    def make(path: str, text: str) -> str:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)
        return str(file)

    make.environ = {"PATH": str(folder), "HOME": str(tmp_path)}
    return make


PYTHON = "case $2 in *sys*) echo {} ;; *pip*) exit {} ;; esac"


def test_a_python_is_taken_outside_its_virtual_environment(programs):
    base = programs("base", PYTHON.format("$0", 0))
    programs("python3.12", PYTHON.format(base, 1))
    assert Machine(programs.environ).find_python() == base


def test_a_python_of_another_version_or_without_pip_is_none(programs):
    programs("python3.11", f"{PYTHON.format('$0', 0)}; exit 1")
    programs("python3", PYTHON.format("$0", 1))
    assert Machine(programs.environ).find_python() is None


def test_the_one_of_pyenv_is_found_last(programs, tmp_path):
    found = programs(
        f"{tmp_path}/.pyenv/versions/3.12.1/bin/python", PYTHON.format("$0", 0)
    )
    assert Machine(programs.environ).find_python() == found


def test_lake_python_comes_first_and_spark_may_have_another(programs):
    programs("python3.11", PYTHON.format("$0", 0))
    asked = programs("asked", PYTHON.format("$0", 0))
    other = programs("other", PYTHON.format("$0", 0))
    environ = {**programs.environ, "LAKE_PYTHON": asked}
    assert Machine(environ).find_python() == asked
    assert Machine(environ).find_python(spark=True) == asked
    machine = Machine({**environ, "LAKE_SPARK_PYTHON": "other"})
    assert (machine.find_python(), machine.find_python(spark=True)) == (asked, other)


def test_a_python_39_says_where_it_is(programs):
    assert Machine(programs.environ).find_python_39() is None
    programs("python3.9", "echo /usr/bin/python3.9")
    assert Machine(programs.environ).find_python_39() == "/usr/bin/python3.9"


def test_java_home_comes_before_the_path(programs, tmp_path):
    programs("java", """echo 'openjdk version "21.0.1" 2023-10-17' >&2""")
    home = tmp_path / "java"
    machine = Machine({**programs.environ, "JAVA_HOME": str(home)})
    assert (Machine(programs.environ).java_version(), machine.java_version()) == (
        "21",
        "",
    )
    programs(f"{home}/bin/java", """echo 'openjdk version "17.0.1"' >&2""")
    assert machine.java_version() == "17"
    assert machine.java_release() == f"{home}/bin/java\n".encode()
    (home / "release").write_text("JAVA_VERSION=17.0.1\n")
    assert machine.java_release() == b"JAVA_VERSION=17.0.1\n"


def test_without_java_there_is_none(programs):
    machine = Machine(programs.environ)
    assert (machine.java_version(), machine.java_release()) == ("", b"")


def test_programs_and_the_platform_are_those_of_the_machine(programs):
    programs("mvn", "")
    machine = Machine(programs.environ)
    assert (machine.has("mvn"), machine.has("npm")) == (True, False)
    assert machine.platform == f"{os.uname().sysname} {os.uname().machine}"
