"""The running processes of a state directory, as noted by who started them."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

from lake_spec.state.state_format import from_fields

from lake_emulator import DEFAULT_REGION
from lake_emulator.keys import secret_of
from lake_local.errors import BadRequest
from lake_local.page_server import path_of
from lake_local.workspace.background import Process
from lake_local.workspace.state_dir import StateDirectory


@dataclass
class Stack:
    """The processes of a state directory and their ports.

    `environment` is the file of the environment that it was started with.
    `kept` is true for a stack that stays for all commands, false for that of one command.
    """

    tables: str
    aws_port: int
    airflow_port: int = 0
    kept: bool = False
    since: str = ""
    environment: str = ""
    region: str = DEFAULT_REGION
    processes: list[Process] = field(default_factory=list)
    home: str = ""
    pages_port: int = 0

    @property
    def aws_url(self) -> str:
        """The address of the local AWS emulator."""
        return f"http://127.0.0.1:{self.aws_port}"

    @property
    def aws_secret(self) -> str:
        """The key that signs requests to it; it is in no other file."""
        return secret_of(Path(self.home))

    @property
    def airflow_url(self) -> str:
        """The address of Airflow's pages and REST API."""
        return f"http://127.0.0.1:{self.airflow_port}"

    @property
    def pages_url(self) -> str:
        """The address of the catalogue's pages; its path is known to the owner alone."""
        return f"http://127.0.0.1:{self.pages_port}/{path_of(self.aws_secret)}/"

    def dead(self) -> list[str]:
        """List the processes that have ended, by name."""
        return [each.name for each in self.processes if not each.is_alive()]

    def serves_everyone(self) -> bool:
        """Return whether it stays for all commands and runs, if not all of it: what has
        ended meanwhile is started again by who needs it."""
        runs = len(self.dead()) < len(self.processes)
        return self.kept and bool(self.airflow_port) and runs


def write(home: StateDirectory, stack: Stack) -> None:
    """Write the note of the running processes atomically."""
    part = home.stack_file.with_suffix(".part")
    part.write_text(json.dumps(asdict(stack), indent=1), encoding="utf-8")
    os.replace(part, home.stack_file)


def read(home: StateDirectory) -> Stack | None:
    """Return the last note, whether its processes are alive or not; None without one."""
    try:
        raw = json.loads(home.stack_file.read_text(encoding="utf-8"))
        processes = [from_fields(Process, each) for each in raw["processes"]]
        own = {"processes": processes, "home": str(home.root)}
        return from_fields(Stack, {**raw, **own})
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return None


def forget(home: StateDirectory) -> None:
    """Remove the note: nothing is running."""
    home.stack_file.unlink(missing_ok=True)


def up_for_all(home: StateDirectory) -> Stack | None:
    """Return the stack that `up` has started; None if nothing of it is alive."""
    noted = read(home)
    return noted if noted and noted.serves_everyone() else None


def require_tables(asked: Path | None, up: Stack) -> None:
    """Raise BadRequest if other tables are asked for than those that are up."""
    if asked is not None and str(asked.resolve()) != up.tables:
        raise BadRequest(
            f"--tables {asked}: this state directory runs with the tables {up.tables}. Stop"
            " it first (./run_locally.sh down), or give the other tables a state directory"
            " of their own (--state-dir DIR)."
        )


def require_environment(asked: str, up: Stack) -> None:
    """Raise BadRequest if another environment is asked for than the one that is up."""
    if asked and up.environment and asked != up.environment:
        raise BadRequest(
            f"LAKE_ENVIRONMENT={asked}: this state directory runs with {up.environment}."
            " Stop it first (./run_locally.sh down), unset the variable, or give the other"
            " environment a state directory of its own (--state-dir DIR)."
        )
