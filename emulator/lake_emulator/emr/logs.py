"""A step's logs: where they lie while it runs, and on S3 when it has ended."""

from __future__ import annotations

import gzip
import logging
import re
from pathlib import Path
from typing import Optional

from lake_emulator.emr.models import Cluster, Step
from lake_emulator.s3.errors import S3Error
from lake_emulator.s3.store import ObjectStore

NAMES = ("controller", "stdout", "stderr")
TAIL = 64 * 1024
LOCATION = re.compile(r"s3[an]?://([^/]+)/?(.*)$")
ERROR = re.compile(r"\b[\w.]*(Error|Exception)\b")
log = logging.getLogger(__name__)


def log_file(cluster: Cluster, step: Step, name: str) -> Optional[str]:
    """Return where EMR puts this log, if the cluster has a place for logs."""
    if not cluster.log_uri:
        return None
    place = cluster.log_uri.rstrip("/")
    return f"{place}/{cluster.id}/steps/{step.id}/{name}.gz"


def publish(store: ObjectStore, cluster: Cluster, step: Step, folder: Path) -> None:
    """Put what there is to S3; logs that cannot be put do not fail a step."""
    for name in NAMES:
        location = LOCATION.match(log_file(cluster, step, name) or "")
        file = folder / name
        if not location or not file.exists():
            continue
        headers = {"content-type": "application/x-gzip"}
        try:
            packed = gzip.compress(file.read_bytes(), 6)
            bucket, key = location.groups()
            store.put(bucket, key, [packed], headers=headers)
        except (S3Error, OSError) as reason:
            log.warning("%s %s: log not put: %s", cluster.id, step.id, reason)


def last_error(folder: Path, prefix: str = "") -> str:
    """Return what went wrong, in the step's own words.

    Spark writes a Python driver's stderr to stdout, so both are looked at:
    the lines that begin with `prefix`, or else the last one that names an error,
    or else the last line of stderr.
    """
    errors, output = _lines(folder / "stderr"), _lines(folder / "stdout")
    lines = errors + output
    reported = [line for line in lines if prefix and line.startswith(prefix)]
    named = [line for line in lines if ERROR.search(line)]
    return "; ".join(reported or named[-1:] or errors[-1:])[:1024]


def _lines(file: Path) -> list[str]:
    return [line.strip() for line in _tail(file).splitlines() if line.strip()]


def _tail(file: Path) -> str:
    try:
        with open(file, "rb") as stream:
            stream.seek(0, 2)
            stream.seek(max(0, stream.tell() - TAIL))
            return stream.read().decode("utf-8", "replace")
    except OSError:
        return ""
