"""The buckets and keys of an environment's releases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from lake_infra.resource_names import Root
from lake_release.errors import ReleaseError
from lake_spec.model import EnvironmentSpec

DAGS = "dags/"
POINTER = f"{DAGS}current.json"


@dataclass(frozen=True)
class Target:
    """The buckets of an environment and the name of its Airflow."""

    environment: str
    region: str
    artifacts: Root
    dags_bucket: str
    airflow: str

    @classmethod
    def of(cls, environment: EnvironmentSpec, dags_bucket: Optional[str]) -> Target:
        """Name the buckets as docs/deploy.md does. Raises ReleaseError for an
        unknown account."""
        return cls(
            environment=environment.name,
            region=environment.region,
            artifacts=Root.of(environment.artifacts),
            dags_bucket=dags_bucket or _bucket(environment),
            airflow=f"lake-{environment.name}",
        )

    @property
    def owner(self) -> str:
        """The address of the artifacts, which no two deployments have in common."""
        return f"s3://{self.artifacts.bucket}/{self.artifacts.prefix}"

    def artifact(self, release: str, file: str) -> str:
        """Return the key of a file that steps read."""
        return f"{self.artifacts.prefix}releases/{release}/{file}"

    @staticmethod
    def dag_file(release: str, file: str) -> str:
        """Return the key of a file of the dags folder of a release."""
        return f"{DAGS}releases/{release}/{file}"


def _bucket(environment: EnvironmentSpec) -> str:
    arn = environment.runtime_role or environment.alarm_topic
    if not arn:
        raise ReleaseError(
            f"environments/{environment.name}.yml has no account: give --dags-bucket, "
            "the bucket that Airflow reads."
        )
    return f"lake-{environment.name}-airflow-{arn.split(':')[4]}"
