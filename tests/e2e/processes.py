"""Processes of one home, found as an outsider finds them: by its path."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional

import psutil

SPARK = "org.apache.spark.deploy.SparkSubmit"


@dataclass(frozen=True)
class Seen:
    """A process as it was when it was looked at: it may end at any moment after."""

    process: psutil.Process
    arguments: List[str]
    environment: Dict[str, str]

    def has(self, wanted: List[str]) -> bool:
        line = self.arguments
        return any(line[i : i + len(wanted)] == wanted for i in range(len(line)))

    def kill(self) -> None:
        """kill -9; one that has ended meanwhile is psutil.NoSuchProcess."""
        self.process.kill()

    def output(self, home: Path) -> str:
        """What a running EMR step has printed so far."""
        names = self.environment
        folder = home / "emr" / names["LAKE_CLUSTER_ID"] / names["LAKE_STEP_ID"]
        return (folder / "stdout").read_text(errors="replace")

    def __str__(self) -> str:
        return f"{self.process.pid} {' '.join(self.arguments)[:200]}"


def of_home(home: Path) -> List[str]:
    """Every living process that names the home in its arguments or environment."""
    return [str(each) for each in _living(home)]


def emulator(home: Path) -> Optional[psutil.Process]:
    """The server of the emulator for AWS."""
    wanted = ["-m", "lake_local.emulator", "--state-dir", str(home)]
    return next((each.process for each in _living(home) if each.has(wanted)), None)


def spark_of_stage(home: Path, stage: str) -> Optional[Seen]:
    """The JVM of a running EMR step that works on a stage."""
    for each in _living(home):
        if SPARK in each.arguments and each.has(["--stage", stage]):
            return each
    return None


def _living(home: Path) -> List[Seen]:
    found = []
    for process in psutil.process_iter():
        try:
            each = Seen(process, process.cmdline(), process.environ())
            alive = process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            continue
        told = "\n".join([*each.arguments, *each.environment.values()])
        if alive and process.pid != os.getpid() and str(home) in told:
            found.append(each)
    return found
