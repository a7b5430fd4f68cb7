"""CPU seconds to read the DAG files of many tables, against a bare loop.

Promise: reading 1,000 table specs (50 domains of 20 tables) into DAGs takes at
most 1.5 times as long as a loop that creates the same DAGs and operators from
nothing. Specs are read from their compiled form, as a release ships them; the
figure from YAML is shown next to it. Left out: the start of Airflow, which both
share.

    .venv-airflow/bin/python benchmarks/dag_parsing.py [--domains 50] [--tables 20] [--json]
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import runpy
import statistics
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = 1.5
PAIRS = 5
DOMAIN = """\
name: {domain}
description: Generated domain {domain} for the benchmark
owner: benchmark-data
"""
TABLE = """\
name: {table}
description: Generated table {table} for the benchmark
owner: benchmark-data
source:
  kind: feed
  path: {domain}/{table}
  format: {{type: csv, null_text: ["", "NULL"]}}
columns:
{columns}
key: [id]
order_by: [changed_at]
"""
COLUMNS = ["id: bigint", "changed_at: timestamp"] + [
    f"column_{number}: {kind}"
    for number, kind in enumerate(["string", "int", "date", "double", "decimal(10,2)"])
]
KINDS = (
    ("full_load", ["full_load", "scd2"], True),
    ("incremental", ["incremental", "scd2"], True),
    ("reprocess", ["reprocess", "scd2"], True),
    ("maintenance", ["maintenance"], False),
    ("rebuild", ["rebuild"], False),
    ("erase", ["erase"], False),
)
"""The DAGs of a domain: name, stages, and whether its form asks for a window."""
DAG_FILE = """\
from lake_airflow import build_domain

