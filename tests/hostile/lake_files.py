"""The lake that is attacked: its environment, its one table, and what is landed for it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Dict

from lake_check.parsing.loader import load_domain
from lake_spec.model import DomainSpec, EnvironmentSpec
from tests.hostile.names import (
    ACCOUNT,
    DOMAIN,
    LANDING,
    REGION,
    STEPS,
    TABLE,
    WAREHOUSE,
    WORK,
)

ENVIRONMENT = EnvironmentSpec(
    name="hostile",
    region=REGION,
    landing=f"s3://{LANDING}/files",
    warehouse=f"s3://{WAREHOUSE}/tables",
    artifacts=f"s3://{WORK}/artifacts",
    runs=f"s3://{WORK}/runs",
    logs=f"s3://{WORK}/logs",
    erase_secret="/lake/hostile/erase",
    security_configuration="lake-hostile",
    runtime_role=f"arn:aws:iam::{ACCOUNT}:role/{STEPS}",
)
_DOMAIN = f"""
name: {DOMAIN}
description: Things that others attack
owner: test-team
"""
TABLE_SPEC = f"""
name: {TABLE}
description: Things that others attack
owner: test-team
source:
  kind: feed
  path: {DOMAIN}/{TABLE}
  load: "load/*"
  changes: "changes/*"
  format: {{type: csv}}
  operation: {{column: op}}
columns: {{id: int, name: string, place: string, at: timestamp}}
key: [id]
order_by: [at]
effective_at: at
profile: never
storage: {{buckets: 1, partition_by: [place], readable_as: [iceberg, delta]}}
"""
_PLACES = ("north", "south")


def domain(table: str = TABLE_SPEC) -> DomainSpec:
    """Return the domain with its one table."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / DOMAIN
        home.mkdir()
        (home / "_domain.yml").write_text(_DOMAIN)
        (home / f"{TABLE}.yml").write_text(table)
        return load_domain(DOMAIN, Path(folder))


def landed(round_: int) -> Dict[str, str]:
    """Return the text of a landing file by its key: the load, then changes."""
    folder = f"files/{DOMAIN}/{TABLE}"
    if round_ == 0:
        rows = [_row(n, "thing", 1) for n in range(20)]
        text = "\n".join(["id,name,place,at", *rows]) + "\n"
        return {f"{folder}/load/1.csv": text}
    day = round_ + 1
    rows = [f"U,{_row(n, f'changed {round_}', day)}" for n in range(round_, 20, 4)]
    deleted = f"D,{20 - round_},,,2026-01-{day:02}"
    text = "\n".join(["op,id,name,place,at", *rows, deleted]) + "\n"
    return {f"{folder}/changes/{round_}.csv": text}


def _row(number: int, name: str, day: int) -> str:
    return f"{number},{name} {number},{_PLACES[number % 2]},2026-01-{day:02}"
