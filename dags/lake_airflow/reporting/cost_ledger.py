"""Writes the ledger: what a cluster's minutes were, and which tables they were for."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from functools import cached_property
from typing import Any

from airflow.providers.amazon.aws.hooks.emr import EmrHook
from airflow.providers.amazon.aws.hooks.s3 import S3Hook

from lake_airflow.emr.clusters import created, is_of, run_of, tags_of
from lake_airflow.emr.job_flow import ALIVE, ENDED, ENDING, NAME_PREFIX
from lake_airflow.emr.steps import stages_asked
from lake_airflow.runs.cluster_slots import GRACE
from lake_airflow.runs.files import RunFiles
from lake_airflow.runs.s3_object import S3Object
from lake_check.costs.ledger import (
    NO_TABLE,
    Interval,
    cluster_of,
    covered_minutes,
    day_folder,
    distribute,
    entry_file,
)
from lake_check.costs.prices import LEAST_BILLED, ON_DEMAND, SPOT
from lake_spec.model import EnvironmentSpec
from lake_spec.state.state_format import (
    FORMAT,
    from_fields,
    parse_state,
    to_fields,
)

LONGEST_LIFE = timedelta(days=8)
"""Longest lifetime of a cluster: `max_hours` is at most 168."""

LOOKS_BACK = timedelta(days=1)
"""So long after its end at most a cluster gets an entry where nothing was seen before, and
after its longest life where its entry could not be written."""

MOST_NOTED = 100
"""Entries that one call writes at most; it leaves the others to the next one."""

log = logging.getLogger(__name__)

_MARKETS = {"ON_DEMAND": ON_DEMAND, "SPOT": SPOT}
_DIGITS = 3  # of minutes
_SHOWN = 5  # tables in a line of a log


@dataclass
class _Seen:
    """How far clusters were seen to, in `<runs>/ledger_seen.json`.

    Those made before `since` have their entries or need none, but for the `open` ones: ids,
    and when they were made. The one whose turn is last stands last.
    """

    since: str = ""
    open: dict[str, str] = field(default_factory=dict)
    unknown: Mapping[str, Any] = field(default_factory=dict, compare=False)


class Ledger:
    """The ledger of one environment, `<runs>/costs/<day>/<domain>.<cluster>.json`."""

    def __init__(
        self, environment: EnvironmentSpec, *, aws_conn_id: str | None
    ) -> None:
        self.environment = environment
        self.aws_conn_id = aws_conn_id
        where: dict[str, Any] = {
            "aws_conn_id": aws_conn_id,
            "region_name": environment.region,
        }
        self._emr = EmrHook(**where).conn
        self._s3 = S3Hook(**where)

    def note(self, cluster_id: str) -> dict[str, Any] | None:
        """Write the entry of a cluster that is gone; None for a foreign one."""
        cluster = self._emr.describe_cluster(ClusterId=cluster_id)["Cluster"]
        tags = tags_of(cluster)
        if not is_of(cluster, self.environment):
            return None
        if _lives(cluster):
            raise ValueError(f"{cluster_id} has not ended yet.")
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
        bucket, key = self._s3.parse_s3_url(f"{self._folder(created(cluster))}{file}")
        body = json.dumps(entry, indent=1).encode()
        self._s3.conn.put_object(Bucket=bucket, Key=key, Body=body)
        return entry

    def note_missing(self) -> list[str]:
        """Write entries of clusters that ended without the task of their run; return
        their ids.

        What an earlier call saw to the end it does not list again.
        """
        now = datetime.now(timezone.utc)
        seen = self._seen(now)
        made, living = self._made(seen, now)
        lacking = self._lacking({id: at for id, at in made.items() if id not in living})
        noted, failed = [], []
        for id in lacking[:MOST_NOTED]:
            try:
                if self.note(id):
                    noted.append(id)
            except Exception:  # it does not stop the others, which come first next time
                log.exception("%s could not be added to the ledger.", id)
                failed.append(id)
        still_open = [*living, *lacking[MOST_NOTED:], *failed]
        seen.open = {
            id: at.isoformat()
            for id in still_open
            if now - (at := made[id]) < LONGEST_LIFE + LOOKS_BACK
        }
        seen.since = (now - GRACE).isoformat()
        self._seen_object.replace(to_fields(seen))
        return noted

    @cached_property
    def _seen_object(self) -> S3Object:
        address = f"{self.environment.runs.rstrip('/')}/ledger_seen.json"
        region = self.environment.region
        return S3Object(address, region=region, aws_conn_id=self.aws_conn_id)

    def _seen(self, now: datetime) -> _Seen:
        """Return how far clusters were seen to; nothing where that cannot be read."""
        content, _ = self._seen_object.read()
        if content is None:
            return _Seen()
        try:
            where = self._seen_object.address
            seen = from_fields(
                _Seen, parse_state(content, what="what was seen", where=where)
            )
            for at in (seen.since, *seen.open.values()):
                now - datetime.fromisoformat(at)
            return seen
        except (ValueError, TypeError, AttributeError) as error:
            log.warning("All clusters of the last days are listed: %s", error)
            return _Seen()

    def _made(
        self, seen: _Seen, now: datetime
    ) -> tuple[dict[str, datetime], Sequence[str]]:
        """Return when clusters were made that may lack an entry, by their ids, and which
        of them have not ended."""
        before = {id: datetime.fromisoformat(at) for id, at in seen.open.items()}
        earliest = now - LONGEST_LIFE
        since = datetime.fromisoformat(seen.since) if seen.since else earliest
        listed = {
            each["Id"]: each
            for each in self._clusters(CreatedAfter=max(since, earliest))
        }
        if not seen.since:
            listed = {
                id: each
                for id, each in listed.items()
                if now - _ended(each) < LOOKS_BACK
            }
        oldest_first = sorted(listed, key=lambda id: created(listed[id]))
        new = {id: created(listed[id]) for id in oldest_first if id not in before}
        made = {**new, **before}
        living = {id for id, each in listed.items() if _lives(each)}
        if before.keys() - listed.keys():
            there = self._clusters(ClusterStates=[*ALIVE, *ENDING])
            living |= {each["Id"] for each in there} & made.keys()
        return made, [id for id in made if id in living]

    def _clusters(self, **asked: Any) -> Iterator[dict[str, Any]]:
        """List clusters that may be ours by their names."""
        for page in self._emr.get_paginator("list_clusters").paginate(**asked):
            for each in page["Clusters"]:
                if each["Name"].startswith(NAME_PREFIX):
                    yield each

    def _lacking(self, ended: Mapping[str, datetime]) -> list[str]:
        """Return the ids of those without an entry, in the same order."""
        folders = {self._folder(at) for at in ended.values()}
        known = {cluster_of(key) for folder in folders for key in self._keys(folder)}
        return [id for id in ended if id not in known]

    def _folder(self, made: datetime) -> str:
        day = made.astimezone(timezone.utc).date()
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
        for (stage, table), minutes in distribute(
            part, _weights(step, seconds)
        ).items():
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
        kind, market = each.get("InstanceType"), _MARKETS.get(each.get("Market", ""))
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


def _lives(cluster: Mapping[str, Any]) -> bool:
    return cluster["Status"]["State"] not in ENDED


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