globals().update(build_domain("{domain}"))
"""


def generate(folder: Path, *, domains: int, tables: int) -> list[Path]:
    """Specs and DAG files below the folder; returns the DAG files."""
    (folder / "tables").mkdir()
    (folder / "tables" / "_defaults.yml").write_text("engine: pyspark\n")
    return [_generate_domain(folder, f"domain_{n:03}", tables) for n in range(domains)]


def _generate_domain(folder: Path, domain: str, tables: int) -> Path:
    specs = folder / "tables" / domain
    specs.mkdir()
    (specs / "_domain.yml").write_text(DOMAIN.format(domain=domain))
    columns = "\n".join(f"  {column}" for column in COLUMNS)
    for table in (f"table_{number:03}" for number in range(tables)):
        text = TABLE.format(domain=domain, table=table, columns=columns)
        (specs / f"{table}.yml").write_text(text)
    dag_file = folder / f"{domain}.py"
    dag_file.write_text(DAG_FILE.format(domain=domain))
    return dag_file


def read_all(dag_files: list[Path]) -> int:
    """How many DAGs the files hold."""
    from airflow.sdk import DAG

    values = (runpy.run_path(str(path)).values() for path in dag_files)
    return sum(isinstance(value, DAG) for each in values for value in each)


def create_all(domains: int, tables: int) -> int:
    """How many DAGs the bare loop makes."""
    return len(made(domains, tables))


def made(domains: int, tables: int) -> list:
    """The bare loop: the same DAGs, forms and stock operators, without a spec."""
    names = [f"table_{number:03}" for number in range(tables)]
    return [
        _bare_dag(f"domain_{number:03}_{kind}", stages, names, windowed)
        for number in range(domains)
        for kind, stages, windowed in KINDS
    ]


def _bare_dag(dag_id: str, stages: list[str], names: list[str], window: bool):
    from airflow.providers.amazon.aws.operators.emr import (
        EmrAddStepsOperator,
        EmrCreateJobFlowOperator,
        EmrTerminateJobFlowOperator,
    )
    from airflow.providers.standard.operators.empty import EmptyOperator
    from airflow.sdk import DAG, chain

    settings = {"region_name": "eu-central-1", "deferrable": False}
    with DAG(
        dag_id,
        description="A DAG of the bare loop",
        schedule=None,
        start_date=datetime(2026, 1, 1, tzinfo=timezone.utc),
        max_active_runs=1,
        dagrun_timeout=timedelta(hours=18),
        default_args={"owner": "benchmark-data", "retries": 0},
        params=_bare_params(names, window),
        tags=["lake"],
    ) as dag:
        create = EmrCreateJobFlowOperator(task_id="create_cluster", **settings)
        steps = [
            EmrAddStepsOperator(task_id=name, job_flow_id="j-1", **settings)
            for name in stages
        ]
        summary = EmptyOperator(task_id="summary", trigger_rule="all_done")
        end = EmrTerminateJobFlowOperator(
            task_id="terminate_cluster", job_flow_id="j-1", **settings
        )
        chain(create.as_setup(), *steps, summary, end.as_teardown(setups=create))
        steps >> summary
        [summary, end] >> EmptyOperator(task_id="done")
    return dag


def _bare_params(names: list[str], window: bool) -> dict:
    from airflow.sdk import Param

    times = ("window_from", "window_to") if window else ()
    return {
        "tables": Param(names, type="array", examples=names),
        **{
            name: Param(None, type=["null", "string"], format="date-time")
            for name in times
        },
        "dry_run": Param(False, type="boolean"),
    }


def seconds(work: Callable[[], int], expected: int) -> float:
    gc.collect()
    start = time.process_time()
    count = work()
    taken = time.process_time() - start
    assert count == expected, f"{count} DAGs, not {expected}"
    return taken


def compile_specs(tables: Path) -> None:
    from lake_check.parsing.compiled_domains import FILE, compile_domain

    for folder in sorted(path for path in tables.iterdir() if path.is_dir()):
        (folder / FILE).write_text(compile_domain(tables, folder.name))


def bytes_kept(work: Callable[[], object]) -> int:
    """What Python keeps in memory of what was made."""
    gc.collect()
    tracemalloc.start()
    objects = work()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del objects
    return kept


def measure(folder: Path, *, domains: int, tables: int, as_json: bool) -> None:
    dag_files = generate(folder, domains=domains, tables=tables)
    expected = domains * len(KINDS)
    read_all(dag_files[:1])  # imports Airflow
    from_yaml = seconds(lambda: read_all(dag_files), expected)
    compile_specs(folder / "tables")
    seconds(lambda: create_all(1, tables), len(KINDS))
    ours, bare = [], []
    for _ in range(PAIRS):
        ours.append(seconds(lambda: read_all(dag_files), expected))
        bare.append(seconds(lambda: create_all(domains, tables), expected))
    if not as_json:
        report(ours, bare, from_yaml, specs=domains * tables)
        return
    found = {
        "yaml": from_yaml,
        "compiled": ours,
        "bare": bare,
        "compiled_bytes": bytes_kept(
            lambda: [runpy.run_path(str(f)) for f in dag_files]
        ),
        "bare_bytes": bytes_kept(lambda: made(domains, tables)),
    }
    print(json.dumps(found))


def report(
    ours: list[float], bare: list[float], from_yaml: float, *, specs: int
) -> None:
    import airflow

    ratios = sorted(a / b for a, b in zip(ours, bare))
    ratio = statistics.median(ratios)
    verdict = "holds" if ratio <= TARGET else "missed"
    print(f"{specs} table specs, Airflow {airflow.__version__}, Python", end=" ")
    print(f"{platform.python_version()}, {os.cpu_count()} cores")
    for name, values in (("compiled specs", ours), ("bare loop", bare)):
        low, high = min(values), max(values)
        print(
            f"{name:<15}{statistics.median(values):7.2f} CPU s  ({low:.2f} to {high:.2f})"
        )
    print(f"{'from YAML':<15}{from_yaml:7.2f} CPU s  (once)")
    print(f"ratio {ratio:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}),", end=" ")
    print(f"target {TARGET}: {verdict}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--domains", type=int, default=50)
    parser.add_argument("--tables", type=int, default=20, help="in each domain")
    parser.add_argument("--json", action="store_true", help="figures as one line")
    args = parser.parse_args()
    sys.path.insert(0, str(ROOT / "dags"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ.update(AIRFLOW_HOME=name, LAKE_TABLES=str(folder / "tables"))
        measure(folder, domains=args.domains, tables=args.tables, as_json=args.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
