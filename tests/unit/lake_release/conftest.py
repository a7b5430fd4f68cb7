"""A small project, an AWS account in memory, and Airflow's folder as MWAA copies it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import bundle
import pytest
from lake_check.parsing.loader import load_environment
from lake_release import mwaa as module
from lake_release.built import PROJECT, build
from lake_release.commits import Checkout
from lake_release.deployment import Deployment
from lake_release.mwaa import Airflow
from lake_release.shipped import lake_current
from lake_release.target import Target
from lake_spec.layout.dag_names import PROOF

from tests.unit.lake_release.buckets import REGION, copy
from tests.unit.lake_release.mwaa import Mwaa
from tests.unit.lake_release.s3 import S3, client_of

SHOWN = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
import runpy
for stub in sorted(Path(sys.argv[1]).glob("*.py")):
    if stub.name != "lake_current.py":
        found = runpy.run_path(str(stub)).get("SHOWN")
        if found:
            print(stub.name, found)
"""
"""The DAG files that show something, in a process that knows nothing else."""


@pytest.fixture(autouse=True)
def small_zip(monkeypatch):
    pack_nothing(monkeypatch)


def pack_nothing(monkeypatch) -> None:
    """Packing the code of the steps takes longer than all the rest, and is tested elsewhere."""
    monkeypatch.setattr(bundle, "PACKAGES", ())
    monkeypatch.setattr(bundle, "zip_installed", lambda target: target.write_bytes(b""))


@pytest.fixture
def project(tmp_path) -> Path:
    return made_project(tmp_path / "project")


def made_project(folder: Path) -> Path:
    """A project whose one DAG file shows the version of its package and its release."""
    dags = folder / "dags"
    for name in ("tables", "clusters"):
        shutil.copytree(PROJECT / "dags" / name, dags / name)
    (dags / "environments").mkdir()  # of one alone: each file of a release is uploaded
    shutil.copy(PROJECT / "dags/environments/prod.yml", dags / "environments")
    (dags / "lake_airflow").mkdir()
    write_dags(dags.parent, "one", "moma.py")
    (dags.parent / "requirements").mkdir()
    text = "apache-airflow-providers-amazon\n"
    (dags.parent / "requirements" / "airflow.txt").write_text(text)
    (dags.parent / "plugins").mkdir()
    return dags.parent


def write_dags(project: Path, version: str, *files: str) -> None:
    """Let the package be this version, and these be the DAG files."""
    dags = project / "dags"
    (dags / "lake_airflow" / "__init__.py").write_text(f"VERSION = {version!r}\n")
    for old in dags.glob("*.py"):
        old.unlink()
    (dags / f"{PROOF}.py").write_text("")  # each release has it; this one has no DAG
    for name in files:
        (dags / name).write_text(
            "import json\nfrom pathlib import Path\nfrom lake_airflow import VERSION\n"
            "release = Path(__file__).with_name('release.json').read_text()\n"
            "SHOWN = VERSION + ' ' + json.loads(release)['release']\n"
        )


@pytest.fixture
def buckets():
    """What S3 holds."""
    return S3()


@pytest.fixture
def s3(monkeypatch, buckets):
    """S3 with the buckets of the environment prod."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    return client_of(buckets)


@pytest.fixture
def mwaa(s3):
    return Mwaa(REGION)


@pytest.fixture(scope="session")
def builds(tmp_path_factory):
    """A folder for releases, and those that a test built there, by their trees."""
    return tmp_path_factory.mktemp("releases"), {}


@pytest.fixture
def lake(tmp_path, project, s3, builds):
    return Releases(tmp_path, project, s3, builds)


class Clock:
    """Time that passes only where it is slept away."""

    def __init__(self) -> None:
        self.slept = 0.0

    def sleep(self, seconds: float) -> None:
        self.slept += seconds

    def monotonic(self) -> float:
        return self.slept

    def time(self) -> float:
        return 1_800_000_000 + self.slept


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(module, "time", found)
    return found


@pytest.fixture
def airflow(mwaa, lake, clock):
    """The environment, which shows the release of the tree as soon as it is asked."""
    mwaa.shows = [lake.built().id]
    return Airflow(mwaa.client, "lake-prod", say=lake.said.append)


class Releases:
    """What the tests do with an environment's releases, and what they see."""

    def __init__(self, folder: Path, project: Path, s3, builds: tuple) -> None:
        self.folder = folder
        self.project = project
        self.s3 = s3
        self.said: list = []
        self._output, self._built = builds
        environments = project / "dags" / "environments"
        self.target = Target.of(load_environment("prod", environments), None)

    def built(self):
        """The release of the tree as it is, which is built once."""
        tree = tuple(
            (file.relative_to(self.project), file.read_bytes())
            for folder in ("dags", "plugins", "requirements")
            for file in sorted((self.project / folder).rglob("*"))
            if file.is_file()
        )
        if tree not in self._built:
            self._built[tree] = build("prod", self._output, project=self.project)
        return self._built[tree]

    def deployment(self, s3=None, airflow=None, take_over=()):
        return Deployment(
            self.target,
            s3 or self.s3,
            by="a test",
            airflow=airflow,
            checkout=Checkout(self.project),
            take_over=take_over,
            say=self.said.append,
        )

    def deploy(self, *, older=False, **more) -> str:
        built = self.built()
        self.deployment(**more).deploy(built, older=older)
        return built.id

    def git(self, *asked: str, at: int = 0) -> str:
        """git in the project, at a time of so many days after the first."""
        who = ("-c", "user.name=a test", "-c", "user.email=a@test.example")
        time = f"2026-01-{1 + at:02}T00:00:00Z"
        kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        times = {"GIT_COMMITTER_DATE": time, "GIT_AUTHOR_DATE": time}
        done = subprocess.run(
            ["git", "-C", str(self.project), *who, *asked],
            env={**kept, **times, "GIT_CONFIG_GLOBAL": os.devnull},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def commit(self, version: str, at: int) -> str:
        """The project in that version as a commit; its id."""
        if not (self.project / ".git").exists():
            self.git("init", "--quiet", "--initial-branch", "main")
        write_dags(self.project, version, "moma.py")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", version, at=at)
        return self.git("rev-parse", "HEAD")

    def copied(self) -> Path:
        """A folder that MWAA copied from the bucket."""
        copy(self.s3, self.folder / "mwaa")
        return self.folder / "mwaa"

    def current(self) -> str:
        """The release that DAG files show there."""
        return lake_current.current(self.copied()).name

    def shown(self) -> dict:
        """What each DAG file shows there."""
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", SHOWN, str(self.copied())],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return dict(line.split(" ", 1) for line in done.stdout.splitlines())
