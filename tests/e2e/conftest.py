"""One story that all end-to-end tests read: each fixture is a chapter of it.

By day: up -> other teams' things -> three runs that are refused -> a full load with a
broken file -> the reaper -> an incremental run whose Spark is killed -> the file replaced
and the run repeated -> the emulator killed -> up again -> down.

The nightly tests go on after the repeated run: maintenance -> the same input once more -> two
runs at once -> an erase; and after the reaper: two runs that are marked as failed -> a backfill of
another domain; and a domain with products has its full load and a run after it.

A chapter asks for the one before it, and takes down what only it can see; so a
test may ask for any chapter, alone or in any order.
"""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import signal
from typing import Any, Callable, Dict, List, Set, Tuple

import pytest

from tests.cases import clinic, museum
from tests.e2e import days_lake, processes
from tests.e2e.chapters import (
    Backfilled,
    Chapter,
    Down,
    Forgotten,
    Marked,
    Queued,
    Reaped,
    Refused,
    Repeated,
    Revived,
    Treated,
)
from tests.e2e.command_line import Running
from tests.e2e.lake import BUCKET, Lake, Run
from tests.e2e.museum_lake import LANDING, MARCH, MAY, PARTNER
from tests.e2e.others import Others
from tests.e2e.waiting import until
from tests.ending import ended_in_order  # noqa: F401

TABLES = ("moma.artists", "moma.artists_feed")
ONE_TABLE, COMPARE = ("--param", "tables=works"), ("--param", "verify=true")
WINDOW_BACKWARDS = ("--window", "2016-06-01", "2016-05-01")


@pytest.fixture(scope="session")
def lake(tmp_path_factory, ended_in_order):  # noqa: F811
    """A lake that is up; nothing of it is left running at the end."""
    made = Lake(tmp_path_factory.mktemp("lake"))
    try:
        made.up()
        yield made
    finally:
        made.command("down")


@pytest.fixture(scope="session")
def others(lake) -> Others:
    """Things of other teams, put there before the first run."""
    return Others(lake)


@pytest.fixture(scope="session")
def refused(lake, others) -> Refused:
    return Refused(
        dag=lake.command("run", "moma_ful_load", code=2),
        table=lake.command("run", "moma_full_load", "--param", "tables=artits", code=2),
        window=lake.command("run", "moma_full_load", *WINDOW_BACKWARDS, code=2),
        clusters=lake.clusters(),
    )


@pytest.fixture(scope="session")
def loaded(lake, refused) -> Chapter:
    """The full load; the file of `works` is cut off."""
    lake.land(museum.FIRST, f"{LANDING}/artists/")
    lake.land(museum.FIRST, f"{LANDING}/artists_feed/load/")
    lake.land(lake.files["truncated"], f"{PARTNER}/works/{MARCH}")
    return _chapter(lake, lake.run("moma_full_load", code=1))


@pytest.fixture(scope="session")
def reaped(lake, loaded) -> Reaped:
    """A cluster that is too old, and one of somebody else, when the reaper comes."""
    left, other = lake.make_cluster("local"), lake.make_cluster("prod")
    done = lake.command("run", "lake_reaper")
    states = {each["Id"]: each["Status"]["State"] for each in lake.clusters()}
    lake.aws("emr").terminate_job_flows(JobFlowIds=[other])
    return Reaped(done, states[left], states[other])


@pytest.fixture(scope="session")
def marked(lake, reaped) -> Marked:
    """A dry run that somebody marks as failed while its cluster works."""
    return _marked(lake, lambda: [c for c in lake.living_clusters() if lake.steps(c)])


@pytest.fixture(scope="session")
def unheard(lake, marked) -> Marked:
    """The same, marked while EMR has made the cluster and the run does not know yet."""
    lake.fault("late_reply", "RunJobFlow", seconds=60)
    return _marked(lake, lake.living_clusters)


