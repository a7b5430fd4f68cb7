"""Deploys a release and rolls it back, one step after the other.

    artifacts -> the release's own dags folder -> what MWAA installs -> DAG files
    -> current.json -> a run that proves it -> what nothing shows any more goes

Before current.json is written nothing that runs has changed, but for packages that MWAA
installed; so a deployment that dies, wherever, leaves one whole release. The next one
goes on where it stopped, for every step looks first what is there. A release is marked
as not proven until its run was green, and a repeat tries it again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Callable, Collection, Dict, Iterable, Iterator, List, Optional

from lake_release import pointer
from lake_release.airflow_bucket import AirflowBucket, is_empty_plugins
from lake_release.airflow_files import EMPTY_ZIP, PLUGINS
from lake_release.built import Built
from lake_release.changes import (
    State,
    all_dags,
    changes,
    dags_of,
    gone_dags,
    runs_root,
)
from lake_release.checksums import digest
from lake_release.commits import Checkout, Commit
from lake_release.errors import (
    AWS_ERRORS,
    CredentialsEnded,
    NotTried,
    ReleaseError,
    as_release_error,
)
from lake_release.host import Host
from lake_release.mwaa import Airflow, words
from lake_release.pointer import AirflowFile, Deploy, Pointer
from lake_release.store import Store, dag_files, utc_now
from lake_release.target import Target
from lake_spec.layout.dag_names import PROOF


class Deployment:
    """Releases of one environment. Without an `airflow` only S3 is written; a `host` is
    the same Airflow where others have theirs in it too."""

    def __init__(
        self,
        target: Target,
        s3: Any,
        *,
        by: str,
        airflow: Optional[Airflow] = None,
        host: Optional[Host] = None,
        checkout: Optional[Checkout] = None,
        take_over: Collection[str] = (),
        say: Callable[[str], None] = print,
    ) -> None:
        self._target = target
        self._s3 = s3
        self._store = Store(s3, target)
        self._bucket = AirflowBucket(s3, target, self._store, take_over)
        self._airflow = airflow
        self._host = host
        self._checkout = checkout
        self._by = by
        self._say = say

    def plan(self, built: Built) -> Iterator[str]:
        """List what would change, a line each."""
        before = pointer.read(self._s3, self._target)
        there = before.current
        yield f"{self._target.environment}: {_named(there)} -> {built.id}"
        if self._airflow is not None and (stale := self._airflow.goes_stale()):
            yield stale
        if self._host is not None:
            yield from self._host.notes()
        if there and there.release == built.id:
            tries = self._airflow is not None and not there.proven
            done = (
                "nothing to do but a run that proves it" if tries else "nothing to do"
            )
            new = _state_of(built)
            foreign = _why_not(self._check_ours, before, there.airflow, new)
            refused = _refusals(foreign, _why_not(self._store.check_built, built))
            yield from refused or [done]
            return
        old, new = self._state(there), _state_of(built)
        yield from _refusals(
            _why_not(self._check_deploy, before, built, new),
            self._why_older(there),
            _why_not(self._refuse_needed, old, new),
            _why_not(self._refuse_moved, old, new),
            _why_not(self._store.check_built, built),
        )
        yield from changes(old, new)

    def deploy(self, built: Built, *, older: bool = False) -> None:
        """Make a release the current one. Raises ReleaseError, which keeps the
        previous one.

        One of an older commit than the current one's is refused unless `older`.
        """
        before = pointer.read(self._s3, self._target)
        why_not = None if older else self._why_older(before.current)
        if before.current and before.current.release == built.id:
            self._say(f"{built.id} is the current release already")
            self._check_ours(before, before.current.airflow, _state_of(built))
            self._put(built)
            commit = None if why_not else self._commit()
            self._repeat(self._note_built(before, built, commit))
            return
        if why_not:
            raise ReleaseError(why_not)
        old, new = self._state(before.current), _state_of(built)
        self._check_deploy(before, built, new)
        self._refuse_under_way(old, new)
        self._put(built)
        files = self._bucket.put_airflow_files(built, before)
        files = self._install(files, before)
        self._bucket.put_stubs(dag_files(built.files("dags")), before)
        self._refuse_under_way(old, new)
        deploy = self._deploy(built.id, files, digest(built.manifest_text()))
        self._switch(replace(deploy, commit=self._commit()), before)

    def _check_deploy(self, before: Pointer, built: Built, new: State) -> None:
        """Raise ReleaseError where deploying a release would meet what is not ours."""
        writes = self._bucket.writes(built, before)
        self._check_ours(before, built.files("airflow"), new, writes)

    def _check_ours(
        self,
        before: Pointer,
        files: Collection[str],
        new: State,
        writes: Iterable[str] = (),
    ) -> None:
        """Raise ReleaseError unless Airflow reads this bucket, and all that is written
        there, or replaced by a plugins.zip without files, is ours; in an Airflow that
        is shared also unless the DAGs of the new release fit into it."""
        if self._airflow is not None:
            self._airflow.check_reads(self._target)
            if self._lacks_plugins(files, before.current):
                writes = {*writes, PLUGINS}
        self._bucket.check(writes, before)
        if self._host is not None:
            self._host.check(all_dags(new))
        elif self._airflow is not None and self._airflow.missing({}):
            self._bucket.check_free(self._target.airflow, before)

    def _lacks_plugins(self, files: Collection[str], current: Optional[Deploy]) -> bool:
        """Return whether Airflow has plugins that are to go: it forgets none."""
        assert self._airflow
        if self._host is not None:
            return False
        there = current.airflow.get(PLUGINS) if current else None
        gone = PLUGINS not in files and not is_empty_plugins(there)
        return gone and self._airflow.has(PLUGINS)

    def _put(self, built: Built) -> None:
        """Upload what is missing of a release, which nothing reads before it is
        current."""
        count = self._store.put(built)
        self._say(f"{count['artifacts']} files for steps")
        self._say(f"{count['dags']} files for Airflow")

    def _commit(self) -> Optional[Commit]:
        return self._checkout.commit() if self._checkout else None

    def _why_older(self, there: Optional[Deploy]) -> Optional[str]:
        """Return why this checkout must not replace the deployed one; None if it
        may."""
        if there is None or there.commit is None or self._checkout is None:
            return None
        why_not = self._checkout.why_not_after(there.commit.id)
        if why_not is None:
            return None
        return (
            f"{self._target.environment}: {why_not} Deploy the newest commit of main, go "
            "back with `rollback`, or add --older to deploy it all the same."
        )

    def _note_built(
        self, before: Pointer, built: Built, commit: Optional[Commit]
    ) -> Pointer:
        """Record what was built now: the newer commit of the same release, to compare
        later ones with, and its manifest."""
        there = before.current
        assert there
        manifest = digest(built.manifest_text())
        again = replace(there, commit=commit or there.commit, manifest=manifest)
        return before if again == there else self._note(before, again)

    def _note(self, before: Pointer, again: Deploy) -> Pointer:
        """Update the record of the current release."""
        others = replace(before, deploys=before.deploys[1:])
        return pointer.write(self._s3, self._target, again, before=others)

    def _repeat(self, there: Pointer) -> None:
        """Try the current release, if no run has proven it yet."""
        deploy = there.current
        assert deploy
        if deploy.proven or self._airflow is None:
            return
        files = self._install(deploy.airflow, there)
        if files != deploy.airflow:
            there = self._note(there, replace(deploy, airflow=files))
        release = deploy.release
        others = (n for n, d in enumerate(there.deploys) if d.release != release)
        first = next(others, len(there.deploys))
        self._judge(there, replace(there, deploys=there.deploys[first:]))

    def rollback(self, release: Optional[str] = None) -> None:
        """Make the previous release, or another one, the current one."""
        before = pointer.read(self._s3, self._target)
        if before.current and before.current.release == release:
            if not before.current.proven:
                self._say(f"{release} is the current release already")
                current = self._state(before.current)
                self._check_ours(before, before.current.airflow, current)
                self._store.check(release, before.current.manifest)
                self._repeat(before)
                return
        earlier = before.earlier(release)
        if not self._store.has_dags(earlier.release):
            raise ReleaseError(
                f"The DAGs of release {earlier.release} are no longer kept. Check out "
                "its commit and deploy that."
            )
        manifest = self._store.check(earlier.release, earlier.manifest)
        old, new = self._state(before.current), self._state(earlier)
        self._check_ours(before, earlier.airflow, new)
        self._refuse_under_way(old, new)
        files = self._install(earlier.airflow, before)
        self._refuse_under_way(old, new)
        deploy = self._deploy(earlier.release, files, manifest)
        self._switch(replace(deploy, commit=earlier.commit), before)

    def status(self) -> Iterator[str]:
        """List the recorded deploys, the newest first."""
        there = pointer.read(self._s3, self._target)
        yield f"{self._target.environment}: {_named(there.current)}"
        if there.current:
            yield words(there.current.airflow)
        for each in there.deploys:
            proven = "" if each.proven else "  (no run has proven it)"
            yield f"{each.at}  {each.release}  {each.by}{proven}"

    def check_proven(self) -> None:
        """Raise NotTried if no run has proven the current release."""
        current = pointer.read(self._s3, self._target).current
        if current and not current.proven:
            raise NotTried(_unproven(current))

    def _refuse_under_way(self, old: State, new: State) -> None:
        """Raise ReleaseError where runs are under way that the new release must not
        meet."""
        self._refuse_needed(old, new)
        self._refuse_moved(old, new)

    def _refuse_moved(self, old: State, new: State) -> None:
        """Raise ReleaseError where the leases move while a run has one.

        Not asked after the switch: Airflow does not say which root a run works in.
        """
        before, after = (runs_root(each.specs) for each in (old, new))
        if None in (before, after) or before == after:
            return
        if under_way := self._under_way(dags_of(old)):
            raise ReleaseError(
                f"{self._target.environment}: `runs` was {before}, now {after}: a run in "
                "the one does not see the lease of a run in the other, so two could write "
                f"one table. Under way: {under_way}. Wait for their end, pause the DAGs "
                "before others begin, copy the folder, and deploy again "
                "(docs/upgrades.md#move-the-runs)."
            )

    def _refuse_needed(self, old: State, new: State) -> None:
        """Raise ReleaseError where the new release lacks a DAG whose run is under way."""
        if not (under_way := self._under_way(gone_dags(old, new))):
            return
        raise ReleaseError(
            f"{self._target.environment}: the release no longer has DAG "
            f"{under_way}, and Airflow would never finish a run of a "
            "missing DAG. Wait for its end, or mark it as failed, which terminates "
            "its cluster; then deploy again. One that stays queued (its DAG is paused, "
            "its backfill was cancelled) never ends by itself: mark it. If its schedule "
            "always starts a new run, deploy the domain without schedules first."
        )

    def _under_way(self, dags: Collection[str]) -> str:
        """Name those of the DAGs that have unfinished runs; empty without any, or if
        unknown."""
        if not dags or self._airflow is None or self._airflow.missing({}):
            return ""
        return "; ".join(
            f"{dag} (run {'; '.join(runs)})"
            for dag in sorted(dags)
            if (runs := self._airflow.active_runs(dag))
        )

    def _install(
        self, files: Dict[str, AirflowFile], there: Pointer
    ) -> Dict[str, AirflowFile]:
        """Let MWAA install the files; return them, and what replaces an older one."""
        if self._airflow is None or self._host is not None:
            return files
        if how := self._airflow.missing(files):
            self._say(how)
            return files
        if PLUGINS not in files and self._airflow.has(PLUGINS):
            empty = self._bucket.put_airflow_file(PLUGINS, EMPTY_ZIP, there)
            files = {**files, PLUGINS: empty}
        if not self._airflow.install(files):
            self._say("MWAA has these files already")
        return files

    def _switch(self, deploy: Deploy, before: Pointer) -> None:
        if self._airflow is not None:
            self._airflow.check_time()
        after = pointer.write(self._s3, self._target, deploy, before=before)
        self._say(f"{deploy.release} is the current release")
        self._judge(after, before)

    def _judge(self, after: Pointer, before: Pointer) -> None:
        """Try the current release; keep it as proven or as it is, or roll it back."""
        deploy = after.current
        assert deploy
        again = _unproven(deploy)
        try:
            if self._try(deploy, before.current):
                after = self._note_proven(after, deploy)
        except NotTried as why_not:
            self._say(str(why_not))
            self._say(again)
        except CredentialsEnded as error:
            raise CredentialsEnded(f"{error}\n{again}") from None
        except ReleaseError as error:
            raise ReleaseError(f"{error}\n{self._take_back(before, after)}") from None
        for key in self._bucket.prune(after, now=utc_now()):
            self._say(f"removed {key}")

    def _try(self, deploy: Deploy, before: Optional[Deploy]) -> bool:
        """Return whether a run proved it; False without an Airflow."""
        if self._airflow is None or self._airflow.missing(deploy.airflow):
            return False
        try:
            old, new = self._state(before), self._state(deploy)
        except AWS_ERRORS as error:
            raise as_release_error(error, "reading the releases") from None
        not_tried = None
        try:
            if f"{PROOF}.py" not in dag_files(new.manifest.get("dags", ())):
                raise NotTried(
                    f"{deploy.release} was made before releases had the DAG {PROOF}, so "
                    "nothing was tried"
                )
            self._airflow.smoke(deploy.release)
        except NotTried as why_not:
            not_tried = why_not
        self._refuse_needed(old, new)  # a run may have begun before Airflow showed it
        if not_tried:
            raise not_tried
        return True

    def _note_proven(self, after: Pointer, deploy: Deploy) -> Pointer:
        """Record that a run proved it, unless another release is current by now."""
        try:
            return self._note(after, replace(deploy, proven=True))
        except pointer.Overtaken as error:
            self._say(str(error))
            return after
        except AWS_ERRORS as error:
            raise as_release_error(error, "noting that the release is proven") from None

    def _take_back(self, before: Pointer, after: Pointer) -> str:
        """Restore the previous release, after a run proved that this one fails."""
        failed = after.current
        assert failed
        if before.current is None:
            return "It remains: there is no earlier release."
        again = replace(before.current, at=utc_now().isoformat(), by=self._by)
        try:
            manifest = self._store.check(again.release, again.manifest)
            files = self._install(again.airflow, after)
            again = replace(again, airflow=files, manifest=manifest)
            forgotten = replace(after, deploys=before.deploys)
            pointer.write(self._s3, self._target, again, before=forgotten)
        except (ReleaseError, *AWS_ERRORS) as error:
            why = (
                error
                if isinstance(error, ReleaseError)
                else as_release_error(error, "S3")
            )
            return (
                f"{failed.release} is still the current release, as it could not be "
                f"rolled back: {why}\nRoll back --to {again.release}."
            )
        return f"{again.release} is the current release again."

    def _deploy(
        self, release: str, files: Dict[str, AirflowFile], manifest: str
    ) -> Deploy:
        at = utc_now().isoformat()
        return Deploy(release, at, self._by, files, manifest, proven=False)

    def _state(self, there: Optional[Deploy]) -> State:
        if there is None:
            return State({}, {})
        manifest = self._store.manifest(there.release) or {}
        return State(manifest, self._store.specs(there.release, manifest))


def _state_of(built: Built) -> State:
    return State(built.manifest(), built.specs())


def _why_not(check: Callable[..., None], *asked: Any) -> Optional[str]:
    """Return why a check refuses; None if it does not."""
    try:
        check(*asked)
    except ReleaseError as error:
        return str(error)
    return None


def _refusals(*reasons: Optional[str]) -> List[str]:
    """Format why a deploy would be refused, a line each."""
    return [f"deploy would refuse this: {why}" for why in reasons if why]


def _unproven(deploy: Deploy) -> str:
    return (
        f"{deploy.release} is the current release, and no run has proven it. Deploy it"
        f" again, or roll back --to {deploy.release}: that tries it again."
    )


def _named(deploy: Optional[Deploy]) -> str:
    return deploy.release if deploy else "no release yet"
