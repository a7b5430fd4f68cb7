"""The lake that the pictures are taken of: its state directory, and what is run in it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterator

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "run_locally.sh"
MARCH, MAY = "artists_2016-03-03.csv.gz", "artists_2016-05-12.csv.gz"
LANDING = "s3://lake/landing/moma/artists"
_AIRFLOW = re.compile(r"^Airflow +(\S+)\n +user (\S+), password (\S+)$", re.MULTILINE)
_RUN = re.compile(r"^\w+  run (\S+)  release \S+$", re.MULTILINE)


class CommandFailed(Exception):
    """A command of ./run_locally.sh did not end as the pictures need it."""


@dataclass(frozen=True)
class Airflow:
    """Where its pages are, and who may see them."""

    url: str
    user: str
    password: str


def airflow(told: str) -> Airflow:
    """What `up` tells; ValueError where it does not."""
    found = _AIRFLOW.search(told)
    if found is None:
        raise ValueError(f"`up` does not say where Airflow is:\n{told}")
    return Airflow(*found.groups())


def run_id(told: str) -> str:
    """Airflow's id of the run that `run` told of; ValueError without one."""
    found = _RUN.search(told)
    if found is None:
        raise ValueError(f"`run` does not name its run:\n{told}")
    return found[1]


def cut_off(file: Path) -> bytes:
    """The first half of a file, as an upload that broke leaves it."""
    content = file.read_bytes()
    return content[: len(content) // 2]


class Lake:
    """The commands on one state directory; what they say goes to standard output as well."""

    def __init__(self, folder: Path, program: Path = PROGRAM) -> None:
        self.folder = folder
        self.program = program

    def command(self, *args: str, code: int = 0) -> str:
        """All that a command said; CommandFailed for another exit code.

        It has a session of its own: Ctrl-C reaches us alone, and ends it once.
        """
        argv = [str(self.program), *args, "--state-dir", str(self.folder / "home")]
        print("+", *argv, flush=True)
        said = []
        with subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                for line in process.stdout:
                    print(f"  {line}", end="", flush=True)
                    said.append(line)
            except BaseException:
                process.terminate()
                raise
        told = "".join(said)
        if process.returncode != code:
            raise CommandFailed(
                f"{' '.join(argv)}: exit code {process.returncode}, not {code}:\n{told}"
            )
        return told

    @contextmanager
    def up(self) -> Iterator[Airflow]:
        """Airflow and the emulator while the block runs, whatever happens in it."""
        try:
            yield airflow(self.command("up"))
        finally:
            before = signal.signal(signal.SIGINT, signal.SIG_IGN)
            self.command("down")
            signal.signal(signal.SIGINT, before)

    def runs(self) -> Dict[str, str]:
        """Ids of the runs that the pictures show, by what they are; run them once."""
        noted = self.folder / "runs.json"
        if not noted.exists():
            noted.write_text(json.dumps(self._run_all()), encoding="utf-8")
        return json.loads(noted.read_text(encoding="utf-8"))

    def _run_all(self) -> Dict[str, str]:
        """A load, a file that is cut off, the whole file, and a plan."""
        museum = ROOT / "data" / "moma"
        self._land(MARCH, (museum / MARCH).read_bytes())
        loaded = self._run("moma_full_load")
        self._land(MAY, cut_off(museum / MAY))
        red = self._run("moma_incremental", code=1)
        self._land(MAY, (museum / MAY).read_bytes())
        green = self._run("moma_incremental")
        plan = self._run("moma_incremental", "--param", "plan_only=true")
        return {"loaded": loaded, "red": red, "green": green, "plan": plan}

    def _run(self, *args: str, code: int = 0) -> str:
        return run_id(self.command("run", *args, code=code))

    def _land(self, name: str, content: bytes) -> None:
        file = self.folder / name
        file.write_bytes(content)
        self.command("put", str(file), f"{LANDING}/{name}")
