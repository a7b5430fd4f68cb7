"""Metadata and files of other engines in the folders of tables that are not published.

Needs pyspark, of which no session is started.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Iterator

from lake_spark.errors import ForeignFiles, NotPublished
from lake_spark.publish import publication
from lake_spark.publish.delta import protocol
from lake_spec.layout.published_tables import HUDI_INSTANT
from lake_spark.storage.object_store import FolderStore
from lake_spark.tables import foreign_files
from lake_spec.model import ReadableAs

from tests.neighbour.scene import Beside, files_of
from tests.spark.publish.test_delta import STEP, actions, log_of

LAYERS = ("changes", "current", "history")
XTABLE = {"format-version": 2, "snapshots": [{"summary": {"xtable.source": "theirs"}}]}
DELTA = {"commitInfo": {"operation": "WRITE", "engineInfo": "theirs"}}


def _run(folder: Path) -> Any:
    """The run of a table in a folder, which is not readable as another format."""
    home = f"file://{folder}"
    storage = SimpleNamespace(formats=(), is_plain=False, type=None)
    spec = SimpleNamespace(
        name="artists",
        domain="moma",
        full_name="moma.artists",
        description="Artists",
        columns=(),
        storage=storage,
    )

    def table(layer: str) -> SimpleNamespace:
        return SimpleNamespace(path=f"{home}/{layer}", has_data=lambda: True)

    return SimpleNamespace(
        home=home,
        layers=LAYERS,
        spec=spec,
        spark=None,
        store=FolderStore(),
        environment=SimpleNamespace(runs=f"{home}/../runs", warehouse=home, region=""),
        report=SimpleNamespace(run="r", stage="maintenance", commits={"current": "1"}),
        earlier=SimpleNamespace(is_registered=False),
        say=lambda words: None,
        check_lease=lambda: None,
        table=table,
        hudi=table,
    )


def _put(file: Path, *lines: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(each) + "\n" for each in lines))


def beside_tables(beside: Beside) -> Iterator:
    """XTable's Iceberg metadata, a Delta log and a writer's files next to Hudi's."""
    folder = beside.folder / "artists"
    for layer in LAYERS:
        metadata, log = folder / layer / "metadata", folder / layer / "_delta_log"
        _put(metadata / "v1.metadata.json", XTABLE)
        _put(metadata / "snap-1.avro")
        _put(metadata / "version-hint.text", 1)
        _put(log / f"{0:020}.json", DELTA, {"protocol": {"minReaderVersion": 1}})
        _put(log / "_last_checkpoint", {"version": 0})
    part = "part-00001-7c1d8f5e-c000.snappy.parquet"
    _put(folder / "current" / part)
    _put(folder / "current/notes.txt")
    run = _run(folder)
    yield lambda: files_of(folder)
    beside.does("maintenance", publication.drop_unasked, run)
    beside.does("a publication", publication.publish, run, LAYERS)
    beside.does("a new beginning", publication.begin_again, run)
    for kind in (ReadableAs.DELTA,):
        form = publication._format(run, "current", run.table("current"), kind)
        begin = (publication._begin, run, "current", form, None)
        beside.refuses(f"publish as {kind.value}", NotPublished, *begin)
    found = foreign_files.cause(run, RuntimeError("null key"))
    is_named = isinstance(found, ForeignFiles) and part in str(found)
    beside.expects(f"the file of a writer was not named: {found}", is_named)
    yield None


def of_the_release_before(beside: Beside) -> Iterator:
    """Ours of the release before beside tables: a Delta log that lets writers in goes on,
    and Iceberg metadata in Hudi's folder go where they are asked for no more."""
    folder = beside.folder / "artists"
    current, history = folder / "current", folder / "history"
    _delta_log_of_before(current)
    _put(current / "notes.txt")
    _put(history / "metadata/v1.metadata.json", XTABLE)
    ours = {"format-version": 2, "snapshots": [{"summary": {HUDI_INSTANT: "20260101"}}]}
    _put(folder / "changes/metadata/v1.metadata.json", ours)
    yield lambda: {
        name: body for name, body in files_of(folder).items() if "changes" not in name
    }
    for _ in range(2):
        log = log_of(current, "Artists", {})
        newest = log.newest()
        if not log.is_up_to_date(newest):
            beside.does("a commit's publication", log.append, newest, [])
        beside.expects(f"version {newest.version}", log.newest().version == 1)
    newest = log.newest().version
    beside.expects("writers are let in", protocol() in actions(current, newest))
    run = _run(folder)
    run.layers = ("changes", "history")
    beside.does("maintenance", publication.drop_unasked, run)
    left = list((folder / "changes/metadata").iterdir())
    beside.expects(f"left of ours: {left}", not left)
    yield None


def _delta_log_of_before(folder: Path) -> None:
    """Our log of one version, which asks writers for no feature."""
    log_of(folder, "Artists", {}).begin(STEP)
    info, _, *rest = actions(folder, 0)
    del info["commitInfo"]["lake.writer-feature"]
    older = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}
    _put(folder / "_delta_log" / f"{0:020}.json", info, older, *rest)


SCENES = (beside_tables, of_the_release_before)
