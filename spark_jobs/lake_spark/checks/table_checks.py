"""The checks of a table, evaluated before each commit: decision 061.

`fail` stops the commit, `warn` reports. A commit carries its results and the measures
that the next one needs; the results are rows next to the runs too (results.py).
"""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime, timezone
from functools import partial
from math import isfinite
from typing import Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from pyspark.sql import DataFrame

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.model import (
    Check,
    Every,
    Expression,
    Severity,
    TableSpec,
    TableType,
)
from lake_spec.model.checks.judgement import FAILED, SKIPPED
from lake_spec.state.report import CheckResult
from lake_spec.text.sql_text import sql_identifier
from lake_spark.checks.checked_rows import CheckedRows, measured, of_changes
from lake_spark.checks.kept_measures import to_text
from lake_spark.checks.results import Results, Row, uri_of
from lake_spark.errors import FailedChecks
from lake_spark.scd2.current import mark_of, not_deleted
from lake_spark.scd2.events import KEY
from lake_spark.storage.commit_values import CommitValue
from lake_spark.storage.hudi_table import without_hudi_columns
from lake_spark.storage.spec_sql import check_condition
from lake_spark.tables.table_run import TableRun

ERASE = "erase"
"""The stage that no check stops: it must not keep the rows of a person."""


def checks_of(spec: TableSpec, layer: str) -> List[Check]:
    """Return the checks of a layer."""
    return [each for each in spec.checks if each.layer.value == layer]


def before_commit(run: TableRun, layer: str, rows: CheckedRows) -> Dict[str, str]:
    """Check the rows of a commit that is about to be made; return what it is to say.

    Raises FailedChecks, which stops it.
    """
    checks = checks_of(run.spec, layer)
    if not checks:
        return {}
    results, now = _settled(run, layer), datetime.now(timezone.utc)
    due = [each for each in checks if _is_due(each, layer, results, now)]
    evaluation = _Evaluation(run, layer, results, now)
    made = evaluation.of(due, rows, measure_also=checks)
    try:
        _report(run, layer, made, "was not written")
    except FailedChecks:
        results.put(evaluation.rows(made, None))
        raise
    return {
        CommitValue.CHECKS: json.dumps(evaluation.rows(made, None)),
        CommitValue.MEASURES: json.dumps(evaluation.kept),
    }


class PreCommit:
    """The checks of a layer of a table, before a commit of changes."""

    def __init__(self, run: TableRun, layer: str) -> None:
        self._run, self._layer = run, layer
        self._mark = mark_of(run.spec)

    def old_columns(self, names: Sequence[str]) -> List[str]:
        """Return which columns of the stored rows that differ are needed."""
        checks = checks_of(self._run.spec, self._layer)
        if any(each.reads_all_columns for each in checks):
            return list(names)
        used = {KEY, self._mark, *(n for each in checks for n in each.named_columns)}
        return [name for name in names if name in used]

    def of(
        self, changes: DataFrame, stored: Optional[Callable[[], DataFrame]]
    ) -> Dict[str, str]:
        """Check the rows; as `before_commit`. `stored` is None if the changes are all."""
        rows = of_changes(changes, stored, self._mark)
        return before_commit(self._run, self._layer, rows)


def pre_commit(run: TableRun, layer: str) -> Optional[PreCommit]:
    """Return the checks of a layer; None if it has none, or keys are to be erased."""
    if run.report.stage == ERASE or not checks_of(run.spec, layer):
        return None
    return PreCommit(run, layer)


def settle(run: TableRun, layer: str) -> None:
    """Add the results of the newest commit to those of the table, if they are not there."""
    if checks_of(run.spec, layer):
        _settled(run, layer)


def _settled(run: TableRun, layer: str) -> Results:
    """Return the results of the table, those of the newest commit of the layer included."""
    uri = uri_of(run.environment.runs, run.spec.stored_as)
    results, table = Results(run.store, uri, run.report.release), run.table(layer)
    unreadable = results.set_aside()
    if unreadable:
        run.warn(WarningId.UNREADABLE_RESULTS, unreadable)
    newest = table.last_with(CommitValue.RUN)
    if newest is not None and CommitValue.CHECKS in newest.metadata:
        rows = json.loads(newest.metadata[CommitValue.CHECKS])
        results.add_of_commit(rows, newest.instant)
    return results


def without_commit(run: TableRun, layer: str) -> None:
    """Check a layer that a run did not change: its age, and what was never checked.

    Checks that failed are repeated. Raises FailedChecks.
    """
    table, checks = run.table(layer), checks_of(run.spec, layer)
    if run.dry_run or run.report.stage == ERASE or layer in run.report.commits:
        return
    if not checks or not table.has_data():
        return
    results, now = _settled(run, layer), datetime.now(timezone.utc)
    before = {each.title: results.newest(layer, each) for each in checks}
    due = [each for each in checks if _is_to_repeat(each, before[each.title])]
    if not due:
        return

    def stored() -> DataFrame:
        return not_deleted(without_hudi_columns(table.read()), mark_of(run.spec))

    rows = CheckedRows(stored, is_unchanged=True)
    evaluation = _Evaluation(run, layer, results, now)
    made = evaluation.of(due, rows)
    commit = table.last_commit()
    assert commit is not None, f"{table.path} has data"
    news = [
        row
        for row in evaluation.rows(made, commit.instant)
        if (before[row["check"]] or {}).get("result") != row["result"]
    ]
    if news:
        results.put(news)
    _report(run, layer, made, "is as before")


def _is_due(check: Check, layer: str, results: Results, now: datetime) -> bool:
    if check.every is Every.RUN:
        return True
    newest = results.newest(layer, check)
    if newest is None or newest["result"] == FAILED or newest["commit"] is None:
        return True
    return bool(newest["at"][:10] != now.isoformat()[:10])


