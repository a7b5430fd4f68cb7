"""Bad files stay where they are, and the run ends red naming them."""

from __future__ import annotations

from typing import Dict, Sequence

from lake_spark.errors import BadFile, BadFileReason, shortened
from lake_spark.landing.files import LandingFile, shown
from lake_spark.reading.reader import Input
from lake_spark.tables.table_run import FileRun

Reasons = Dict[str, BadFileReason]
"""Why files are bad, by their paths."""


def set_aside(run: FileRun, bad: BadFile) -> None:
    """Leave a bad file where it is; the run will end red naming it."""
    set_path_aside(run, type(bad).__name__, bad.path, bad.reason)


def set_path_aside(run: FileRun, id: str, path: str, reason: str) -> None:
    """Report a file as set aside, with the id of the reason."""
    reason = shortened(reason, 2_000)
    if run.report.set_aside_file(id, path, reason):
        run.say(f"set aside {shown(path)}: {id}: {reason}")


def set_known_aside(run: FileRun, file: LandingFile, bad: BadFile) -> None:
    """Set a file aside, and remember why for the later rounds of a continuous run."""
    run.earlier.known_bad[file.path, file.etag] = type(bad), bad.reason
    set_aside(run, bad)


def refuse_known(run: FileRun, file: LandingFile) -> None:
    """Refuse a file of known content: it is not read again to find the same."""
    known = run.earlier.known_bad.get((file.path, file.etag))
    if known is not None:
        error, reason = known
        raise error(file.path, reason)


def set_inputs_aside(run: FileRun, inputs: Sequence[Input], reasons: Reasons) -> None:
    """Set the files aside that are bad."""
    for each in inputs:
        if each.file.path in reasons:
            error, reason = reasons[each.file.path]
            set_known_aside(run, each.file, error(each.file.path, reason))
