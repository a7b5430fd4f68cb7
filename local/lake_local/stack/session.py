"""The processes that a command needs, running for as long as the command.

What `up` has started is used; otherwise the processes are started for this command and
stopped at its end, also after an error.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator

from lake_local.airflow.rest import Airflow
from lake_local.stack import lock, stack
from lake_local.stack.stack import Stack
from lake_local.workspace.specs import Specs
from lake_local.workspace.state_dir import StateDirectory


@dataclass(frozen=True)
class Session:
    """A state directory with its running processes, and clients of them."""

    home: StateDirectory
    specs: Specs
    stack: Stack
    is_own: bool

    def aws(self, service: str) -> Any:
        """Return a boto3 client of the emulator."""
        return self.stack.aws(service, self.specs.environment.region)

    def dead(self) -> list[str]:
        """List the processes that have ended; those of a stack that stays for all
        commands are started again first. Raises StartFailed where they do not start."""
        if not self.is_own:
            _restore(self.home, self.specs, self.stack)
        return self.stack.dead()

    @property
    def airflow(self) -> Airflow:
        """Return a client of Airflow."""
        return self.stack.airflow


@contextmanager
def opened(
    home: StateDirectory,
    specs: Specs,
    *,
    who: str,
    airflow: bool = False,
    keep: bool = False,
) -> Iterator[Session]:
    """Use the running processes, or start the emulator (and Airflow) and stop them again.

    With `keep` they stay for all commands, unless interrupted.
    """
    with lock.hold(home, who, shared=Stack.up_for_all(home) is not None) as held:
        up = Stack.up_for_all(home)
        if up is None and held.shared:
            held.alone()  # It went down while this command waited.
            up = Stack.up_for_all(home)
        if up is None:
            with _started(home, specs, airflow=airflow, keep=keep) as session:
                yield session
            return
        held.share()
        running = specs.of_running(Path(up.tables))
        _restore(home, running, up)
        yield Session(home, running, up, is_own=False)


@contextmanager
def observed(home: StateDirectory, specs: Specs, *, who: str) -> Iterator[Session]:
    """Open a session for reading: processes of another command are used, without lock."""
    noted = Stack.noted(home)
    if noted and not noted.dead():
        yield Session(home, specs, noted, is_own=False)
        return
    with opened(home, specs, who=who) as own:
        yield own


def _restore(home: StateDirectory, specs: Specs, up: Stack) -> None:
    """Start what has ended of a stack, unless another command does so or did."""
    if not up.dead():
        return
    with lock.hold_restart(home):
        noted = Stack.noted(home)
        if noted:
            up.processes[:] = noted.processes
        if up.dead():
            up.restore(specs)


@contextmanager
def _started(
    home: StateDirectory, specs: Specs, *, airflow: bool, keep: bool
) -> Iterator[Session]:
    stays = False
    try:
        started = Stack.start(home, specs, airflow=airflow)
        stays = keep
        yield Session(home, specs, started, is_own=True)
    except KeyboardInterrupt:
        stays = False
        raise
    finally:
        if stays:
            started.keep()
        else:
            stack.end(home)
