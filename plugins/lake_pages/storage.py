"""Reads the files of runs from S3, each at most once in a short time."""

from __future__ import annotations

import json
import os
import time
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

import boto3
from botocore.exceptions import ClientError

RUNS_VARIABLE = "LAKE_RUNS"
JOINED = Path(__file__).with_name("joined.json")
"""The note with the root of the runs, in an Airflow whose start-up script is of others."""
SECONDS = 30
"""Time for which what was read is shown again."""

LARGEST = 5_000_000
"""Bytes of an object that is shown: a larger one is none of ours."""

_MOST = 2_000  # objects in the cache


class NotSet(RuntimeError):
    """The variable with the root of the runs is not set.

    Fix: Deploy the release: its startup.sh sets LAKE_RUNS. In an Airflow of others, join
    the plugin again (`release join --plugin`).
    """


class Store:
    """The objects below the root of the runs, of which it only reads."""

    def __init__(self, runs: str, client: Any) -> None:
        bucket, _, prefix = runs.removeprefix("s3://").partition("/")
        self.bucket, self.prefix = bucket, prefix.strip("/")
        self._client = client
        self._read: Dict[str, Tuple[float, Any]] = {}

    def names(self, folder: str) -> List[str]:
        """List the names of the objects of a folder, in their order."""
        found: List[str] = self._kept(f"{folder}/", lambda: self._listed(folder))
        return found

    def content(self, path: str) -> Optional[bytes]:
        """Return the content of an object; None if there is none."""
        found: Optional[bytes] = self._kept(path, lambda: self._got(path))
        return found

    def data(self, path: str) -> Dict[str, Any]:
        """Return the JSON object of a file; {} if there is none or it is damaged."""
        try:
            found = json.loads(self.content(path) or b"{}")
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def _kept(self, name: str, read: Any) -> Any:
        now = time.monotonic()
        until, value = self._read.get(name, (0.0, None))
        if until > now:
            return value
        value = read()
        # A copy, as other threads add to it meanwhile: large pages must not stay.
        kept = {n: each for n, each in list(self._read.items()) if each[0] > now}
        self._read = kept if len(kept) < _MOST else {}
        self._read[name] = (now + SECONDS, value)
        return value

    def _listed(self, folder: str) -> List[str]:
        prefix = f"{self.prefix}/{folder}/"
        pages = self._client.get_paginator("list_objects_v2")
        return [
            each["Key"][len(prefix) :]
            for page in pages.paginate(Bucket=self.bucket, Prefix=prefix)
            for each in page.get("Contents", ())
        ]

    def _got(self, path: str) -> Optional[bytes]:
        try:
            found = self._client.get_object(
                Bucket=self.bucket, Key=f"{self.prefix}/{path}"
            )
        except ClientError as error:
            if error.response["Error"]["Code"] not in ("NoSuchKey", "404"):
                raise
            return None
        with closing(found["Body"]) as body:
            return body.read() if found["ContentLength"] <= LARGEST else None


@lru_cache(maxsize=1)
def store() -> Store:
    """Return the store of this web server. Raises NotSet without LAKE_RUNS and note."""
    runs = os.environ.get(RUNS_VARIABLE) or _noted()
    if not runs.startswith("s3://"):
        raise NotSet(
            f"{RUNS_VARIABLE}: got {runs!r}. Set it to the root of the runs, as in "
            "s3://lake/runs; a deploy does it by startup.sh."
        )
    return Store(runs, boto3.client("s3"))


def _noted() -> str:
    """Return the root of the runs of the note; empty without one."""
    try:
        return str(json.loads(JOINED.read_text("utf-8"))["runs"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