def _is_to_repeat(check: Check, newest: Optional[Row]) -> bool:
    if newest is None or check.changes_with_time:
        return True
    return newest["result"] == FAILED and not check.compares_commits


class _Evaluation:
    """One look at the rows of a layer."""

    def __init__(
        self, run: TableRun, layer: str, results: Results, now: datetime
    ) -> None:
        self._run, self._layer, self._results, self._now = run, layer, results, now
        self.kept: Mapping[str, Optional[str]] = {}
        """The measures that a commit is to keep."""

    def of(
        self,
        due: Sequence[Check],
        rows: CheckedRows,
        measure_also: Sequence[Check] = (),
    ) -> List[Tuple[Check, CheckResult]]:
        """Evaluate checks; of others only what a commit keeps is measured."""
        self._check_conditions([*due, *measure_also])
        lacking = {each for each in due if self._lacks_table(each)}
        wanted = {each: each.measures(rows.kind) for each in due if each not in lacking}
        also = {m for each in measure_also for m in each.measures(rows.kind)}
        found = {m for of_check in wanted.values() for m in of_check}
        found |= {each for each in also if each.is_kept}
        measures = sorted(found, key=lambda each: each.id)
        others = partial(self._other, rows)
        values = measured(rows, measures, self._measures(), others)
        self.kept = to_text(values)
        made = []
        for check in due:
            if check in lacking:
                made.append((check, self._skipped(check)))
                continue
            value = check.value([values[m] for m in wanted[check]], self._now)
            run = self._run.report.run
            earlier = self._results.earlier(self._layer, check, run)
            judged = check.judged(value, earlier)
            shown = None if value is None or not isfinite(value) else float(value)
            result = self._result(check, judged.result, shown, judged.bounds)
            made.append((check, result))
        return made

    def _check_conditions(self, checks: Sequence[Check]) -> None:
        """Refuse conditions that read a table, in Spark's own reading."""
        texts = {e.written: e.title for e in checks if isinstance(e, Expression)}
        for text, title in texts.items():
            where = f"{self._run.spec.full_name}: {title}"
            check_condition(self._run.spark, str(text), where)

    def _result(
        self, check: Check, result: str, value: Optional[float], bounds: str
    ) -> CheckResult:
        return CheckResult(
            check.title,
            check.kind,
            self._layer,
            check.severity.value,
            result,
            value,
            bounds,
            list(check.named_columns),
        )

    def _skipped(self, check: Check) -> CheckResult:
        other = check.other_table
        self._run.warn(
            WarningId.SKIPPED_CHECK,
            f"{check.title} was not evaluated: {other} has no commit yet. Load that "
            "table first.",
        )
        return self._result(check, SKIPPED, None, f"{other} has no commit")

    def _measures(self) -> Mapping[str, Optional[str]]:
        """Return what the newest commit kept: nothing where that has no checks.

        Also where another program wrote to the table since.
        """
        table = self._run.table(self._layer)
        if self._layer == "changes":  # of whose rows each commit adds its own
            return {}
        is_merged = self._run.spec.storage.type is TableType.MERGE_ON_READ
        newest = [
            each.requested
            for each in table.instants()
            if not (is_merged and each.action == "commit")  # a compaction
        ]
        if newest[-1:] != [table.last_instant(CommitValue.RUN)]:
            return {}
        newest_of_run = table.metadata_with(CommitValue.RUN)
        said = newest_of_run.get(CommitValue.MEASURES, "{}")
        measures: Dict[str, Optional[str]] = json.loads(said)
        return measures

    def _lacks_table(self, check: Check) -> bool:
        other = check.other_table
        if other is None or self._is_own(other):
            return False
        return not self._run.of_table(other).current.has_data()

    def _is_own(self, table: str) -> bool:
        """Return whether references to a table are to the rows that are checked."""
        return (table, self._layer) == (self._run.spec.name, "current")

    def _other(self, rows: CheckedRows, to: str) -> DataFrame:
        """Return the values of a column of a table's current rows.

        Of the table itself they are those after the commit.
        """
        table, _, column = to.partition(".")
        if self._is_own(table):
            found = rows.after
        else:
            other = self._run.of_table(table)
            found = not_deleted(other.current.read(), mark_of(other.spec))
        return found.selectExpr(f"{sql_identifier(column)} AS lake_value")

    def rows(
        self, made: Sequence[Tuple[Check, CheckResult]], commit: Optional[str]
    ) -> List[Row]:
        """Return results as rows."""
        about = {
            "at": self._now.isoformat(timespec="seconds"),
            "run": self._run.report.run,
            "domain": self._run.spec.domain,
            "table": self._run.spec.name,
        }
        return [
            {**about, **asdict(result), "subject": check.subject, "commit": commit}
            for check, result in made
        ]


def _report(
    run: TableRun,
    layer: str,
    made: Sequence[Tuple[Check, CheckResult]],
    what: str,
) -> None:
    """Report results; raise FailedChecks if one fails the run."""
    run.report.add_checks([result for _, result in made])
    failed = []
    for check, result in made:
        if result.result != FAILED:
            continue
        words = check.failure(result.value, result.bounds)
        if check.severity is Severity.WARN:
            run.warn(WarningId.FAILED_CHECK, f"{layer}: {words}")
        else:
            failed.append(words)
    if failed:
        raise FailedChecks(
            f"{run.spec.full_name}: {layer} {what}, because {len(failed)} check(s) failed: "
            f"{'; '.join(failed)}. Correct the rows in the source, or the check in the "
            "table's spec."
        )
