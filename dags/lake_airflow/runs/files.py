"""The small JSON files that a run leaves on S3, by their names in its folder."""

from __future__ import annotations

import json
from typing import Any

from airflow.providers.amazon.aws.hooks.s3 import S3Hook

from lake_spec.model import EnvironmentSpec


def report_folder(environment: EnvironmentSpec, run_name: str) -> str:
    """Return the folder of a run's reports."""
    return f"{environment.runs}/{run_name}"


class RunFiles:
    """Reads and writes below `<runs>/<dag_id>/<run key>/`."""

    def __init__(
        self, environment: EnvironmentSpec, run_name: str, *, aws_conn_id: str | None
    ) -> None:
        self.hook = S3Hook(aws_conn_id=aws_conn_id, region_name=environment.region)
        folder = report_folder(environment, run_name)
        self.bucket, self.prefix = self.hook.parse_s3_url(folder)

    def names(self) -> set[str]:
        """List the names of all files of the run."""
        keys = self.hook.list_keys(self.bucket, prefix=f"{self.prefix}/") or ()
        return {key[len(self.prefix) + 1 :] for key in keys}

    def read(self, name: str) -> Any:
        """Return the content of one file. Raises ValueError for one that is not
        JSON."""
        key = f"{self.prefix}/{name}"
        text = self.hook.read_key(key, bucket_name=self.bucket)
        try:
            return json.loads(text)
        except ValueError as error:
            raise ValueError(f"s3://{self.bucket}/{key}: not JSON: {error}") from error

    def write(self, name: str, content: Any) -> str:
        """Write one file, over the one before, and return its address."""
        key = f"{self.prefix}/{name}"
        text = json.dumps(content, indent=1)
        self.hook.load_string(text, key, bucket_name=self.bucket, replace=True)
        return f"s3://{self.bucket}/{key}"
