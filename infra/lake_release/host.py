"""The Airflow of others, in which a deployment is a guest: what is read of it beforehand.

Nothing of theirs is written: not their DAGs, not what MWAA installs, no setting of the
environment. What ours need of it is compared, and refused with what to change.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any, Collection, Dict, Iterator, List, Optional, Tuple

from lake_release.airflow_files import REQUIREMENTS
from lake_release.errors import ReleaseError
from lake_release.mwaa import SETTINGS, Airflow
from lake_release.shared_requirements import (
    Compared,
    compared,
    constraint_files,
    needs,
    supported,
)
from lake_release.shipped.lake_current import PACKAGES
from lake_release.store import listed
from lake_release.target import Target

MOUNTED = "/usr/local/airflow/"
"""Where MWAA has the folder of DAGs, whatever its name in the bucket."""
_SYNTAX = "core.dag_ignore_file_syntax"


class Host:
    """The MWAA environment of others that an environment's `airflow` names."""

    def __init__(
        self, target: Target, s3: Any, airflow: Airflow, project: Path
    ) -> None:
        self._target = target
        self._s3 = s3
        self._airflow = airflow
        self._project = project

    def check(self, dags: Collection[str]) -> None:
        """Raise ReleaseError, with all that is in the way of these DAGs."""
        there = self._airflow.described()
        reasons = [*self._version(there), *self._options(there)]
        if not reasons:
            reasons += [*self._requirements(there), *self._modules()]
            reasons += self._taken(dags)
        if reasons:
            target = self._target
            raise ReleaseError(
                f"{target.environment}: {target.airflow} is not ready for these DAGs. "
                "Nothing was written.\n" + "\n".join(f"- {each}" for each in reasons)
            )

    def notes(self) -> Iterator[str]:
        """Yield what is worth to know of it, and no reason to refuse."""
        there = self._airflow.described()
        target = self._target
        yield (
            f"{target.airflow} is shared: only s3://{target.dags_bucket}/{target.home} "
            "is written, and nothing that it installs"
        )
        if not [*self._version(there)]:
            yield from self.compared(there).notes

    def described(self) -> Dict[str, Any]:
        """Return the environment as MWAA describes it."""
        return self._airflow.described()

    def compared(self, there: Dict[str, Any]) -> Compared:
        """Compare what it installs with what the DAGs need."""
        text = (self.installed(there, REQUIREMENTS) or b"").decode("utf-8", "replace")
        files = (self._constraints(each) for each in constraint_files(text))
        known = {name: found for name, found in files if found is not None}
        found = compared(text, known, needs(self._project, there["AirflowVersion"]))
        return found

    def installed(self, there: Dict[str, Any], file: str) -> Optional[bytes]:
        """Return the content of what MWAA installs of that kind; None without."""
        path, version = (there.get(name) for name in SETTINGS[file])
        return self._content(path, version) if path else None

    def _constraints(self, place: str) -> Tuple[str, Optional[str]]:
        """Return the text of constraints that lie among the DAGs; None of others."""
        prefix = f"{MOUNTED}dags/"
        if not place.startswith(prefix):
            return place, None
        found = self._content(f"{self._target.dags}{place[len(prefix):]}", None)
        return place, None if found is None else found.decode("utf-8", "replace")

    def _content(self, key: str, version: Optional[str]) -> Optional[bytes]:
        of_version = {"VersionId": version} if version else {}
        where = {"Bucket": self._target.dags_bucket, "Key": key, **of_version}
        try:
            body: bytes = self._s3.get_object(**where)["Body"].read()
        except self._s3.exceptions.NoSuchKey:
            return None
        return body

    def _version(self, there: Dict[str, Any]) -> Iterator[str]:
        known, version = supported(self._project), there.get("AirflowVersion")
        if version not in known:
            yield (
                f"it is Airflow {version}; the DAGs are tested with {', '.join(known)}. "
                "Update it to one of these (docs/upgrades.md), or give this environment "
                "an Airflow of its own"
            )

    @staticmethod
    def _options(there: Dict[str, Any]) -> Iterator[str]:
        options = there.get("AirflowConfigurationOptions") or {}
        if options.get(_SYNTAX, "glob") != "glob":
            yield (
                f"its option {_SYNTAX} is {options[_SYNTAX]}: our .airflowignore has "
                "patterns of the kind glob, the default, so that Airflow would take the "
                "folders of releases for DAG files. Take the option out"
            )

    def _requirements(self, there: Dict[str, Any]) -> List[str]:
        found = self.compared(there)
        lacking = [
            f"its requirements.txt lacks the line {each}. Add it (`release join` writes "
            "the whole file), upload it, and update the environment to that version"
            for each in found.missing
        ]
        older = [
            f"{each}. Allow that version, or take the line out"
            for each in found.conflicts
        ]
        return [*lacking, *older]

    def _modules(self) -> Iterator[str]:
        """Yield the modules of others that Python would find in the place of ours."""
        target = self._target
        for package in PACKAGES:
            prefix = f"{target.dags}{package}"
            for each in listed(self._s3, target.dags_bucket, prefix):
                if each["Key"].startswith((f"{prefix}/", f"{prefix}.py")):
                    yield (
                        f"{each['Key']} is of others and is imported in the place of our "
                        f"package {package}. Rename it"
                    )
                    break

    def is_ours(self, dag: Optional[Dict[str, Any]]) -> bool:
        """Return whether a DAG, as Airflow describes it, is of a file of our folder."""
        ours = PurePosixPath(MOUNTED, "dags", PurePosixPath(self._target.home).name)
        return dag is not None and _file(dag).parent == ours

    def _taken(self, dags: Collection[str]) -> Iterator[str]:
        """Yield the ids that DAGs of others have."""
        for id in sorted(dags):
            there = self._airflow.dag(id)
            if there is None or there.get("is_stale") or self.is_ours(there):
                continue
            yield (
                f"the DAG {id} is there already, of {_file(there)}: two files of one id "
                "take each other's place. Rename the domain, or their DAG"
            )


def _file(dag: Dict[str, Any]) -> PurePosixPath:
    return PurePosixPath(str(dag.get("fileloc")))
