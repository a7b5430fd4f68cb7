"""Writes the ledger: what a cluster's minutes were, and which tables they were for."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from airflow.providers.amazon.aws.hooks.emr import EmrHook
from airflow.providers.amazon.aws.hooks.s3 import S3Hook

from lake_airflow.emr.clusters import created, is_of, run_of, tags_of
from lake_airflow.emr.job_flow import ENDED, NAME_PREFIX
from lake_airflow.emr.steps import stages_asked
from lake_airflow.runs.files import RunFiles
from lake_spec.contract.state_format import FORMAT
from lake_spec.costs.ledger import (
    NO_TABLE,
    Interval,
    cluster_of,
    covered_minutes,
    day_folder,
    dealt,
    entry_file,
)
from lake_spec.costs.prices import LEAST_BILLED, ON_DEMAND, SPOT
from lake_spec.model import EnvironmentSpec

LONGEST_LIFE = timedelta(days=8)
"""Longest lifetime of a cluster: `max_hours` is at most 168."""

LOOKS_BACK = timedelta(days=1)
"""Age after which ended clusters are no longer checked for an entry."""

log = logging.getLogger(__name__)

_MARKETS = {"ON_DEMAND": ON_DEMAND, "SPOT": SPOT}
_DIGITS = 3  # of minutes
_SHOWN = 5  # tables in a line of a log


class Ledger:
    """The ledger of one environment, `<runs>/costs/<day>/<domain>.<cluster>.json`."""

    def __init__(
        self, environment: EnvironmentSpec, *, aws_conn_id: str | None
    ) -> None:
        self.environment = environment
        self.aws_conn_id = aws_conn_id
        where = {"aws_conn_id": aws_conn_id, "region_name": environment.region}
        self._emr = EmrHook(**where).conn
        self._s3 = S3Hook(**where)

    def note(self, cluster_id: str) -> dict[str, Any] | None:
        """Write the entry of a cluster that is gone; None for a foreign one."""
        cluster = self._emr.describe_cluster(ClusterId=cluster_id)["Cluster"]
        tags = tags_of(cluster)
        if not is_of(cluster, self.environment):
            return None
        run = run_of(cluster)
        entry = entry_of(
            cluster,
            run=run,
            domain=tags["lake:domain"],
            steps=self._listed("list_steps", "Steps", cluster_id),
            instances=self._listed("list_instances", "Instances", cluster_id),
            seconds=self._seconds(run),
        )
        file = entry_file(entry["domain"], cluster_id)
        bucket, key = self._s3.parse_s3_url(f"{self._folder(cluster)}{file}")
        body = json.dumps(entry, indent=1).encode()
        self._s3.conn.put_object(Bucket=bucket, Key=key, Body=body)
        return entry

    def note_missing(self) -> list[str]:
        """Write entries of clusters that ended without the task of their run; return
        their ids."""
        now = datetime.now(timezone.utc)
        pages = self._emr.get_paginator("list_clusters").paginate(
            ClusterStates=list(ENDED), CreatedAfter=now - LONGEST_LIFE
        )
        ended = [
            cluster
            for page in pages
            for cluster in page["Clusters"]
            if cluster["Name"].startswith(NAME_PREFIX)
            and now - _ended(cluster) < LOOKS_BACK
        ]
        folders = {self._folder(cluster) for cluster in ended}
        known = {cluster_of(key) for folder in folders for key in self._keys(folder)}
        lacking = [each["Id"] for each in ended if each["Id"] not in known]
        return [id for id in lacking if self._noted(id)]

    def _noted(self, cluster_id: str) -> bool:
        """Write one entry; a failure does not stop the others."""
        try:
            return self.note(cluster_id) is not None
        except Exception:
            log.exception("%s could not be added to the ledger.", cluster_id)
            return False

    def _folder(self, cluster: Mapping[str, Any]) -> str:
        day = created(cluster).astimezone(timezone.utc).date()
        return day_folder(self.environment.runs, day)

    def _keys(self, folder: str) -> Iterator[str]:
        bucket, prefix = self._s3.parse_s3_url(folder)
        pages = self._s3.conn.get_paginator("list_objects_v2")
        for page in pages.paginate(Bucket=bucket, Prefix=prefix):
            yield from (each["Key"] for each in page.get("Contents", ()))

    def _listed(self, call: str, what: str, cluster_id: str) -> list[dict[str, Any]]:
        pages = self._emr.get_paginator(call).paginate(ClusterId=cluster_id)
        return [each for page in pages for each in page[what]]

    def _seconds(self, run: str) -> dict[str, dict[str, float]]:
        """Return the seconds in the run's reports, by stage and table."""
        files = RunFiles(self.environment, run, aws_conn_id=self.aws_conn_id)
        found: dict[str, dict[str, float]] = {}
        for name in sorted(files.names()):
            stage, slash, file = name.partition("/")
            if slash and file != "streamer.json":
                seconds = _seconds_of(files, name)
                found.setdefault(stage, {})[file.rsplit(".", 1)[0]] = seconds
        return found


