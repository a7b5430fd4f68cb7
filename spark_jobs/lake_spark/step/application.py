"""One step: many tables in one Spark application, in parallel.

A table that fails does not stop the others; the step fails at the end and
names it.
"""

from __future__ import annotations

import gc
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Callable, Dict, List, Optional, Sequence

from pyspark.sql import SparkSession

from lake_spec import VERSION
from lake_spec.facts.table_order import TABLES_AT_ONCE, longest_first, makespan
from lake_spec.layout.release_files import spec_file
from lake_spec.layout.stage_tables import tables_of, with_products
from lake_spec.model import ClusterSpec, DomainSpec, EnvironmentSpec, TableSpec
from lake_spec.model.continuous import CONTINUOUS
from lake_spec.model.json_codec import from_data
from lake_spec.state import erase_request
from lake_spec.state.report import FAILED_TABLE, Report, State
from lake_spark.erasure import request
from lake_spark.stages.dimension import dimension, rebuild_dimension
from lake_spark.stages.erase import erase
from lake_spark.stages.ingest import full_load, incremental
from lake_spark.stages.maintenance import maintenance
from lake_spark.stages.prepare_streamer import prepare_full_load, prepare_incremental
from lake_spark.stages.product import product, rebuild_product
from lake_spark.stages.rebuild import rebuild
from lake_spark.stages.reprocess import reprocess
from lake_spark.stages.scd2 import scd2
from lake_spark.stages.verify import verify
from lake_spark.step import continuous, durations
from lake_spark.step.arguments import Arguments, parse
from lake_spark.step.probe import PROBE, probe
from lake_spark.step.report_file import put_report
from lake_spark.step.run_stage import Stage, run_stage
from lake_spark.step.table_order import waves
from lake_spark.storage.lease_check import CheckedStore, LeaseCheck
from lake_spark.storage.object_store import ObjectStore, open_store
from lake_spark.storage.session import open_session, setting
from lake_spark.tables import foreign_files
from lake_spark.tables.table_run import TableRun

STAGES: Dict[str, Callable[..., Optional[State]]] = {
    "prepare_full_load": prepare_full_load,
    "prepare_incremental": prepare_incremental,
    "full_load": full_load,
    "incremental": incremental,
    "scd2": scd2,
    "dimension": dimension,
    "maintenance": maintenance,
    "rebuild": rebuild,
    "rebuild_dimension": rebuild_dimension,
    "product": product,
    "rebuild_product": rebuild_product,
    "reprocess": reprocess,
    "erase": erase,
}
"""What a step can be asked to do with each table, next to continuous rounds of some."""


@dataclass(frozen=True)
class Release:
    """What a step reads of its release: the domain, and where things are."""

    id: str
    environment: EnvironmentSpec
    domain: DomainSpec


def main(argv: Sequence[str]) -> int:
    """Run the stages of a step; return 0 when every table is done, 1 when one failed.

    A stage follows also where tables of the one before failed, as a step of its own would.
    """
    asked = parse(argv, [*STAGES, CONTINUOUS, PROBE])
    release = load_release(asked)
    store = open_store(release.environment.runs, asked.region)
    runs_root = release.environment.runs
    check = LeaseCheck(store, runs_root, asked.domain, asked.run, asked.lease_token)
    check()
    spark = open_session(f"{asked.domain} {asked.stage} {asked.run}")
    gc.freeze()  # collecting garbage after each stage would take long with all modules
    if asked.stage == PROBE:
        probe(spark, store, release.environment, asked.run, asked.region)
        return 0
    at_once = int(setting(spark, TABLES_AT_ONCE, str(ClusterSpec.tables_at_once)))
    if asked.stage == CONTINUOUS:
        tables = _planned(store, release, asked, at_once)
        table_run = partial(_table_run, spark, check, release, asked)
        reports = _continuous(asked, release, tables, table_run, at_once)
        durations.note(store, runs_root, reports)
        return _exit_code(reports)
    failed = 0
    for each in asked.in_turn():
        failed |= _run_stage(spark, store, check, release, each, at_once)
        spark.catalog.clearCache()  # also what a failed table left
    return failed


def _run_stage(
    spark: SparkSession,
    store: ObjectStore,
    check: LeaseCheck,
    release: Release,
    asked: Arguments,
    at_once: int,
) -> int:
    """Run one stage on its tables; return 0 when every table is done."""
    runs_root = release.environment.runs
    tables = _planned(store, release, asked, at_once)
    runs = [_table_run(spark, check, release, asked, table) for table in tables]
    with ThreadPoolExecutor(max_workers=at_once) as pool:
        stage = _stage(release, asked)
        moves = asked.options.move_foreign_files
        foreign = foreign_files.move if moves else foreign_files.refuse
        for wave in waves(runs):
            list(pool.map(lambda run: run_table(run, stage, foreign), wave))
    if asked.stage.startswith("prepare_"):
        check()  # the last time before HoodieStreamer, whose commits nobody checks
        _put_streamer_steps(store, release, asked, runs)
    reports = [run.report for run in runs]
    if asked.options.verify is None:  # which is other work than the stage's
        durations.note(store, runs_root, reports)
    failed = _exit_code(reports)
    if asked.stage == "erase" and not failed and not asked.options.dry_run:
        check()
        end_request(store, release, asked, runs)
    return failed


def _stage(release: Release, asked: Arguments) -> Stage:
    """Return the stage with what it alone is asked."""
    if asked.stage == "reprocess":
        return partial(reprocess, selection=asked.selection)
    if asked.stage == "erase":
        return partial(erase, request_uri=_request_uri(release, asked))
    if asked.options.verify is not None:
        return partial(verify, share=asked.options.verify)
    if asked.options.partitions:
        return partial(product, partitions=asked.options.partitions)
    return STAGES[asked.stage]


