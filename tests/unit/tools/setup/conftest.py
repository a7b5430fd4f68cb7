"""A small copy of what set-up reads, with an installer that only takes notes.

What the real installer puts into an environment is its own affair; that nothing half-built
ever counts as an environment is ours.
"""

from __future__ import annotations

import hashlib
import signal
import sys
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence

import pytest

from tools.processes import ProcessGroups
from tools.setup.folders import SetupFailed
from tools.setup.machine import LINUX, Machine
from tools.setup.pieces import (
    CLASS_DATA,
    Jars,
    SPEC_ENVIRONMENT,
    TARGETS,
    Wanted,
    pieces_of,
)
from tools.setup.work import Setup

SAMPLE = "some-sample-1.2.0.tgz"
EVERY = Wanted(Path("/"), Machine({}, LINUX), [each.name for each in TARGETS])
PIECES = [*pieces_of(EVERY), SPEC_ENVIRONMENT, CLASS_DATA]
JARS = [each for each in PIECES if isinstance(each, Jars)]


def all_inputs() -> List[str]:
    """Every file that a piece is built of."""
    return sorted({each for piece in PIECES for each in piece.inputs})


class FakeMachine(Machine):
    """A machine that has what a test says."""

    def __init__(self, platform: str = LINUX) -> None:
        super().__init__({}, platform)
        self.python: Optional[str] = sys.executable
        self.python_of_spark: Optional[str] = sys.executable
        self.python_39: Optional[str] = "/python3.9"
        self.java = "17"
        self.release = b"JAVA_VERSION=17.0.1\n"
        self.programs = {"git", "mvn", "npm"}

    def find_python(self, *, spark: bool = False) -> Optional[str]:
        return self.python_of_spark if spark else self.python

    def find_python_39(self) -> Optional[str]:
        return self.python_39

    def java_version(self) -> str:
        return self.java

    def java_release(self) -> bytes:
        return self.release

    def has(self, program: str) -> bool:
        return program in self.programs


class Installer(ProcessGroups):
    """Notes each command, and makes what the real ones would make of it."""

    def __init__(self, project: Project) -> None:
        super().__init__(signal.SIGTERM, 1)
        self._project = project

    def run(self, argv: Sequence[str], cwd: Path, env: Any = None, output: Any = None):
        words = " ".join(argv)
        self._project.commands.append(words)
        self._project.variables.append(env)
        if "venv" in argv:
            (cwd / argv[4] / "bin").mkdir(parents=True)
            (cwd / argv[4] / "bin/python").symlink_to(sys.executable)
        for each in argv:
            if each.startswith("-DoutputDirectory="):
                (Path(each.partition("=")[2]) / "other.jar").touch()
        if argv[0] == "npm":
            (cwd / ".local/samples" / SAMPLE).write_text("another content")
        if "class_data" in words and self._project.makes_archive:
            archive = cwd / ".local/class-data/spark-3.5/classes-0.jsa"
            archive.touch()
        for part, (code, said) in self._project.failing.items():
            if part in words:
                if output is not None:
                    output.write(f"{said}\n".encode())
                return code
        return 0


class Project:
    """A copy of what set-up reads, and the way to set it up."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.machine = FakeMachine()
        self.commands: List[str] = []
        self.variables: List[Mapping[str, str]] = []
        self.failing: Dict[str, tuple] = {}
        self.makes_archive = True
        self.needed_mb = 0
        for each in all_inputs():
            self.write(each, f"of {each}\n")
        self.write("requirements/samples.sha256", f"1f2e  {SAMPLE}\n")
        for each in JARS:
            self.write(f"local/runtimes/{each.name}/jars.sha256", "1f2e  locked.jar\n")
        self.write(".local/uv/bin/uv", "").chmod(0o755)
        lock = (root / "requirements/uv.lock").read_bytes()
        self.write(".local/uv/.setup-stamp", hashlib.sha256(lock).hexdigest())

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def lock_an_empty_jar(self, *names: str) -> None:
        """Let these be one empty jar, as the installer makes them."""
        line = f"{hashlib.sha256().hexdigest()}  other.jar\n"
        for each in names:
            self.write(f"local/runtimes/{each}/jars.sha256", line)

    def set_up(self, *targets: str, quiet: bool = False) -> List[str]:
        """Set up targets; return the commands of this set-up."""
        before = len(self.commands)
        setup = Setup(self.root, targets, {"A": "b"}, self.machine, self.needed_mb)
        setup.run(quiet, lambda lock: Installer(self))
        return self.commands[before:]

    def failure(self, *targets: str) -> Sequence[str]:
        """Set up targets, which must fail; return the reasons."""
        with pytest.raises(SetupFailed) as caught:
            self.set_up(*targets)
        return caught.value.reasons

    def installs(self, name: str = "airflow") -> int:
        """How often an environment was installed."""
        return sum(
            each.endswith(f"-r requirements/{name}.lock") for each in self.commands
        )

    def is_built(self, path: str = ".venv-airflow") -> bool:
        return (self.root / path / ".setup-stamp").exists()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def inputs() -> List[str]:
    return all_inputs()
