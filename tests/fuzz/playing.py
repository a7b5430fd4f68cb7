"""Play random files through a lake, batch by batch, next to the judge."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List

from pyspark.sql import SparkSession

from lake_spec.state.report import Report
from tests.fuzz.comparison import Ingested, difference
from tests.fuzz.files import COLUMNS, File
from tests.fuzz.outcome import Outcome, failed_as_a_whole, plain
from tests.fuzz.tables import Kind
from tests.spark.lake import Lake


@dataclass(frozen=True)
class FilesOf:
    """Files of a kind of table whose rows each go into the change log."""

    kind: Kind

    @property
    def name(self) -> str:
        """The kind's name."""
        return self.kind.name

    def play(
        self, spark: SparkSession, root: Path, seed: int, numbers: range
    ) -> Outcome:
        """Land the files of these numbers, run, compare, remove the bad, run again."""
        kind = self.kind
        files = {each: kind.file(spark, seed, each) for each in numbers}
        outcome = Outcome()
        lake = Lake(spark, root / "all", kind.spec)
        for number, file in files.items():
            lake.land(path_of(number, file), file.content)
        report = lake.run("incremental")
        if failed_as_a_whole(report):
            _blame(spark, root, kind, files, outcome)
            return outcome
        _compare(lake, files, report, outcome)
        for each in report.set_aside:
            lake.remove(each["path"])
        for stage in ("incremental", "scd2"):
            again = lake.run(stage)
            if again.error:
                words = f"{stage} after the bad files were removed: {again.error}"
                outcome.poisoned[numbers[0]] = words
        if not outcome.poisoned and lake.tables.current.has_data():
            verified = lake.verify()
            if verified.error:
                outcome.wrong[numbers[0]] = f"verify: {verified.error}"
        return outcome


def path_of(number: int, file: File) -> str:
    """Where the file lands."""
    return f"changes/{number:06d}{file.ending}"


def _blame(
    spark: SparkSession,
    root: Path,
    kind: Kind,
    files: Dict[int, File],
    outcome: Outcome,
) -> None:
    """The whole run failed: halve its files until those are left that make it fail."""
    waiting: List[List[int]] = [sorted(files)]
    tries = 0
    while waiting:
        numbers = waiting.pop()
        tries += 1
        lake = Lake(spark, root / f"half-{tries}", kind.spec)
        for each in numbers:
            lake.land(path_of(each, files[each]), files[each].content)
        report = lake.run("incremental")
        if not failed_as_a_whole(report):
            _compare(lake, {n: files[n] for n in numbers}, report, outcome)
            continue
        if len(numbers) == 1:
            words = f"the whole run fails: {str(report.error)[:400]}"
            outcome.poisoned[numbers[0]] = f"({files[numbers[0]].made}): {words}"
        else:
            half = len(numbers) // 2
            waiting += [numbers[:half], numbers[half:]]


def _compare(
    lake: Lake, files: Dict[int, File], report: Report, outcome: Outcome
) -> None:
    refused = {each["path"]: each["reason"] for each in report.set_aside}
    rows = _rows(lake)
    bad = _bad_rows(lake)
    for number, file in files.items():
        path = path_of(number, file)
        found = Ingested(rows.get(path, {}), bad.get(path, {}), refused.get(path))
        words = difference(file.verdict, found)
        if words:
            outcome.wrong[number] = f"({file.made}): {words}"


def _rows(lake: Lake) -> Dict[str, Dict[int, Any]]:
    """The change log's rows by path and record."""
    found: Dict[str, Dict[int, Any]] = defaultdict(dict)
    if lake.tables.log.has_data():
        for row in lake.changes.select("lake_path", "lake_record", *COLUMNS).collect():
            found[row[0]][row[1]] = tuple(map(plain, row[2:]))
    return found


def _bad_rows(lake: Lake) -> Dict[str, Dict[int, str]]:
    found: Dict[str, Dict[int, str]] = defaultdict(dict)
    if lake.tables.quarantine.has_data():
        for row in lake.tables.quarantine.read().collect():
            found[row.lake_path][row.lake_record] = row.lake_reason
    return found