def _continuous(
    asked: Arguments,
    release: Release,
    tables: Sequence[TableSpec],
    table_run: Callable[[TableSpec], TableRun],
    at_once: int,
) -> List[Report]:
    """Play rounds of the tables until something ends them.

    Return a report of each table.
    """
    pace = release.domain.continuous
    if pace is None:
        raise SystemExit(
            f"{asked.domain}: the release has no `continuous` for it. "
            "Deploy the domain's spec."
        )
    batches = continuous.MicroBatches(tables, table_run, at_once=at_once)
    return batches.play(pace)


def load_release(asked: Arguments) -> Release:
    """Load the domain of the release that the step refers to."""
    name = spec_file(asked.domain)
    uri = f"{asked.release}/{name}"
    content = open_store(uri, asked.region).read(uri)
    found, expected = sha256(content).hexdigest(), asked.sha256.get(name)
    if expected not in (None, found):
        raise SystemExit(
            f"{uri} is not that of the release: its SHA-256 is {found}, expected "
            f"{expected}. Somebody replaced it: find out who, delete the object, and "
            "deploy the commit of the release, which puts it again."
        )
    data = json.loads(content)
    return Release(
        data["release"],
        from_data(EnvironmentSpec, data["environment"]),
        from_data(DomainSpec, data["domain"]),
    )


def chosen_tables(domain: DomainSpec, asked: Arguments) -> List[TableSpec]:
    """Return the tables asked for, all if none was named; refuse unknown names."""
    known = {table.name: table for table in domain.tables}
    unknown = [name for name in asked.options.tables if name not in known]
    if unknown:
        raise SystemExit(
            f"{domain.name} has no table {', '.join(unknown)}; it has "
            f"{', '.join(sorted(known))}. Correct --tables."
        )
    names: Sequence[str] = asked.options.tables
    if asked.stage == "erase":
        names = with_products(names, domain.tables)
    chosen = [known[name] for name in names] or list(domain.tables)
    return tables_of(asked.stage, chosen)


def _planned(
    store: ObjectStore, release: Release, asked: Arguments, at_once: int
) -> List[TableSpec]:
    """Return the tables in the order in which the step takes them, and print it."""
    tables = {table.name: table for table in chosen_tables(release.domain, asked)}
    found = durations.read(store, release.environment.runs, asked.domain)
    expected = found.get(asked.stage, {})
    order = longest_first(list(tables), expected)
    known = [expected[name] for name in order if name in expected]
    words = f"up to {at_once} tables at once, in this order: {', '.join(order)}."
    if known:
        before = f"{makespan(known, at_once):.0f} s for {len(known)} of {len(order)}"
        words += f" Expected by earlier steps: {before}."
    print(f"LAKE {asked.domain} {asked.stage}: {words}", flush=True)
    return [tables[name] for name in order]


def _table_run(
    spark: SparkSession,
    check: LeaseCheck,
    release: Release,
    asked: Arguments,
    table: TableSpec,
) -> TableRun:
    report = Report(
        run=asked.run,
        release=release.id,
        domain=table.domain,
        table=table.name,
        stage=asked.stage,
        engine=table.engine.value,
        version=VERSION,
    )
    return TableRun(
        spark,
        CheckedStore(check.store, check),
        table,
        release.environment,
        report,
        asked.window,
        asked.options.dry_run,
        asked.accepted,
        domain_tables=release.domain.tables,
        check_lease=check,
    )


def _request_uri(release: Release, asked: Arguments) -> str:
    runs = release.environment.runs
    assert asked.options.request is not None, "an erase has a request"
    return erase_request.uri_of(runs, asked.domain, asked.options.request)


def run_table(
    run: TableRun,
    stage: Stage,
    foreign: Callable[[TableRun], None] = foreign_files.refuse,
) -> None:
    """Run the stage on one table and put its report; never raises."""
    run_stage(run, stage, foreign)
    if run.report.error is None:
        run.report.fail_for_set_aside()
    put_report(run, run.report)
    run.say(f"{run.report.state} in {run.report.seconds} s")


def _put_streamer_steps(
    store: ObjectStore, release: Release, asked: Arguments, runs: Sequence[TableRun]
) -> None:
    steps = {run.spec.name: run.streamer_argv for run in runs if run.streamer_argv}
    uri = f"{release.environment.runs}/{asked.run}/{asked.stage}/streamer.json"
    store.write(uri, json.dumps(steps, indent=1).encode())


def end_request(
    store: ObjectStore, release: Release, asked: Arguments, runs: Sequence[TableRun]
) -> None:
    """Put a receipt in the place of a request, once all of its tables are done."""
    uri = _request_uri(release, asked)
    found = request.read(store, uri, release.domain.tables)
    left = sorted(set(found.keys) - {run.spec.name for run in runs})
    if left:
        print(f"LAKE {asked.domain} erase: the request waits for {', '.join(left)}")
    else:
        if not found.is_done:
            request.put_receipt(store, found, asked.run)
        store.delete_old_versions(uri)  # the keys, which a killed run may have left


def _exit_code(reports: Sequence[Report]) -> int:
    failed = [report for report in reports if report.state == State.FAILED.value]
    for report in failed:
        error = report.error or {}
        print(
            f"{FAILED_TABLE}{report.domain}.{report.table} {report.stage}: "
            f"{error.get('type', 'Error')}: {error.get('message', '')}",
            file=sys.stderr,
            flush=True,
        )
    return 1 if failed else 0