def entry_of(
    cluster: Mapping[str, Any],
    *,
    run: str,
    domain: str,
    steps: Sequence[Mapping[str, Any]],
    instances: Sequence[Mapping[str, Any]],
    seconds: Mapping[str, Mapping[str, float]],
) -> dict[str, Any]:
    """Return the entry of a described cluster; `seconds` are of reports, by stage
    and table."""
    began, end = created(cluster), _ended(cluster)
    ready = min(cluster["Status"]["Timeline"].get("ReadyDateTime") or end, end)
    total, start = _minutes(began, end), _minutes(began, ready)
    ran = [(step, *_interval(step, end)) for step in steps if _ran(step)]
    busy = min(covered_minutes(each[1:] for each in ran), total - start)
    return {
        FORMAT: 1,
        "cluster": cluster["Id"],
        "run": run,
        "domain": domain,
        "state": cluster["Status"]["State"],
        "created": began.isoformat(),
        "ready": ready.isoformat(),
        "ended": end.isoformat(),
        "minutes": {
            "start": round(start, _DIGITS),
            "busy": round(busy, _DIGITS),
            "idle": round(total - start - busy, _DIGITS),
            "total": round(total, _DIGITS),
        },
        "instances": len(instances),
        "instance_minutes": round(_instance_minutes(instances, began, end), _DIGITS),
        "instance_minutes_by_type": _by_type(instances, began, end),
        "normalized_instance_hours": cluster.get("NormalizedInstanceHours"),
        "tables": _by_table(ran, busy, seconds),
    }


def entry_line(entry: Mapping[str, Any]) -> str:
    """Format the entry as a line of a log."""
    minutes = entry["minutes"]
    tables = {name: sum(of.values()) for name, of in entry["tables"].items()}
    dearest = sorted(tables.items(), key=lambda each: -each[1])[:_SHOWN]
    return (
        f"Cluster {entry['cluster']}: {minutes['total']:.1f} minutes,"
        f" {minutes['start']:.1f} to start, {minutes['busy']:.1f} busy,"
        f" {minutes['idle']:.1f} idle."
        + "".join(f" {name} {spent:.1f}." for name, spent in dearest)
    )


def _by_table(
    ran: Sequence[tuple[Mapping[str, Any], datetime, datetime]],
    busy: float,
    seconds: Mapping[str, Mapping[str, float]],
) -> dict[str, dict[str, float]]:
    """Return busy minutes by table and stage. Steps that ran at once share their
    time; the stages and tables of a step share it by the seconds of their reports."""
    apart = sum(_minutes(start, end) for _, start, end in ran)
    found: dict[str, dict[str, float]] = {}
    for step, start, end in ran:
        part = busy * _minutes(start, end) / apart if apart else 0.0
        for (stage, table), minutes in dealt(part, _weights(step, seconds)).items():
            stages = found.setdefault(table, {})
            stages[stage] = round(stages.get(stage, 0.0) + minutes, _DIGITS)
    return found


def _weights(
    step: Mapping[str, Any], seconds: Mapping[str, Mapping[str, float]]
) -> dict[tuple[str, str], float]:
    """Return by stage and table how the time of a step is shared."""
    name = step["Name"]
    task, *of_table = name.split(" ")[:-1] or [name]  # one may be added manually
    if of_table:
        return {(task, table): 1.0 for table in of_table}
    stages = stages_asked(step.get("Config", {}).get("Args", ())) or (task,)
    weights = {
        (stage, table): spent
        for stage in stages
        for table, spent in seconds.get(stage, {}).items()
    }
    return weights if any(weights.values()) else {(stages[0], NO_TABLE): 1.0}


def _instance_minutes(
    instances: Sequence[Mapping[str, Any]], began: datetime, end: datetime
) -> float:
    """Return the minutes of all instances, also of those that ran only partly."""
    return sum(_lived(each, began, end) for each in instances)


def _by_type(
    instances: Sequence[Mapping[str, Any]], began: datetime, end: datetime
) -> dict[str, dict[str, float]] | None:
    """Return billed minutes of the instances by type and market; None if one lacks
    them.

    As `{"m7g.xlarge": {"on_demand": 63.6, "spot": 31.8}}`.
    """
    found: dict[str, dict[str, float]] = {}
    for each in instances:
        kind, market = each.get("InstanceType"), _MARKETS.get(each.get("Market"))
        if not kind or not market:
            return None
        billed = max(_lived(each, began, end), LEAST_BILLED)
        of = found.setdefault(kind, {})
        of[market] = of.get(market, 0.0) + billed
    return {
        kind: {market: round(minutes, _DIGITS) for market, minutes in of.items()}
        for kind, of in found.items()
    }


def _lived(instance: Mapping[str, Any], began: datetime, end: datetime) -> float:
    """Return the minutes of one instance; unknown times are its cluster's."""
    times = instance["Status"]["Timeline"]
    return _minutes(
        times.get("CreationDateTime") or began, times.get("EndDateTime") or end
    )


def _ran(step: Mapping[str, Any]) -> bool:
    return bool(step["Status"]["Timeline"].get("StartDateTime"))


def _interval(step: Mapping[str, Any], end: datetime) -> Interval:
    """Return when a step ran; without an end of its own it ends with its cluster."""
    times = step["Status"]["Timeline"]
    return times["StartDateTime"], min(times.get("EndDateTime") or end, end)


def _ended(cluster: Mapping[str, Any]) -> datetime:
    now = datetime.now(timezone.utc)
    return cluster["Status"]["Timeline"].get("EndDateTime") or now


def _minutes(start: datetime, end: datetime) -> float:
    return max((end - start).total_seconds() / 60, 0.0)


def _seconds_of(files: RunFiles, name: str) -> float:
    """Return the seconds of a report; 0 for an unreadable one, which the summary
    reports."""
    try:
        return float(files.read(name)["seconds"])
    except (ValueError, TypeError, KeyError):
        return 0.0