def _marked(lake: Lake, look: Callable[[], List[Any]]) -> Marked:
    """A dry run that is marked as failed as soon as `look` finds its cluster."""
    running = lake.command.start("run", "moma_full_load", "--param", "dry_run=true")
    try:
        (cluster,) = until(look, "a cluster", seconds=300)
        ((dag_id, run_id),) = lake.airflow.active_runs()
        lake.airflow.fail(dag_id, run_id)
        until(lambda: not lake.living_clusters(), "the cluster's end", seconds=300)
    finally:
        running.stop()

    def ended():
        tasks = lake.airflow.tasks(dag_id, run_id)
        states = {each["task_id"]: each["state"] for each in tasks}
        return states if states["done"] in ("success", "failed", "skipped") else None

    tasks = until(ended, "the run's last task", seconds=300)
    run = until(lambda: _is_over(lake, dag_id, run_id), "the end", seconds=300)
    return Marked(cluster, tasks, run["state"])


def _is_over(lake: Lake, dag_id: str, run_id: str) -> Any:
    run = lake.airflow.run(dag_id, run_id)
    return run if run["state"] in ("success", "failed") else None


@pytest.fixture(scope="session")
def backfilled(lake, unheard) -> Backfilled:
    """A new domain with a schedule; then its snapshots of three days, years ago."""
    before = {each["Id"] for each in lake.clusters()}
    days_lake.write_spec(lake.tables)
    plan = lake.command("run", "days_incremental", "--param", "plan_only=true")
    scheduled = until(
        lambda: _scheduled(lake, "days_incremental"), "a run", seconds=300
    )
    made = [c for c in lake.clusters() if c["Id"] not in before]
    for file in days_lake.write_landing_files(lake.home.parent / "days"):
        lake.land(file, f"{days_lake.LANDING}/")
    first, *_, last = days_lake.DAYS
    runs = lake.runs_of(
        lake.command("backfill", "days_incremental", "--from", first, "--to", last)
    )
    asked = ("--columns", days_lake.COLUMNS, "--format", "csv", "--layer", "history")
    [versions] = lake.shown(("days.stock", *asked))
    return Backfilled(plan, made, scheduled, runs, versions.splitlines()[1:])


@pytest.fixture(scope="session")
def treated(lake, refused) -> Treated:
    """The clinic of the examples: a full load, then an export with later and late rows."""
    lake.up()
    shutil.copytree(clinic.TABLES / "clinic", lake.tables / "clinic")
    found = Treated([], [], [], [])
    for dag_id, day in (("full_load", "2024-01-01"), ("incremental", "2026-01-01")):
        exports = lake.home.parent / f"clinic-{day}"
        clinic.export(exports, 20, day)
        lake.command("put", str(exports), "s3://lake/landing/clinic/")
        found.runs.append(lake.run(f"clinic_{dag_id}"))
        found.shown.append(_products(lake))
        found.expected.append(clinic.expected(exports, day))
    found.clusters.extend(lake.clusters())
    return found


def _products(lake: Lake) -> Dict[str, Set[Tuple[str, ...]]]:
    all_rows = ("--format", "csv", "--limit", "0")
    asked = [
        (f"clinic.{name}", "--columns", ",".join(columns), *all_rows)
        for name, columns in clinic.COLUMNS.items()
    ]
    return {
        name: {tuple(row) for row in list(csv.reader(io.StringIO(text)))[1:]}
        for name, text in zip(clinic.COLUMNS, lake.shown(*asked))
    }


def _scheduled(lake: Lake, dag_id: str) -> Any:
    """The run of a schedule, once it is over."""
    runs = [
        each for each in lake.airflow.runs(dag_id) if each["run_type"] == "scheduled"
    ]
    return runs[0] if runs and runs[0]["state"] in ("success", "failed") else None


@pytest.fixture(scope="session")
def killed(lake, reaped) -> Run:
    """New input; the Spark of the run gets kill -9 when `artists` is half done."""
    lake.land(museum.SECOND, f"{LANDING}/artists/")
    lake.land(lake.files["feed"], f"{LANDING}/artists_feed/changes/")
    running = lake.command.start("run", "moma_incremental")

    try:
        half = "LAKE moma.artists incremental: change log commit"
        _spark(lake, running, saying=half).kill()
    except BaseException:
        running.stop()
        raise
    return lake.ended(running.end(code=1))


def _spark(lake: Lake, running: Running, saying: str = "") -> processes.Seen:
    """The Spark of an incremental run, once it has said something."""

    def seen() -> processes.Seen | None:
        assert not running.is_over, str(running.end())
        step = processes.spark_of_stage(lake.home, "incremental")
        return step if step and saying in step.output(lake.home) else None

    return until(seen, f"Spark, saying {saying!r}", seconds=600)


