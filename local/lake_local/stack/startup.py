"""Starts and stops the processes of a state directory, in the right order."""

from __future__ import annotations

import os
import socket
import sys
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from secrets import token_hex

from botocore.exceptions import BotoCoreError, ClientError

from lake_spec.layout.site_pages import site_folder
from lake_spec.model import EnvironmentSpec

from lake_local import page_server
from lake_local.airflow import processes, settings
from lake_local.errors import StartFailed
from lake_local.stack import emulator, policies, state
from lake_local.stack.state import Stack
from lake_local.text import progress
from lake_local.workspace import background, dags_folder, project
from lake_local.workspace.background import Process
from lake_local.workspace.specs import Specs
from lake_local.workspace.state_dir import StateDirectory

LEFTOVER_SECONDS = 10


def start(
    home: StateDirectory, specs: Specs, *, airflow: bool, kept: bool = False
) -> Stack:
    """Start the emulator, and Airflow if asked for; note each process at once."""
    sweep(home)
    aws_port, airflow_port, pages_port = _free_ports(3)
    stack = Stack(
        home=str(home.root),
        tables=str(specs.tables),
        environment=specs.environment_file,
        region=specs.environment.region,
        aws_port=aws_port,
        airflow_port=airflow_port if airflow else 0,
        pages_port=pages_port if airflow else 0,
        since=f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S}",
    )
    env = _environment(stack, specs)
    policies.write(home, specs)
    stack.processes.append(emulator.start(home, specs.project, env, aws_port))
    state.write(home, stack)
    if airflow:
        _start_airflow(home, specs, stack, env)
        stack.processes.append(_start_pages(home, specs, stack, env))
        state.write(home, stack)
    emulator.wait_until_healthy(home, stack.processes[0], stack.aws_url)
    make_secret(stack, specs.environment)
    if airflow:
        processes.wait_until_healthy(home, stack.airflow_url, stack.processes)
    stack.kept = kept
    state.write(home, stack)
    return stack


def restore(home: StateDirectory, specs: Specs, stack: Stack) -> None:
    """Start the processes of a stack that have ended, where they were; the others, and
    the runs under way, go on.

    Raises StartFailed where one does not start; nothing is stopped.
    """
    gone = stack.dead()
    if emulator.NAME in gone:
        policies.write(home, specs)
    for nth, each in enumerate(stack.processes):
        if each.name in gone:
            progress(f"{each.name} had ended: it is started again")
            stack.processes[nth] = start_one(each.name, home, specs, stack)
            state.write(home, stack)
    try:
        aws = next(each for each in stack.processes if each.name == emulator.NAME)
        emulator.wait_until_healthy(home, aws, stack.aws_url)
        processes.wait_until_healthy(home, stack.airflow_url, stack.processes)
    except StartFailed as error:
        raise StartFailed(
            f"{', '.join(gone)}: ended, and could not be started again. All else is still "
            "up; to start all of it anew: ./run_locally.sh down, then up. What is in the "
            f"way: {error}"
        ) from None


def start_one(name: str, home: StateDirectory, specs: Specs, stack: Stack) -> Process:
    """Start one process of a stack again, on its port, with its environment."""
    env = _environment(stack, specs)
    if name == emulator.NAME:
        return emulator.start(home, specs.project, env, stack.aws_port)
    if name == page_server.NAME:
        return _start_pages(home, specs, stack, env)
    env = _environment_of_airflow(home, specs, stack, env)
    return processes.start_one(name, home, specs.project, env)


def stop(home: StateDirectory, stack: Stack) -> None:
    """Fail active runs, terminate clusters, stop all processes."""
    names = {each.name for each in stack.processes if each.is_alive()}
    if processes.API_SERVER in names and "scheduler" in names:
        processes.settle(processes.client(home, stack.airflow_url), progress)
    if emulator.NAME in names:
        _end_clusters(stack, stack.region)
    processes.stop(stack.processes)
    for each in stack.processes:
        if each.name == emulator.NAME:
            emulator.stop(each)
    sweep(home)


def sweep(home: StateDirectory) -> list[int]:
    """Stop processes that an earlier command left; return their ids."""
    found = background.end_marked(home.root, grace=LEFTOVER_SECONDS)
    state.forget(home)
    return found


def dags_of(home: StateDirectory, specs: Specs) -> Path:
    """Return the DAGs folder of these specs; generate it for tables elsewhere."""
    if specs.are_the_projects:
        return specs.project.dags
    return dags_folder.generate(
        home.dags, project_dags=specs.project.dags, tables=specs.tables
    )


def _free_ports(count: int) -> list[int]:
    """Return `count` different free ports."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _start_airflow(
    home: StateDirectory, specs: Specs, stack: Stack, env: dict[str, str]
) -> None:
    project.require_airflow(specs.project)
    env = _environment_of_airflow(home, specs, stack, env)
    processes.migrate(home, specs.project, env)
    stack.processes += processes.start(home, specs.project, env)
    state.write(home, stack)


def _environment_of_airflow(
    home: StateDirectory, specs: Specs, stack: Stack, env: dict[str, str]
) -> dict[str, str]:
    dags = dags_of(home, specs)
    return {
        **env,
        **settings.airflow_environment(
            home, specs.project, dags=dags, url=stack.airflow_url
        ),
        "LAKE_ENVIRONMENT": stack.environment,
        "LAKE_RUNS": specs.environment.runs,
        "LAKE_TABLES": str(specs.tables),
        "LAKE_RELEASE_FILE": str(home.release_file),
        "LAKE_POLL_SECONDS": "1",
    }


def _start_pages(
    home: StateDirectory, specs: Specs, stack: Stack, env: dict[str, str]
) -> Process:
    """Start the server of the catalogue's pages."""
    path = [str(specs.project.root / "local"), str(specs.project.dags)]
    root = site_folder(specs.environment.runs)
    argv = [sys.executable, "-m", "lake_local.page_server", "--root", root]
    return background.start(
        page_server.NAME,
        [*argv, "--port", str(stack.pages_port)],
        env={**env, "PYTHONPATH": ":".join(path)},
        log=home.logs / f"{page_server.NAME}.log",
        home=home.root,
    )


def _environment(stack: Stack, specs: Specs) -> dict[str, str]:
    keys = settings.aws_environment(
        stack.aws_url, specs.environment.region, stack.aws_secret
    )
    return {**settings.inherited(os.environ), **keys}


def make_secret(stack: Stack, environment: EnvironmentSpec) -> None:
    """Create the parameter that an erase needs, as a deployment has it, once."""
    if environment.erase_secret is None:
        return
    ssm = emulator.client("ssm", stack, environment.region)
    try:
        ssm.put_parameter(
            Name=environment.erase_secret, Value=token_hex(32), Type="SecureString"
        )
    except ssm.exceptions.ParameterAlreadyExists:
        pass


def _end_clusters(stack: Stack, region: str) -> None:
    try:
        for each in emulator.end_clusters(emulator.client("emr", stack, region)):
            progress(f"terminated cluster {each}")
    except (BotoCoreError, ClientError) as error:
        progress(
            f"the clusters could not be terminated: {error}. Their processes are killed."
        )
