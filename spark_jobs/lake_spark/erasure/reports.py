"""Reports of earlier runs whose words name a subject: the words are taken out."""

from __future__ import annotations

import json
from typing import Any, Callable, Dict

from lake_spark.erasure.subjects import Subjects
from lake_spark.table_run import TableRun

INSTEAD = "(erased)"


def redact(run: TableRun, subjects: Subjects) -> int:
    """Rewrite reports of the table that name a key; how many."""
    is_named, done = subjects.named_in(), 0
    for each in run.store.list(f"{run.environment.runs}/{run.spec.domain}_"):
        if not each.uri.endswith(f"/{run.spec.name}.json"):
            continue
        report = json.loads(run.store.read(each.uri))
        clean = _without(report, is_named)
        if clean != report:
            run.store.write(each.uri, json.dumps(clean, indent=1).encode())
            done += 1
    return done


def _without(report: Dict[str, Any], is_named: Callable[[str], bool]) -> Dict[str, Any]:
    """The report with every message that names a key left out; counts and paths stay."""
    clean = dict(report)
    clean["warnings"] = [
        INSTEAD if is_named(each) else each for each in report.get("warnings", ())
    ]
    clean["set_aside"] = [
        {**each, "reason": INSTEAD} if is_named(each["reason"]) else each
        for each in report.get("set_aside", ())
    ]
    error = report.get("error")
    if error and is_named(error["message"]):
        clean["error"] = {**error, "message": INSTEAD}
    return clean