@pytest.fixture(scope="session")
def repaired(lake, killed) -> Chapter:
    """The killed run repeated; the broken file of `works` is replaced by the whole one,
    and a later snapshot is there.

    EMR's replies about the cluster and the first step get lost, and somebody clears
    the stage while its step works.
    """
    for file in (MARCH, MAY):
        lake.land(lake.files[file], f"{PARTNER}/works/")
    for call in ("RunJobFlow", "AddJobFlowSteps"):
        lake.fault("lost_reply", call)
    running = lake.command.start("run", "moma_incremental")
    try:
        _spark(lake, running)
        ((dag_id, run_id),) = lake.airflow.active_runs()
        lake.airflow.clear_task(dag_id, run_id, "incremental")
    except BaseException:
        running.stop()
        raise
    return _chapter(lake, lake.ended(running.end()))


@pytest.fixture(scope="session")
def valid_in_april(lake, repaired) -> Dict[str, str]:
    """What `show --valid-at` counts, by table."""
    asked = [(table, "--valid-at", "2016-04-01", "--count") for table in TABLES]
    return dict(zip(TABLES, lake.shown(*asked)))


@pytest.fixture(scope="session")
def catalogue(lake, repaired) -> Dict[str, Dict[str, str]]:
    return lake.glue_tables()


@pytest.fixture(scope="session")
def revived(lake, catalogue, valid_in_april) -> Revived:
    """The emulator is killed; what `show` counts then, and what is up after `up`."""
    server = processes.emulator(lake.home)
    os.kill(server.pid, signal.SIGKILL)
    until(lambda: not server.is_running(), "the end of the emulator", seconds=30)
    [count] = lake.shown(("moma.artists", "--count"))
    lake.up()
    return Revived(count, lake.clusters())


@pytest.fixture(scope="session")
def maintained(lake, repaired) -> Chapter:
    lake.up()
    return _chapter(lake, lake.run("moma_maintenance"))


@pytest.fixture(scope="session")
def repeated(lake, maintained) -> Repeated:
    """The run again, in processes that it starts itself and leaves up."""
    before = lake.objects("warehouse/")
    lake.command("down")
    done = lake.command("run", "moma_incremental", "--keep-up")
    lake.up()
    return Repeated(lake.ended(done), before, lake.objects("warehouse/"))


@pytest.fixture(scope="session")
def queued(lake, repeated) -> Queued:
    """The full load of one table, and meanwhile somebody asks for a comparison of its
    tables with their log."""
    lake.up()
    load = lake.command.start("run", "moma_full_load", *ONE_TABLE)
    compare = None
    try:
        until(lake.holder, "a lease", seconds=300)
        compare = lake.command.start("run", "moma_rebuild", *ONE_TABLE, *COMPARE)
        status = lake.command("status")
        return Queued(lake.ended(load.end()), status, lake.ended(compare.end()))
    finally:
        load.stop()
        if compare:
            compare.stop()


@pytest.fixture(scope="session")
def forgotten(lake, queued) -> Forgotten:
    """An artist of the feed is erased; then the pages are built."""
    lake.up()
    request = lake.home.parent / "artist.json"
    keys = {"artists_feed": [{"constituent_id": "1"}]}
    request.write_text(json.dumps({"keys": keys}), encoding="utf-8")
    lake.land(request, f"s3://{BUCKET}/runs/erase/moma/artist.json")
    lake.run("moma_erase", "--param", "request=artist")
    lake.command("site", "--open", "no")
    pages = sorted((lake.home / "site").rglob("*.html"))
    return Forgotten(lake.receipt("moma", "artist"), pages)


@pytest.fixture(scope="session")
def down(lake, revived) -> Down:
    before = processes.of_home(lake.home)
    lake.command("down")
    return Down(
        before=before,
        after=processes.of_home(lake.home),
        versions=lake.shown(("moma.artists", "--layer", "history", "--count"))[0],
        after_show=processes.of_home(lake.home),
    )


def _chapter(lake: Lake, run: Run) -> Chapter:
    return Chapter(run, {table: lake.figures(table) for table in TABLES})
