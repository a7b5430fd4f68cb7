"""What a set-up builds, in which case it builds it anew, and what it says."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tools.setup.machine import Machine


def test_an_environment_is_installed_from_its_lock_with_hashes(project, capsys):
    commands = project.set_up("airflow")
    assert project.is_built()
    assert "setup: .venv-airflow done in" in capsys.readouterr().out
    of_airflow = [each for each in commands if "step" not in each]
    assert of_airflow == [
        f".local/uv/bin/uv venv --python {sys.executable} .venv-airflow --allow-existing",
        ".local/uv/bin/uv pip install --python .venv-airflow/bin/python --require-hashes"
        " --build-constraints requirements/build.lock -r requirements/airflow.lock",
    ]
    assert project.installs("step") == 1  # what a release brings for its steps


def test_the_readers_of_other_formats_are_set_up_where_they_are_asked_for(project):
    project.set_up("readers")
    assert (project.installs("readers"), project.is_built(".venv-readers")) == (1, True)


def test_the_installer_is_installed_once_for_each_lock(project):
    shutil.rmtree(project.root / ".local/uv")
    commands = project.set_up("readers")
    assert commands[0] == (
        f"{sys.executable} -m pip install --quiet --no-deps --disable-pip-version-check"
        " --root-user-action ignore --require-hashes --target .local/uv"
        " -r requirements/uv.lock"
    )
    assert project.variables[0] == {
        "A": "b",
        "PIP_USER": "0",
        "PIP_REQUIRE_VIRTUALENV": "0",
    }
    (project.root / ".local/uv/bin").mkdir()
    project.write(".local/uv/bin/uv", "").chmod(0o755)
    assert [each for each in project.set_up("airflow") if "-m pip" in each] == []


def test_an_installer_that_does_not_come_is_a_failure(project):
    shutil.rmtree(project.root / ".local/uv")
    project.failing = {"-m pip install": (2, "no network")}
    assert project.failure("airflow") == [".local/uv failed: pip says above why"]
    assert not project.is_built(".local/uv") and project.installs() == 0


def test_what_two_targets_share_is_installed_once(project, capsys):
    project.set_up("airflow", "airflow")
    said = capsys.readouterr().out
    assert said.startswith("setup: building .venv-airflow .venv-step\n")
    assert project.installs() == 1


def test_the_second_time_nothing_is_done(project, capsys):
    project.set_up("airflow")
    capsys.readouterr()
    assert project.set_up("airflow") == []
    assert capsys.readouterr().out == "setup: everything is in place\n"


def test_quiet_shows_its_work_and_says_nothing_where_there_is_none(project, capsys):
    project.set_up("airflow", quiet=True)
    assert "setup: building .venv-airflow" in capsys.readouterr().out
    project.set_up("airflow", quiet=True)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("what", ["lock", "place", "python", "platform"])
def test_an_environment_of_another_lock_place_or_python_is_built_anew(project, what):
    project.set_up("airflow")
    if what == "lock":
        lock = project.root / "requirements/airflow.lock"
        lock.write_text(lock.read_text() + "# changed\n")
    elif what == "python":
        (project.root / ".venv-airflow/bin/python").unlink()
    elif what == "platform":
        project.machine.platform = "Darwin arm64"
    else:
        moved = project.root.with_name("moved")
        project.root.rename(moved)
        project.root = moved
    project.set_up("airflow")
    assert project.installs() == 2


def test_the_linter_of_workflows_is_built_anew_for_other_sources(project):
    sources = project.root / "requirements/actionlint/go.sum"
    for content in ("", "# changed\n"):
        sources.write_text(sources.read_text() + content)
        project.set_up("infra")
    builder = "requirements/actionlint/build.sh .venv-infra"
    assert project.commands.count(builder) == 2


def test_a_failed_install_shows_its_end_and_does_not_count(project):
    project.failing = {"-r requirements/readers.lock": (3, "no such version")}
    (reason,) = project.failure("readers")
    first, *end = reason.splitlines()
    assert (
        first == ".venv-readers failed; the end of .local/log/setup/.venv-readers.log:"
    )
    assert end[-1] == "    no such version"
    half = project.root / ".venv-readers"
    assert (half / ".setup-begun").exists() and not project.is_built(".venv-readers")
    (half / "left").touch()
    project.failing = {}
    project.set_up("readers")
    assert project.is_built(".venv-readers")
    assert not (half / "left").exists() and not (half / ".setup-begun").exists()


def test_only_what_a_set_up_downloads_is_removed_from_the_cache(project):
    cache = project.root / ".local/cache"
    for name in ("uv", "m2", "streamer", "go", "npm", "of_another_tool"):
        (cache / name).mkdir(parents=True)
    project.set_up("airflow")
    assert [each.name for each in cache.iterdir()] == ["of_another_tool"]
    (cache / "of_another_tool").rmdir()
    project.write(".venv-step/.setup-stamp", "old\n")
    project.set_up("airflow")
    assert not cache.exists()


@pytest.mark.parametrize("target", ["spark", "spark-3.9", "streamer", "spec"])
def test_spark_may_have_another_python_than_airflow(project, target):
    project.machine.python_of_spark = "/other"
    project.lock_an_empty_jar("spark-3.5", "local-files", "spark-3.4", "streamer")
    if target == "streamer":
        project.failing = {"package": (1, "")}
        project.failure(target)
    else:
        project.set_up(target)
    python = "/python3.9" if target in ("spark-3.9", "spec") else "/other"
    made = f".local/uv/bin/uv venv --python {python} .venv-{target} --allow-existing"
    assert made in project.commands


def test_what_pieces_are_built_of_is_there(inputs):
    root = Path(__file__).resolve().parents[4]
    assert [each for each in inputs if not (root / each).is_file()] == []


# --- Jars, servers, samples -------------------------------------------------------


def test_maven_has_a_repository_of_its_own_and_its_jars_are_compared(project):
    project.lock_an_empty_jar("delta", "iceberg-aws", "trino")
    commands = project.set_up("hostile")
    maven = (
        "mvn --batch-mode --no-transfer-progress --strict-checksums"
        f" -Dmaven.repo.local={project.root}/.local/cache/m2"
    )
    assert commands == [
        f"{maven} -f local/runtimes/{each}/pom.xml dependency:copy-dependencies"
        f" -DoutputDirectory={project.root}/.local/jars/{each}"
        for each in ("delta", "iceberg-aws", "trino")
    ]


def test_servers_of_another_content_than_the_locked_one_do_not_count(project):
    (reason,) = project.failure("servers")
    assert reason.startswith(".local/servers/postgresql failed; the end of")
    assert reason.endswith("\n    locked.jar: FAILED (missing)")
    assert not project.is_built(".local/servers/postgresql")


def test_a_machine_that_the_servers_are_not_made_for_gets_none(project, capsys):
    project.machine.platform = "Darwin arm64"
    assert project.set_up("servers") == []
    assert capsys.readouterr().out == "setup: everything is in place\n"


def test_a_package_of_samples_with_another_content_is_refused(project):
    (reason,) = project.failure("samples")
    assert "\n    some-sample-1.2.0.tgz: FAILED (" in reason
    assert not project.is_built(".local/samples")
    assert project.commands == [  # nothing of the other package
        "npm pack --silent --ignore-scripts --pack-destination .local/samples"
        " some-sample@1.2.0"
    ]


# --- What is in the way ------------------------------------------------------------

WAY_ON = (
    " Move it elsewhere, or if nobody needs it rm -r {piece}, then run this again; or set up"
    " another checkout of the project"
)


@pytest.mark.parametrize("piece", [".venv-airflow", ".venv-step", ".local/uv"])
@pytest.mark.parametrize("what", ["folder", "file", "link"])
def test_what_no_set_up_made_is_refused_and_stays(project, piece, what):
    path, elsewhere = project.root / piece, project.root / "elsewhere"
    if path.exists():
        shutil.rmtree(path)
    made = elsewhere if what == "link" else path
    if what == "file":
        made.write_text("of somebody else\n")
    else:
        (made / "bin").mkdir(parents=True)
        (made / "bin/tool").write_text("of somebody else\n")
    if what == "link":
        (elsewhere / ".setup-stamp").write_text("of another checkout\n")
        path.symlink_to(elsewhere)
    before = sorted(made.rglob("*"))
    why = f"it is a link to {elsewhere}" if what == "link" else "no set-up made it"
    words = f"{project.root / piece} is in the way, and stays: {why}."
    assert project.failure("airflow") == [words + WAY_ON.format(piece=piece)]
    assert sorted(made.rglob("*")) == before and path.is_symlink() == (what == "link")
    assert project.commands == []


def test_an_empty_folder_is_built_in(project):
    (project.root / ".venv-airflow").mkdir()
    project.set_up("airflow")
    assert project.is_built()


# --- What the machine lacks --------------------------------------------------------


def test_all_that_the_machine_lacks_is_named_at_once(project):
    machine = project.machine
    machine.python = machine.python_39 = None
    machine.java, machine.programs = "", set()
    assert project.failure("spark", "spark-3.9", "samples") == [
        "Python 3.11 or 3.12 with pip is missing: apt-get install python3.11 python3-pip, or"
        " brew install python@3.11",
        "Python 3.9 is missing: apt-get install python3.9, or pyenv install 3.9",
        "Java 17 is missing (found: none): apt-get install openjdk-17-jre-headless, or brew"
        " install openjdk@17; set JAVA_HOME if you have several",
        "Maven is missing: apt-get install maven, or brew install maven",
        "npm is missing: apt-get install npm, or brew install node",
        "git is missing: apt-get install git, or brew install git",
    ]
    assert project.commands == []


def test_another_java_is_named(project):
    project.machine.java = "21"
    (reason,) = project.failure("streamer")
    assert reason.startswith("Java 17 is missing (found: 21): ")


def test_what_a_target_does_not_need_is_not_asked_for(project):
    project.machine.java, project.machine.programs = "", {"git"}
    project.set_up("airflow")
    assert project.is_built()


def test_without_python_39_its_environment_is_left_out(project, capsys):
    project.machine.python_39 = None
    assert project.set_up("spec") == []
    assert capsys.readouterr().out == "setup: everything is in place\n"


def test_too_little_disk_is_said_before_anything_is_installed(project):
    project.needed_mb = 999_999_999
    free = Machine({}).free_mb(project.root)
    (reason,) = project.failure("airflow")
    assert reason.endswith(
        " MB free, set-up wants 999999999 MB: make room, or move the checkout"
    )
    assert free > 0 and project.commands == []


# --- The archive of classes ---------------------------------------------------------


@pytest.fixture
def spark(project):
    """A project whose jars of Spark are one empty file."""
    project.lock_an_empty_jar("spark-3.5", "local-files")
    return project


def archives(project) -> int:
    return sum("class_data" in each for each in project.commands)


def test_the_archive_of_classes_is_made_last_and_once_for_each_java(spark, capsys):
    commands = spark.set_up("airflow", "spark")
    assert commands[-1] == ".venv-airflow/bin/python -m lake_local.emulator.class_data"
    assert spark.variables[-1] == {"A": "b", "PYTHONPATH": "emulator:local:dags"}
    assert "setup: .local/class-data/spark-3.5 done in" in capsys.readouterr().out
    assert spark.set_up("airflow", "spark") == []
    spark.machine.release = b"JAVA_VERSION=17.0.2\n"
    spark.set_up("airflow", "spark")
    assert archives(spark) == 2


@pytest.mark.parametrize("what", ["jars", "start"])
def test_other_jars_or_another_start_of_a_step_get_another_archive(spark, what):
    spark.set_up("airflow", "spark")
    if what == "jars":
        shutil.rmtree(spark.root / ".local/jars")
    else:
        spark.write("emulator/lake_emulator/runtimes.py", "JAVA_OPTIONS = ''\n")
    spark.set_up("airflow", "spark")
    spark.set_up("airflow", "spark")
    assert archives(spark) == 2


@pytest.mark.parametrize("code", [0, 1])
def test_set_up_goes_on_where_no_archive_can_be_made(spark, capsys, code):
    spark.makes_archive = False
    spark.failing = {"class_data": (code, "no emulator")}
    spark.set_up("airflow", "spark")
    assert "Java's archive of classes could not be made" in capsys.readouterr().out
    log = (spark.root / ".local/log/setup/class-data.log").read_text()
    assert log == "no emulator\n" + ("no archive was made\n" if code else "")
    assert spark.set_up("airflow", "spark") == []


def test_without_airflow_there_is_no_archive(spark):
    spark.set_up("spark")
    assert (archives(spark), spark.is_built(".local/jars/spark-3.5")) == (0, True)
