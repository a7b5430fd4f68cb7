"""What is up for a home, as the one who started it wrote it down."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

from lake_spec.contract.state_format import from_fields

from lake_local.aws import DEFAULT_REGION
from lake_local.aws.keys import secret_of
from lake_local.workspace.background import Process
from lake_local.workspace.state_dir import Home


@dataclass
class Stack:
    """The processes of a home and where they listen.

    `environment` is the file of the environment that it was started with.
    `kept` tells a stack that stays up for all from one that serves one command.
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

    @property
    def aws_url(self) -> str:
        """Where the emulator for AWS answers."""
        return f"http://127.0.0.1:{self.aws_port}"

    @property
    def aws_secret(self) -> str:
        """The key by which requests to it are signed; it stands in no other file."""
        return secret_of(Path(self.home))

    @property
    def airflow_url(self) -> str:
        """Where Airflow's UI and REST interface answer."""
        return f"http://127.0.0.1:{self.airflow_port}"

    def dead(self) -> list[str]:
        """Names of the processes that have ended."""
        return [each.name for each in self.processes if not each.is_alive()]

    def serves_everyone(self) -> bool:
        """Whether it is whole and there to stay."""
        return self.kept and bool(self.airflow_port) and not self.dead()


def write(home: Home, stack: Stack) -> None:
    """Note what is up, in one stroke."""
    part = home.stack_file.with_suffix(".part")
    part.write_text(json.dumps(asdict(stack), indent=1), encoding="utf-8")
    os.replace(part, home.stack_file)


def read(home: Home) -> Stack | None:
    """What was noted last, whether it is alive or not; None for nothing."""
    try:
        raw = json.loads(home.stack_file.read_text(encoding="utf-8"))
        processes = [from_fields(Process, each) for each in raw["processes"]]
        own = {"processes": processes, "home": str(home.root)}
        return from_fields(Stack, {**raw, **own})
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return None


def forget(home: Home) -> None:
    """Note that nothing is up."""
    home.stack_file.unlink(missing_ok=True)
