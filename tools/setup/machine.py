"""What this machine has: Pythons, Java, programs, room."""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Iterator, Mapping, Optional, Sequence

WANTED = """
import sys
print(sys._base_executable)
sys.exit(sys.version_info[:2] not in {(3, 11), (3, 12)})
"""
OLD = "import sys; print(sys.executable)"
LINUX = "Linux x86_64"


class Machine:
    """This machine, as the variables of an environment show it.

    Args:
        environ: PATH, HOME, JAVA_HOME, LAKE_PYTHON and LAKE_SPARK_PYTHON are read.
        platform: the system and the processor, as `uname -sm` has them.
    """

    def __init__(self, environ: Mapping[str, str], platform: Optional[str] = None):
        system = os.uname()
        self.platform = platform or f"{system.sysname} {system.machine}"
        self._environ = environ

    def find_python(self, *, spark: bool = False) -> Optional[str]:
        """Return a Python 3.11 or 3.12 with pip, outside any virtual environment.

        Args:
            spark: the one of the environments with PySpark, which may be another.
        """
        asked = self._environ.get("LAKE_PYTHON", "")
        if spark:
            asked = self._environ.get("LAKE_SPARK_PYTHON") or asked
        for each in (
            *([asked] if asked else []),
            *("python3.11", "python3.12", "python3"),
            *self._of_pyenv("3.11.*"),
            *self._of_pyenv("3.12.*"),
        ):
            base = self._said([each, "-c", WANTED])
            if base and self._said([base, "-c", "import pip"]) is not None:
                return base
        return None

    def find_python_39(self) -> Optional[str]:
        """Return a Python 3.9, EMR's default."""
        for each in ("python3.9", *self._of_pyenv("3.9.*")):
            found = self._said([each, "-c", OLD])
            if found:
                return found
        return None

    def java_version(self) -> str:
        """Return the major version of Java, "" where there is none."""
        java = self._java()
        said = self._said([java, "-version"], stderr=True) if java else None
        found = re.search(r' version "(\d+)', said or "")
        return found[1] if found else ""

    def java_release(self) -> bytes:
        """Return which Java it is, from a file that most have: quicker than to start it."""
        java = self._java()
        if java is None:
            return b""
        path = os.path.realpath(java)
        try:
            return Path(path.removesuffix("/bin/java"), "release").read_bytes()
        except OSError:
            return f"{path}\n".encode()

    def has(self, program: str) -> bool:
        """Whether a program is on the PATH."""
        return self._which(program) is not None

    def free_mb(self, folder: Path) -> int:
        """Return the room that a folder's disk has for this user, in MB."""
        return shutil.disk_usage(folder).free // 2**20

    def _java(self) -> Optional[str]:
        home = self._environ.get("JAVA_HOME", "")
        return self._which(f"{home}/bin/java" if home else "java")

    def _which(self, program: str) -> Optional[str]:
        return shutil.which(program, path=self._environ.get("PATH", ""))

    def _of_pyenv(self, version: str) -> Iterator[str]:
        home = self._environ.get("HOME", "")
        yield from sorted(glob.glob(f"{home}/.pyenv/versions/{version}/bin/python"))

    def _said(self, argv: Sequence[str], stderr: bool = False) -> Optional[str]:
        """What a command prints; None where it is missing or fails."""
        program = self._which(argv[0])
        if program is None:
            return None
        try:
            done = subprocess.run(
                [program, *argv[1:]],
                env=self._environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
            )
        except OSError:  # of another machine, or without what it starts
            return None
        said = done.stderr + done.stdout if stderr else done.stdout
        return said.strip() if done.returncode == 0 else None
