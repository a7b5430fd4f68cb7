"""What deploys a release and takes it back, one step after the other.

    artifacts -> the release's own dags folder -> what MWAA installs -> DAG files
    -> current.json -> a run that only plans -> what nothing shows any more goes

Before current.json is written nothing that runs has changed, but for packages that MWAA
installed; so a deployment that dies, wherever, leaves one whole release. The next one
goes on where it stopped, for every step looks first what is there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Callable, Dict, Iterator, Optional

from lake_release import pointer
from lake_release.built import Built
from lake_release.changes import State, changes
from lake_release.commits import Checkout, Commit
from lake_release.errors import ReleaseError
from lake_release.mwaa import Airflow, words
from lake_release.pointer import AirflowFile, Deploy, Pointer
from lake_release.store import Store, dag_files, utc_now
from lake_release.target import Target


class Deployment:
    """Releases of one environment. Without an `airflow` only S3 is written."""

    def __init__(
        self,
        target: Target,
        s3: Any,
        *,
        by: str,
        airflow: Optional[Airflow] = None,
        checkout: Optional[Checkout] = None,
        say: Callable[[str], None] = print,
    ) -> None:
        self._target = target
        self._s3 = s3
        self._store = Store(s3, target)
        self._airflow = airflow
        self._checkout = checkout
        self._by = by
        self._say = say

    def plan(self, built: Built) -> Iterator[str]:
        """What would change, a line each."""
        there = pointer.read(self._s3, self._target).current
        yield f"{self._target.environment}: {_named(there)} -> {built.id}"
        if there and there.release == built.id:
            yield "nothing to do"
            return
        if words := self._why_older(there):
            yield f"deploy would refuse this: {words}"
        yield from changes(self._state(there), _state_of(built))

    def deploy(self, built: Built, *, older: bool = False) -> None:
        """Make a release the current one. ReleaseError leaves the one before.

        One of an older commit than the current one's is refused unless `older`.
        """
        before = pointer.read(self._s3, self._target)
        why_not = None if older else self._why_older(before.current)
        if before.current and before.current.release == built.id:
            self._say(f"{built.id} is the current release already")
            if not why_not:
                self._note_commit(before)
            return
        if why_not:
            raise ReleaseError(why_not)
        self._say(f"{self._store.put_artifacts(built)} files for steps")
        self._say(f"{self._store.put_dags(built)} files for Airflow")
        files = self._store.put_airflow_files(built, before.current)
        self._install(files)
        self._store.put_stubs(dag_files(built.files("dags")))
        deploy = replace(self._deploy(built.id, files), commit=self._commit())
        self._switch(deploy, before)

    def _commit(self) -> Optional[Commit]:
        return self._checkout.commit() if self._checkout else None

    def _why_older(self, there: Optional[Deploy]) -> Optional[str]:
        """Why this checkout must not replace what is deployed; None if it may."""
        if there is None or there.commit is None or self._checkout is None:
            return None
        mine, remedy = self._commit(), (
            "Deploy the newest commit of main, go back with `rollback`, or add --older if"
            " the older one is what you want."
        )
        where, deployed = self._target.environment, there.commit.id
        if mine is None:
            return (
                f"{where}: nobody can tell whether this tree, which git does not know, is"
                f" older than the commit {deployed}, which is deployed. {remedy}"
            )
        if self._checkout.is_older(mine, there.commit):
            return (
                f"{where}: the commit {mine.id} is older than the commit {deployed},"
                f" which is deployed. {remedy}"
            )
        return None

    def _note_commit(self, before: Pointer) -> None:
        """The same release of a newer commit: what is older than that is older."""
        assert before.current
        commit = self._commit() or before.current.commit
        if commit != before.current.commit:
            others = replace(before, deploys=before.deploys[1:])
            again = replace(before.current, commit=commit)
            pointer.write(self._s3, self._target, again, before=others)

    def rollback(self, release: Optional[str] = None) -> None:
        """Make the release before the current one, or another one, the current one."""
        before = pointer.read(self._s3, self._target)
        earlier = before.earlier(release)
        if not self._store.has_dags(earlier.release):
            raise ReleaseError(
                f"The DAGs of release {earlier.release} are not kept any more. Check its"
                " commit out, and deploy that."
            )
        self._install(earlier.airflow)
        deploy = self._deploy(earlier.release, earlier.airflow)
        self._switch(replace(deploy, commit=earlier.commit), before)

    def status(self) -> Iterator[str]:
        """The deploys that are remembered, the newest first."""
        there = pointer.read(self._s3, self._target)
        yield f"{self._target.environment}: {_named(there.current)}"
        if there.current:
            yield words(there.current.airflow)
        for each in there.deploys:
            yield f"{each.at}  {each.release}  {each.by}"

    def _install(self, files: Dict[str, AirflowFile]) -> None:
        if self._airflow is None:
            return
        if how := self._airflow.missing(files):
            self._say(how)
        elif not self._airflow.install(files):
            self._say("MWAA has what it installs")

    def _switch(self, deploy: Deploy, before: Pointer) -> None:
        after = pointer.write(self._s3, self._target, deploy, before=before)
        self._say(f"{deploy.release} is the current release")
        try:
            self._prove(deploy)
        except ReleaseError as error:
            raise ReleaseError(f"{error}\n{self._take_back(before, after)}") from None
        for key in self._store.prune(after, now=utc_now()):
            self._say(f"removed {key}")

    def _prove(self, deploy: Deploy) -> None:
        if self._airflow is None or self._airflow.missing(deploy.airflow):
            return
        if why_not := self._airflow.smoke(deploy.release):
            self._say(why_not)

    def _take_back(self, before: Pointer, after: Pointer) -> str:
        """Show the release before again, where a run proved that this one fails."""
        if before.current is None:
            return "It stays: there is none before it."
        self._install(before.current.airflow)
        again = replace(before.current, at=utc_now().isoformat(), by=self._by)
        forgotten = replace(after, deploys=before.deploys)
        pointer.write(self._s3, self._target, again, before=forgotten)
        return f"{again.release} is the current release again."

    def _deploy(self, release: str, files: Dict[str, AirflowFile]) -> Deploy:
        return Deploy(release, utc_now().isoformat(), self._by, files)

    def _state(self, there: Optional[Deploy]) -> State:
        if there is None:
            return State({}, {})
        manifest = self._store.manifest(there.release) or {}
        return State(manifest, self._store.specs(there.release, manifest))


def _state_of(built: Built) -> State:
    return State(built.manifest(), built.specs())


def _named(deploy: Optional[Deploy]) -> str:
    return deploy.release if deploy else "no release yet"
