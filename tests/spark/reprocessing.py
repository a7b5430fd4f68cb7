"""What tests of a reprocess do to a lake, and a lake that never was wrong."""

from __future__ import annotations

import shutil
from pathlib import Path

from lake_spec.state.report import Report
from lake_spark.ingest.reprocess import Selection
from tests.spark.lake import Lake


def rows(lake: Lake) -> tuple:
    """Both tables whole, surrogate keys included."""
    history = (sorted(map(tuple, t.collect()), key=repr) for t in _ordered(lake))
    return tuple(history)


def _ordered(lake: Lake) -> list:
    return [t.select(sorted(t.columns)) for t in (lake.current, lake.history)]


def from_scratch(lake: Lake, root: Path) -> tuple:
    """The tables of a lake that sees the landing files as they are now."""
    shutil.copytree(lake.root / "landing", root / "landing")
    again = Lake(lake.spark, root, lake.spec)
    again.done("full_load", "incremental", "scd2")
    return rows(again)


def reprocess_files(lake: Lake, *globs: str, **more: bool) -> Report:
    """Reprocess these files; the report, failed or not."""
    return lake.run("reprocess", selection=Selection(globs, **more))


def done_reprocess(lake: Lake, *globs: str, **more: bool) -> Report:
    """Reprocess these files and bring history up to it; neither may fail."""
    report = reprocess_files(lake, *globs, **more)
    assert report.error is None, report.error
    lake.done("scd2")
    return report
