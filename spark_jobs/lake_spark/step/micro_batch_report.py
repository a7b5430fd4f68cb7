"""One table in all rounds of a continuous run: its one report, how often it failed."""

from __future__ import annotations

from typing import Callable, Dict, List, Sequence

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.state.report import Report, State

MOST_FAILURES = 3
"""Rounds in a row that a table may fail in before the run ends, and people are notified."""

MOST_FILES = 1000
"""The newest landing files, which a report lists: it is put whole after each round."""

MOST_WARNINGS = 50
"""What a report lists of them; the output of the step has all."""


class TableRounds:
    """What the rounds did to a table, added up in the report of the run.

    The report is put whenever a round changed something in it, so that everyone can
    see how far the run is.
    """

    def __init__(self, report: Report, put: Callable[[Report], None]) -> None:
        self.report = report
        self.failures = 0
        self.has_committed = False
        self._put = put

    @property
    def has_failed(self) -> bool:
        """Return whether its last round did not get to its end."""
        return self.failures > 0

    def quiet(self) -> None:
        """Note a round that had nothing to look at."""
        self.has_committed = False

    def take(self, number: int, done: Sequence[Report]) -> None:
        """Add what the stages of a round did, and put the report if it is worth it."""
        report, before = self.report, self._reported()
        for each in done:
            report.add(each)
            for warning in each.warnings:
                self._say(warning)
        self.has_committed = any(each.commits for each in done)
        report.error = next((each.error for each in done if each.error), None)
        self.failures = self.failures + 1 if report.error else 0
        self._set_aside(number, done)
        if report.error:
            error = report.error
            words = f"micro-batch {number}: {error['type']}: {error['message']}"
            self._warn(WarningId.FAILED_MICRO_BATCH, words)
        report.limit_warnings(MOST_WARNINGS)
        report.limit_files(MOST_FILES)
        state = State.FAILED if report.error else State.RUNNING
        report.state = state.value
        if self.has_committed or self._reported() != before:
            self._put(report)

    def _reported(self) -> List[object]:
        """Return what is worth reporting next to commits."""
        report = self.report
        return [report.error, list(report.set_aside), list(report.warnings)]

    def _set_aside(self, number: int, done: Sequence[Report]) -> None:
        """Note files that are bad as of the last round that could look at all of them."""
        report = self.report
        found: Dict[str, Dict[str, str]] = {}
        for each in [*(report.set_aside if report.error else ()), *_of(done)]:
            found[each["path"]] = each
        for path, each in found.items():
            if each not in report.set_aside:
                words = f"{each['type']}: {path}: {each['reason']}"
                self._warn(WarningId.SET_ASIDE_FILE, f"micro-batch {number}: {words}")
        report.set_aside = list(found.values())

    def _warn(self, id: WarningId, words: str) -> None:
        if self.report.warn(id, words):
            self._say(f"{id.value}: {words}")

    def _say(self, words: str) -> None:
        report = self.report
        line = f"LAKE {report.domain}.{report.table} {report.stage}: WARNING {words}"
        print(line, flush=True)

    def end(self, *, dry_run: bool = False) -> None:
        """Settle the state of the run: its last round's, red for files set aside."""
        report = self.report
        if report.error is None:
            done = State.DONE if report.commits else State.NOTHING_NEW
            report.state = (State.DRY_RUN if dry_run else done).value
            report.fail_for_set_aside()
        self._put(report)


def _of(done: Sequence[Report]) -> List[Dict[str, str]]:
    return [each for report in done for each in report.set_aside]
