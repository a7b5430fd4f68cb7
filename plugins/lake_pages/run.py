"""The page of one run, from its summary: tables, steps, cluster, and where its logs are."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple
from urllib.parse import urlencode

from lake_pages.contract.run_key import LONGEST_AIRFLOW, any_run_key, distinct_part
from lake_pages.contract.site_pages import FOLDER, run_page
from lake_pages.storage import Store

_CLUSTER = re.compile(r"/(j-[A-Z0-9]+)/steps/")


@dataclass(frozen=True)
class StepLine:
    """One step of the run's cluster."""

    stage: str
    name: str
    state: str
    reason: str
    log: str
    """URL of its log in the S3 console, empty for none."""


@dataclass(frozen=True)
class StageLine:
    """One stage on one table."""

    table: str
    stage: str
    report: Mapping[str, Any]


@dataclass(frozen=True)
class RunPage:
    """All that is known of a run."""

    dag_id: str
    run_id: str
    summary: Mapping[str, Any]
    stages: Tuple[StageLine, ...]
    steps: Tuple[StepLine, ...]
    cluster: str
    cluster_url: str
    minutes: Tuple[Tuple[str, float], ...]
    site_page: Optional[str]
    """Path of its page of the site, if it has one."""


def run_name(dag_id: str, run_id: str) -> str:
    """Return the folder of a run below the root of the runs."""
    airflow = os.environ.get("LAKE_AIRFLOW", os.environ.get("AIRFLOW_ENV_NAME", ""))
    return f"{dag_id}/{any_run_key(run_id, distinct_part(airflow, LONGEST_AIRFLOW))}"


def run_of(store: Store, dag_id: str, run_id: str) -> Optional[RunPage]:
    """Return the page of a run; None for one that left no summary."""
    name = run_name(dag_id, run_id)
    summary = store.data(f"{name}/summary.json")
    domain = str(summary.get("domain", ""))
    if not domain:
        return None
    steps = tuple(_steps(summary))
    cluster = _cluster(summary)
    page = run_page(domain, name)
    return RunPage(
        dag_id=dag_id,
        run_id=run_id,
        summary=summary,
        stages=tuple(_stages(summary)),
        steps=steps,
        cluster=cluster,
        cluster_url=_cluster_url(cluster),
        minutes=tuple(_minutes(store, domain, dag_id, name)),
        site_page=page if store.content(f"{FOLDER}/{page}") else None,
    )


def _stages(summary: Mapping[str, Any]) -> Iterator[StageLine]:
    for table, stages in summary.get("tables", {}).items():
        for stage, report in stages.items():
            yield StageLine(table, stage, report)


def _ends(summary: Mapping[str, Any]) -> List[Tuple[str, Dict[str, Any]]]:
    stages = summary.get("stages", {})
    return [(name, step) for name, of in stages.items() for step in of.get("steps", ())]


def _steps(summary: Mapping[str, Any]) -> Iterator[StepLine]:
    for stage, step in _ends(summary):
        yield StepLine(
            stage=stage,
            name=str(step.get("name", "")),
            state=str(step.get("state", "")),
            reason=str(step.get("reason") or ""),
            log=_console(str(step.get("log") or "")),
        )


def _cluster(summary: Mapping[str, Any]) -> str:
    """Return the id of the cluster, which the addresses of the steps' logs have."""
    for _, step in _ends(summary):
        if found := _CLUSTER.search(str(step.get("log") or "")):
            return found.group(1)
    return ""


def _minutes(
    store: Store, domain: str, dag_id: str, name: str
) -> Iterator[Tuple[str, float]]:
    """List the cluster minutes of the run's tables, if it is the DAG's newest one."""
    for table, state in store.data(f"tables/{domain}.json").get("tables", {}).items():
        run = state.get("runs", {}).get(dag_id, {})
        if run.get("run") == name and run.get("minutes") is not None:
            yield table, run["minutes"]


def _region() -> str:
    return os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION", "")


def _cluster_url(cluster: str) -> str:
    region = _region()
    if not cluster or not region:
        return ""
    return (
        f"https://{region}.console.aws.amazon.com/emr/home?region={region}"
        f"#/clusterDetails/{cluster}"
    )


def _console(uri: str) -> str:
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    region = _region()
    if not uri.startswith("s3://") or not region:
        return ""
    query = urlencode({"region": region, "prefix": key})
    return f"https://{region}.console.aws.amazon.com/s3/object/{bucket}?{query}"
