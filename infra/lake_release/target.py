"""The buckets and keys of an environment's releases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from lake_infra.resource_names import Root
from lake_release.errors import ReleaseError
from lake_spec.model import EnvironmentSpec

DAGS = "dags/"
"""Where the Airflow of the templates reads its DAGs, all of which are ours."""


@dataclass(frozen=True)
class Target:
    """The buckets of an environment, the name of its Airflow, and our folder there.

    `dags` is the prefix that Airflow reads, `home` the one that is ours: the same, or a
    folder of it where the Airflow `is_shared` with others.
    """

    environment: str
    region: str
    artifacts: Root
    dags_bucket: str
    airflow: str
    dags: str = DAGS
    home: str = DAGS

    @classmethod
    def of(cls, environment: EnvironmentSpec, dags_bucket: Optional[str]) -> Target:
        """Name the buckets as docs/deploy.md does, or as the environment's `airflow`
        says. Raises ReleaseError for an unknown account."""
        shared = environment.airflow
        if shared and dags_bucket not in (None, shared.bucket):
            raise ReleaseError(
                f"--dags-bucket: got {dags_bucket!r}, and `airflow` of environments/"
                f"{environment.name}.yml names {shared.bucket}. Leave it out."
            )
        return cls(
            environment=environment.name,
            region=environment.region,
            artifacts=Root.of(environment.artifacts),
            dags_bucket=(
                shared.bucket if shared else dags_bucket or _bucket(environment)
            ),
            airflow=shared.name if shared else f"lake-{environment.name}",
            dags=f"{shared.dags}/" if shared else DAGS,
            home=f"{shared.dags}/{shared.folder}/" if shared else DAGS,
        )

    @property
    def is_shared(self) -> bool:
        """Whether others have DAGs, requirements and plugins in this Airflow."""
        return self.home != self.dags

    @property
    def owner(self) -> str:
        """The address of the artifacts, which no two deployments have in common."""
        return f"s3://{self.artifacts.bucket}/{self.artifacts.prefix}"

    @property
    def pointer(self) -> str:
        """The key of the object that names the releases."""
        return f"{self.home}current.json"

    @property
    def loader(self) -> str:
        """The key of what shows the current release."""
        return f"{self.home}lake_current.py"

    @property
    def ignore(self) -> str:
        """The key of what Airflow passes over in our folder."""
        return f"{self.home}.airflowignore"

    @property
    def releases(self) -> str:
        """The prefix of the folders of releases."""
        return f"{self.home}releases/"

    def artifact(self, release: str, file: str) -> str:
        """Return the key of a file that steps read."""
        return f"{self.artifacts.prefix}releases/{release}/{file}"

    def dag_file(self, release: str, file: str) -> str:
        """Return the key of a file of the dags folder of a release."""
        return f"{self.releases}{release}/{file}"


def _bucket(environment: EnvironmentSpec) -> str:
    arn = environment.runtime_role or environment.alarm_topic
    if not arn:
        raise ReleaseError(
            f"environments/{environment.name}.yml has no account: give --dags-bucket, "
            "the bucket that Airflow reads."
        )
    return f"lake-{environment.name}-airflow-{arn.split(':')[4]}"
