"""Takes a deployment out of an Airflow of others: its files there, and its DAGs.

What steps read, tables and runs stay, for they lie in buckets of our own. Files of others
in our folder stay too, and are named.
"""

from __future__ import annotations

from typing import Any, Callable, Iterable, Iterator, List, Set

from lake_release import pointer
from lake_release.airflow_bucket import AirflowBucket
from lake_release.changes import State, all_dags
from lake_release.errors import ReleaseError
from lake_release.host import Host
from lake_release.mwaa import Airflow
from lake_release.pointer import Pointer
from lake_release.store import Store, dag_files
from lake_release.target import Target
from lake_spec.layout.dag_names import ids_of


class Removal:
    """The end of the releases of one environment in an Airflow that is shared."""

    def __init__(
        self,
        target: Target,
        s3: Any,
        *,
        airflow: Airflow,
        host: Host,
        say: Callable[[str], None] = print,
    ) -> None:
        self._target = target
        self._s3 = s3
        self._store = Store(s3, target)
        self._bucket = AirflowBucket(s3, target, self._store)
        self._airflow = airflow
        self._host = host
        self._say = say

    def run(self) -> None:
        """Pause our DAGs, delete our files, and let Airflow forget the DAGs.

        Raises ReleaseError while a run of them is under way, and for what is not ours.
        """
        there = pointer.read(self._s3, self._target)
        self._airflow.check_reads(self._target)
        self._bucket.check((), there)
        if there.current is None:
            self._say(f"{self._target.airflow} has no release of this environment")
        dags = sorted(self._dags(there))
        self._refuse_under_way(dags)
        self._pause(dags)
        for key in self._bucket.take_out(there):
            self._say(f"removed {key}")
        self._tell_left()
        if left := self._airflow.forget(dags):
            self._say(
                f"Airflow still lists {', '.join(left)}, whose files are gone: delete "
                "them in its pages once it has seen that"
            )

    def _dags(self, there: Pointer) -> Set[str]:
        """Return the ids of the DAGs of all releases that Airflow knows as ours."""
        ids: Set[str] = set()
        for release in {each.release for each in there.deploys}:
            manifest = self._store.manifest(release) or {}
            ids |= all_dags(State(manifest, self._store.specs(release, manifest)))
            for name in dag_files(manifest.get("dags", ())):
                ids |= ids_of(name[: -len(".py")])
        return {id for id in ids if self._host.is_ours(self._airflow.dag(id))}

    def _refuse_under_way(self, dags: Iterable[str]) -> None:
        if under_way := list(self._under_way(dags)):
            raise ReleaseError(
                f"{self._target.environment}: runs are under way, which Airflow would "
                f"never finish without their DAGs: {'; '.join(under_way)}. Wait for their "
                "end, or mark them as failed, which terminates their clusters; then "
                "remove again. Nothing was removed."
            )

    def _under_way(self, dags: Iterable[str]) -> Iterator[str]:
        for dag in dags:
            if runs := self._airflow.active_runs(dag):
                yield f"{dag} ({'; '.join(runs)})"

    def _pause(self, dags: List[str]) -> None:
        """Let no run begin any more; let all go on as before where one did meanwhile."""
        going = [d for d in dags if not (self._airflow.dag(d) or {}).get("is_paused")]
        try:
            for dag in going:
                self._airflow.pause(dag, True)
            self._refuse_under_way(dags)
        except ReleaseError:
            for dag in going:
                self._airflow.pause(dag, False)
            raise

    def _tell_left(self) -> None:
        if left := self._bucket.left():
            self._say(
                f"{', '.join(left)}: of others, in our folder; they stay. The folder "
                "goes with them"
            )
