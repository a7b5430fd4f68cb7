"""The state directory: one folder with the state of one set of processes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lake_emulator import state_mark
from lake_emulator.private_folder import NotPrivate
from lake_local.errors import BadRequest


@dataclass(frozen=True)
class StateDirectory:
    """The folder with everything of one local lake."""

    root: Path

    @classmethod
    def at(cls, path: str | Path) -> StateDirectory:
        """Return the state directory at `path`, made absolute for all processes."""
        return cls(Path(path).expanduser().resolve())

    def create(self) -> None:
        """Create and mark the folders, readable by their owner only.

        Raises BadRequest if the root belongs to another user, or has what others wrote.
        """
        try:
            state_mark.claim(self.root)
        except (NotPrivate, state_mark.NotAStateDirectory) as error:
            raise BadRequest(str(error)) from error
        for folder in (self.airflow, self.logs, self.holders):
            folder.mkdir(mode=0o700, exist_ok=True)

    def check(self) -> None:
        """Raise BadRequest if it is a folder that others filled; write nothing."""
        try:
            state_mark.check(self.root)
        except state_mark.NotAStateDirectory as error:
            raise BadRequest(str(error)) from error

    @property
    def airflow(self) -> Path:
        """AIRFLOW_HOME: database, configuration and task logs."""
        return self.root / "airflow"

    @property
    def task_logs(self) -> Path:
        """The folder of the logs of Airflow's tasks."""
        return self.airflow / "logs"

    @property
    def dags(self) -> Path:
        """The generated DAGs folder, for tables outside of the project."""
        return self.root / "dags"

    @property
    def release_file(self) -> Path:
        """The file with the release that the DAGs refer to."""
        return self.root / "release.json"

    @property
    def logs(self) -> Path:
        """The folder of the logs of background processes."""
        return self.root / "logs"

    @property
    def site(self) -> Path:
        """The folder of the pages that `site` builds."""
        return self.root / "site"

    @property
    def site_lock_file(self) -> Path:
        """The lock file of that folder."""
        return self.root / "site.lock"

    @property
    def restart_lock_file(self) -> Path:
        """The lock file of who starts again what has ended."""
        return self.root / "restart.lock"

    @property
    def steps(self) -> Path:
        """Output of EMR steps: `<cluster>/<step>/stdout` and `stderr`."""
        return self.root / "emr"

    @property
    def stack_file(self) -> Path:
        """The file with the running processes."""
        return self.root / "stack.json"

    @property
    def lock_file(self) -> Path:
        """The lock file of the state directory."""
        return self.root / "lock"

    @property
    def holders(self) -> Path:
        """The folder with one file per process that has the lock, named by its id."""
        return self.root / "holders"
