"""A process with a folder, a port and a log, ended when its block ends."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Dict, List, Optional, Type, TypeVar

from lake_local.capture.ports import HOST, free_ports
from lake_local.errors import StartFailed

Self = TypeVar("Self", bound="Server")
LOG_LINES = 25


class ServerError(StartFailed):
    """A server of this machine did not start, or ended by itself.

    Fix: Read the end of its log, which the message quotes, and start the command again.
    """


class Server:
    """The base of all servers.

    Its processes stay in the process group of the caller, so that a signal to the group
    ends the servers too, unless `popen_options` changes that.
    """

    name: str
    stop_signal = signal.SIGTERM
    start_seconds = 60
    stop_seconds = 20

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        self.host = HOST
        (self.port,) = free_ports(1)
        self.log = self.folder / f"{self.name}.log"
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._log_start = 0

    def __enter__(self: Self) -> Self:
        self.make_folder()
        self.prepare()
        self.start()
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.stop()

    def prepare(self) -> None:
        """Write the files that the first start needs."""

    def make_folder(self) -> None:
        """Create the folder that it works in."""
        self.folder.mkdir(parents=True, exist_ok=True)

    def popen_options(self) -> Dict[str, Any]:
        """Return further options of subprocess.Popen for its processes."""
        return {}

    def command(self) -> List[str]:
        """Return the command that starts the server."""
        raise NotImplementedError

    def is_ready(self) -> bool:
        """Return whether it answers now."""
        raise NotImplementedError

    @property
    def pid(self) -> Optional[int]:
        """Return the id of its process while it runs."""
        process = self._running
        return None if process is None else process.pid

    @property
    def _running(self) -> Optional[subprocess.Popen[bytes]]:
        if self._process is None or self._process.poll() is not None:
            return None
        return self._process

    def start(self) -> None:
        """Start it and wait until it answers. Raises ServerError."""
        if self.pid is not None:
            raise ServerError(f"{self.name}: runs already, as process {self.pid}")
        self._log_start = self.log.stat().st_size if self.log.exists() else 0
        self._process = self._spawn(self.command())
        try:
            self._wait_until_ready()
        except BaseException:
            self.kill()
            raise

    def stop(self) -> None:
        """Terminate it; kill it after `stop_seconds`."""
        process = self._running
        if process is None:
            return
        process.send_signal(self.stop_signal)
        try:
            process.wait(self.stop_seconds)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Kill it with SIGKILL; `start` starts it again, with its files."""
        process = self._running
        if process is not None:
            process.kill()
            process.wait()

    def has_said(self, text: str) -> bool:
        """Return whether its log has a text since the last start."""
        with self.log.open("rb") as log:
            log.seek(self._log_start)
            return text.encode() in log.read()

    def run(self, command: List[str]) -> None:
        """Run a program of the server and wait for its end. Raises ServerError."""
        code = self._spawn(command).wait(self.start_seconds)
        if code:
            raise self._error(f"{command[0]} failed with exit code {code}")

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + self.start_seconds
        while not self.is_ready():
            if self._process is not None and self._process.poll() is not None:
                raise self._error(f"ended with exit code {self._process.returncode}")
            if time.monotonic() > deadline:
                raise self._error(f"does not answer after {self.start_seconds} s")
            time.sleep(0.05)

    def _spawn(self, command: List[str]) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            return subprocess.Popen(
                command,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                **self.popen_options(),
            )

    def _error(self, what: str) -> ServerError:
        lines = self.log.read_text(errors="replace").splitlines()[-LOG_LINES:]
        end = "\n".join(f"    {line}" for line in lines)
        return ServerError(f"{self.name}: {what}; the end of {self.log}:\n{end}")
