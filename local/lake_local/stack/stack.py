"""The processes of a state directory: started, noted, started again and stopped.

    aws                                     the emulator, first up and last down
    api-server, scheduler, dag-processor, triggerer         Airflow, if it is asked for
    pages                                   the catalogue, beside Airflow

Each process is noted in `stack.json` as soon as it is started, so that any other command,
also one after a crash, knows what is there.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from secrets import token_hex
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from lake_spec.layout.site_pages import site_folder
from lake_spec.model import EnvironmentSpec
from lake_spec.state.state_format import from_fields

import lake_emulator
from lake_emulator import DEFAULT_REGION
from lake_emulator.keys import secret_of
from lake_local import page_server
from lake_local.airflow import processes, settings
from lake_local.airflow.rest import Airflow
from lake_local.errors import StartFailed
from lake_local.page_server import path_of
from lake_local.stack import emulator, policies
from lake_local.text import progress
from lake_local.workspace import background, project
from lake_local.workspace.background import Process
from lake_local.workspace.specs import Specs
from lake_local.workspace.state_dir import StateDirectory

LEFTOVER_SECONDS = 10


@dataclass
class Stack:
    """The processes of a state directory and their ports, as they are noted.

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

    @classmethod
    def noted(cls, home: StateDirectory) -> Stack | None:
        """Return the last note, whether its processes are alive or not; None without one."""
        try:
            raw = json.loads(home.stack_file.read_text(encoding="utf-8"))
            found = [from_fields(Process, each) for each in raw["processes"]]
            own = {"processes": found, "home": str(home.root)}
            return from_fields(cls, {**raw, **own})
        except (FileNotFoundError, ValueError, TypeError, KeyError):
            return None

    @classmethod
    def up_for_all(cls, home: StateDirectory) -> Stack | None:
        """Return the stack that `up` has started; None if nothing of it is alive."""
        noted = cls.noted(home)
        return noted if noted and noted.serves_everyone() else None

    @classmethod
    def start(cls, home: StateDirectory, specs: Specs, *, airflow: bool) -> Stack:
        """Start the emulator, and Airflow if asked for; return when all are healthy."""
        sweep(home)
        aws_port, *ports = _free_ports(3)
        airflow_port, pages_port = ports if airflow else (0, 0)
        stack = cls(
            home=str(home.root),
            tables=str(specs.tables),
            environment=specs.environment_file,
            region=specs.environment.region,
            aws_port=aws_port,
            airflow_port=airflow_port,
            pages_port=pages_port,
            since=f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S}",
        )
        policies.write(home, specs)
        stack._launch(emulator.NAME, specs)
        if airflow:
            project.require_airflow(specs.project)
            settings.password(home)
            processes.migrate(home, specs.project, stack._environment_of_airflow(specs))
            for name in (*processes.COMPONENTS, page_server.NAME):
                stack._launch(name, specs)
        stack._wait_for_emulator()
        stack.make_erase_secret(specs.environment)
        if airflow:
            stack._wait_for_airflow()
        return stack

    def restore(self, specs: Specs) -> None:
        """Start the processes that have ended, where they were; the others, and the runs
        under way, go on.

        Raises StartFailed where one does not start; nothing is stopped.
        """
        gone = self.dead()
        if emulator.NAME in gone:
            policies.write(self.state_dir, specs)
        for name in gone:
            progress(f"{name} had ended: it is started again")
            self._launch(name, specs)
        try:
            self._wait_for_emulator()
            self._wait_for_airflow()
        except StartFailed as error:
            raise StartFailed(
                f"{', '.join(gone)}: ended, and could not be started again. All else is "
                "still up; to start all of it anew: ./run_locally.sh down, then up. What "
                f"is in the way: {error}"
            ) from None

    def keep(self) -> None:
        """Let it stay for all commands."""
        self.kept = True
        self.note()

    def note(self) -> None:
        """Write down what is running, atomically."""
        file = self.state_dir.stack_file
        part = file.with_suffix(".part")
        part.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")
        os.replace(part, file)

    def stop(self) -> None:
        """Fail active runs, terminate clusters, stop all processes."""
        alive = {each.name for each in self.processes if each.is_alive()}
        if {processes.API_SERVER, "scheduler"} <= alive:
            processes.settle(self.airflow, progress)
        if emulator.NAME in alive:
            self._end_clusters()
        processes.stop(self.processes)
        emulator.stop(each for each in self.processes if each.name == emulator.NAME)
        sweep(self.state_dir)

    @property
    def state_dir(self) -> StateDirectory:
        """The folder of its files and logs."""
        return StateDirectory(Path(self.home))

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

    @property
    def airflow(self) -> Airflow:
        """A client of Airflow."""
        return processes.client(self.state_dir, self.airflow_url)

    def aws(self, service: str, region: str = "") -> Any:
        """Return a boto3 client that can only reach the emulator."""
        return lake_emulator.client(
            service,
            self.aws_url,
            secret=self.aws_secret,
            region=region or self.region,
            retries={"max_attempts": 2},
            connect_timeout=5,
            read_timeout=60,
        )

    def dead(self) -> list[str]:
        """List the processes that have ended, by name."""
        return [each.name for each in self.processes if not each.is_alive()]

    def serves_everyone(self) -> bool:
        """Return whether it stays for all commands and runs, if not all of it: what has
        ended meanwhile is started again by who needs it."""
        runs = len(self.dead()) < len(self.processes)
        return self.kept and bool(self.airflow_port) and runs

    def _launch(self, name: str, specs: Specs) -> None:
        """Start one process, anew or again: on its port, with its environment; note it."""
        started = self.start_process(name, specs)
        names = [each.name for each in self.processes]
        place = names.index(name) if name in names else len(names)
        self.processes[place : place + 1] = [started]
        self.note()

    def start_process(self, name: str, specs: Specs) -> Process:
        """Start one process of the stack, without noting it."""
        home, made = self.state_dir, specs.project
        if name == emulator.NAME:
            return emulator.start(home, made, self._environment(), self.aws_port)
        if name != page_server.NAME:
            env = self._environment_of_airflow(specs)
            return processes.start_one(name, home, made, env)
        path = [str(made.root / "local"), str(made.dags)]
        root = site_folder(specs.environment.runs)
        argv = [sys.executable, "-m", "lake_local.page_server", "--root", root]
        return background.start(
            name,
            [*argv, "--port", str(self.pages_port)],
            env={**self._environment(), "PYTHONPATH": ":".join(path)},
            log=home.logs / f"{name}.log",
            home=home.root,
        )

    def _environment(self) -> dict[str, str]:
        keys = settings.aws_environment(self.aws_url, self.region, self.aws_secret)
        return {**settings.inherited(os.environ), **keys}

    def _environment_of_airflow(self, specs: Specs) -> dict[str, str]:
        home = self.state_dir
        return {
            **self._environment(),
            **settings.airflow_environment(
                home,
                specs.project,
                dags=specs.dags_folder(home.dags),
                url=self.airflow_url,
            ),
            "LAKE_ENVIRONMENT": self.environment,
            "LAKE_RUNS": specs.environment.runs,
            "LAKE_TABLES": str(specs.tables),
            "LAKE_RELEASE_FILE": str(home.release_file),
            "LAKE_POLL_SECONDS": "1",
        }

    def _wait_for_emulator(self) -> None:
        aws = next(each for each in self.processes if each.name == emulator.NAME)
        emulator.wait_until_healthy(self.state_dir, aws, self.aws_url)

    def _wait_for_airflow(self) -> None:
        processes.wait_until_healthy(self.state_dir, self.airflow_url, self.processes)

    def make_erase_secret(self, environment: EnvironmentSpec) -> None:
        """Create the parameter that an erase needs, as a deployment has it, once."""
        if environment.erase_secret is None:
            return
        ssm = self.aws("ssm")
        try:
            ssm.put_parameter(
                Name=environment.erase_secret, Value=token_hex(32), Type="SecureString"
            )
        except ssm.exceptions.ParameterAlreadyExists:
            pass

    def _end_clusters(self) -> None:
        try:
            for each in emulator.end_clusters(self.aws("emr")):
                progress(f"terminated cluster {each}")
        except (BotoCoreError, ClientError) as error:
            progress(
                f"the clusters could not be terminated: {error}. Their processes are"
                " killed."
            )


def end(home: StateDirectory) -> None:
    """Stop the noted processes; a second interrupt kills them without waiting."""
    try:
        noted = Stack.noted(home)
        if noted is None:
            sweep(home)
        else:
            noted.stop()
    except KeyboardInterrupt:
        progress("interrupted again: killing all processes now")
        sweep(home)
        raise


def sweep(home: StateDirectory) -> list[int]:
    """Stop processes that an earlier command left, and forget them; return their ids."""
    found = background.end_marked(home.root, grace=LEFTOVER_SECONDS)
    home.stack_file.unlink(missing_ok=True)
    return found


def _free_ports(count: int) -> list[int]:
    """Return `count` different free ports."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
