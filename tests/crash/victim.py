"""A process of its own, JVM included, that can be stopped in the midst of a stage.

    python -m tests.crash.victim

It says `ready` when its Spark session is open; then it reads a line of JSON, a
stage of a lake, runs that and says `done`, until its stdin ends. All else that it
has to say goes to stderr.

While it is stopped (SIGSTOP), the files are what kill -9 would leave of them.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Dict, Iterator, List

PROJECT = Path(__file__).resolve().parents[2]
PATHS = ("dags", "spark_jobs", "emulator", "local", ".")


class Victim:
    """The process as its killer has it."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._start()

    def _start(self) -> None:
        self._is_open = self._is_busy = False
        path = os.pathsep.join(str(PROJECT / name) for name in PATHS)
        with open(self._log, "ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.crash.victim"],
                cwd=PROJECT,
                env={**os.environ, "PYTHONPATH": path},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                start_new_session=True,
            )

    def tell(self, task: Dict[str, object]) -> None:
        """Let it run a stage, as soon as its session is open; again if it failed."""
        if self._process.poll() is not None:
            self._start()
        if not self._is_open:
            self._expect(b"ready\n")
            self._is_open = True
        self._process.stdin.write(json.dumps(task).encode() + b"\n")
        self._process.stdin.flush()
        self._is_busy = True

    def _expect(self, word: bytes) -> None:
        said = self._process.stdout.readline()
        if said != word:
            self.kill()
            end = self._log.read_text(errors="replace")[-3000:]
            raise RuntimeError(f"the victim said {said!r}, not {word!r}:\n{end}")

    def is_done(self) -> bool:
        """Whether the stage has ended."""
        if self._is_busy and select.select([self._process.stdout], [], [], 0)[0]:
            self.finish()
        return not self._is_busy

    def finish(self) -> None:
        """Wait until the stage has ended."""
        if self._is_busy:
            self._expect(b"done\n")
            self._is_busy = False

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """The process and its JVM stay where they are meanwhile."""
        os.killpg(self._process.pid, signal.SIGSTOP)
        time.sleep(0.02)
        try:
            yield
        finally:
            os.killpg(self._process.pid, signal.SIGCONT)

    def unfinished(self, root: Path) -> List[Path]:
        """Files below the root that it is writing."""
        below = f"{os.path.realpath(root)}/"
        written = written_by_group(self._process.pid)
        return [Path(path) for path in sorted(set(written)) if path.startswith(below)]

    def kill(self) -> None:
        """kill -9 to the process and its JVM, whichever still live."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            pipe.close()


def written_by_group(group: int) -> Iterator[str]:
    """Paths that processes of the group have open for writing."""
    if not os.path.isdir("/proc/self/fdinfo"):
        yield from _written_as_lsof_tells(group)
        return
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):  # a process that ended meanwhile
            if os.getpgid(int(pid)) == group:
                yield from _written_by_process(Path("/proc") / pid)


def _written_by_process(process: Path) -> Iterator[str]:
    for number in os.listdir(process / "fd"):
        with suppress(OSError):
            facts = (process / "fdinfo" / number).read_text().split()
            if int(facts[facts.index("flags:") + 1], 8) & os.O_ACCMODE:
                yield os.readlink(process / "fd" / number)


def _written_as_lsof_tells(group: int) -> Iterator[str]:
    """The same where there is no /proc, as on macOS."""
    command = ["lsof", "-w", "-n", "-P", "-g", str(group), "-F", "an"]
    access = ""
    for line in subprocess.run(
        command, stdout=subprocess.PIPE, text=True
    ).stdout.splitlines():
        if line.startswith("a"):
            access = line[1:]
        elif line.startswith("n") and access in ("w", "u"):
            yield line[1:]


def main(protocol: IO[str]) -> None:
    """Run the stages that stdin names, one after the other."""
    from lake_spec.model import Engine, TableType
    from tests.crash.kinds import Kind, Source
    from tests.crash.lakes import open_lake, run_stage
    from tests.spark.local_session import local_session

    spark = local_session()
    print("ready", file=protocol, flush=True)
    for line in sys.stdin:
        task = json.loads(line)
        engine, source = Engine(task["engine"]), Source(task["source"])
        kind = Kind(TableType(task["type"]), engine, source)
        lake = open_lake(spark, Path(task["root"]), kind, task["maintenance"])
        run_stage(lake, task["stage"])
        print("done", file=protocol, flush=True)


if __name__ == "__main__":
    own = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # progress lines are no part of the protocol
    main(own)
