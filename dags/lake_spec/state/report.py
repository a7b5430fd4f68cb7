"""The report of one stage on one table: the words of a run's accounting."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from typing import Dict, Iterable, List, Mapping, Optional, Union

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.state.state_format import state_text
from lake_spec.text.marked_values import unmarked, without_values

MOST_LISTED = 100
"""Number of changed surrogate keys that a report lists; all are counted."""

MOST_SAMPLES = 10
"""Number of bad rows that a report shows; all are counted, and in the quarantine."""

MOST_WITHHELD = 1000
"""Number of texts with values that a report of a guarded table keeps for the table."""

FAILED_TABLE = "FAILED "
"""Before table, stage and cause of each table that failed, at the end of a step's output."""

_ADDED_UP = (
    *("seconds", "rows_in", "accepted", "unchanged", "duplicates", "quarantined"),
    *("erased", "tombstones", "messages", "ignored", "derived_deletes", "ties"),
    "unresolved",
    *("versions_opened", "versions_closed", "keys_moved", "upserted", "deleted"),
)
FIGURES = (
    *("newest_input", "newest_event", "current_built"),
    *("current_rows", "versions", "versions_open"),
)
"""Figures of a table as it is: one that a stage does not report is still the last one."""

_NEWEST = (*FIGURES, "built")


class State(str, Enum):
    """The result of a stage for a table."""

    DONE = "done"
    NOTHING_NEW = "nothing_new"
    DRY_RUN = "dry_run"
    FAILED = "failed"
    RUNNING = "running"
    """State of a continuous run that still runs: the report covers its work so far."""


@dataclass
class FileReport:
    """Accounting of one landing file: landed = the sum of the other five."""

    path: str
    etag: str
    landed: int = 0
    accepted: int = 0
    unchanged: int = 0
    duplicates: int = 0
    quarantined: int = 0
    erased: int = 0
    tombstones: int = 0
    """Records that repeat a delete: no rows, in no other count."""
    messages: int = 0
    """Records without a row, such as heartbeats: in no other count."""
    ignored: int = 0
    """Records that the spec ignores by their word: in no other count."""

    @property
    def is_balanced(self) -> bool:
        """True if every landed row is accounted for exactly once."""
        taken = self.accepted + self.unchanged + self.duplicates
        return self.landed == taken + self.quarantined + self.erased


@dataclass
class BadRow:
    """A row that was not accepted: where it is, and why."""

    path: str
    record: int
    """Number of the record in its file, from 1."""
    reason: str
    row: str = ""
    """Key and some values as a JSON object; empty in a guarded table.

    It is one text, so that an erase of the key takes all of it.
    """


@dataclass
class LayerSize:
    """Data files of a layer: those of its newest state, and all that are stored."""

    files: int = 0
    """Files that a reader of the newest state opens, with log files."""
    log_files: int = 0
    bytes: int = 0
    stored_files: int = 0
    stored_bytes: int = 0


@dataclass
class Maintained:
    """What maintenance did to a layer, with its size before and after."""

    layer: str
    done: List[str]
    """`compaction`, `clustering`, `cleaning`; none if nothing was due."""
    before: LayerSize
    after: LayerSize


@dataclass
class MovedKey:
    """A surrogate key that history no longer has, and its replacement.

    Facts that refer to `removed` and lie in [valid_from, valid_to) now belong to
    `replaced_by`; null there: to no version. Times are ISO 8601 in UTC.
    """

    removed: Union[int, str]
    replaced_by: Union[int, str, None]
    valid_from: str
    valid_to: Optional[str]


@dataclass
class CheckResult:
    """The result of a check of a table: its number, its limits and what follows."""

    check: str
    """Its name, or its kind and columns."""
    kind: str
    layer: str
    severity: str
    result: str
    """`passed`, `failed`, or `skipped` where nothing could be compared."""
    value: Optional[float]
    bounds: str
    """The limits in words."""
    columns: List[str] = field(default_factory=list)


@dataclass
class Report:
    """The work of one stage for one table; counts are rows, times are seconds."""

    run: str
    release: str
    domain: str
    table: str
    stage: str
    engine: str
    state: str = State.NOTHING_NEW.value
    started: str = ""
    seconds: float = 0.0
    rows_in: int = 0
    accepted: int = 0
    unchanged: int = 0
    duplicates: int = 0
    quarantined: int = 0
    erased: int = 0
    tombstones: int = 0
    messages: int = 0
    ignored: int = 0
    derived_deletes: int = 0
    newest_input: Optional[str] = None
    """Time at which the newest ingested landing file landed: ISO 8601 in UTC."""
    newest_event: Optional[str] = None
    """The newest ingested effective time: ISO 8601 in UTC."""
    current_built: Optional[str] = None
    """Time of current's last commit: ISO 8601 in UTC."""
    ties: int = 0
    unresolved: int = 0
    current_rows: Optional[int] = None
    versions: Optional[int] = None
    versions_open: Optional[int] = None
    versions_opened: int = 0
    versions_closed: int = 0
    keys_moved: int = 0
    moved_keys: List[MovedKey] = field(default_factory=list)
    upserted: int = 0
    """Rows of a product that its commit inserted or changed."""
    deleted: int = 0
    """Rows of a product that its commit removed."""
    built: Optional[str] = None
    """How a product was built: `in part`, or `whole: <why>`."""
    commits: Dict[str, str] = field(default_factory=dict)
    files: List[FileReport] = field(default_factory=list)
    unlisted_files: int = 0
    """Landing files of earlier rounds that `files` has no longer; the counts have theirs."""
    erasure: Dict[str, int] = field(default_factory=dict)
    rules: Dict[str, int] = field(default_factory=dict)
    """Rows that broke each quality rule, by its words; 0 for one that all rows kept.

    Of a product also those that found no version in a history which it joins by time.
    """
    samples: List[BadRow] = field(default_factory=list)
    maintained: List[Maintained] = field(default_factory=list)
    retracted: List[str] = field(default_factory=list)
    set_aside: List[Dict[str, str]] = field(default_factory=list)
    checks: List[CheckResult] = field(default_factory=list)
    """Results of checks of the table, the newest of each."""
    warnings: List[str] = field(default_factory=list)
    error: Optional[Dict[str, str]] = None
    guarded: bool = False
    """Whether the table is guarded: then no text of the report has a value of a row."""
    whole_messages: Optional[str] = None
    """Object next to a guarded table with the texts that have values, if there are any."""
    withheld: List[str] = field(default_factory=list)
    """These texts, which are no part of the report as it is put."""
    version: str = ""
    """Version of the project that wrote the report."""

    def add_files(self, files: List[FileReport]) -> None:
        """Add the accounting of landing files to the totals."""
        self.files.extend(files)
        self.rows_in += sum(each.landed for each in files)
        self.accepted += sum(each.accepted for each in files)
        self.unchanged += sum(each.unchanged for each in files)
        self.duplicates += sum(each.duplicates for each in files)
        self.quarantined += sum(each.quarantined for each in files)
        self.erased += sum(each.erased for each in files)
        self.tombstones += sum(each.tombstones for each in files)
        self.messages += sum(each.messages for each in files)
        self.ignored += sum(each.ignored for each in files)

    def add_rules(self, counts: Mapping[str, int]) -> None:
        """Add how many rows broke each quality rule."""
        for words, count in counts.items():
            self.rules[words] = self.rules.get(words, 0) + count

    def add_samples(self, rows: Iterable[BadRow]) -> None:
        """Add some of the bad rows, as far as there is room; all are counted.

        Of a guarded table they have no values: those are in the quarantine.
        """
        shown = [
            replace(
                each,
                reason=self.words(each.reason),
                row="" if self.guarded else each.row,
            )
            for each in rows
        ]
        self.samples = [*self.samples, *shown][:MOST_SAMPLES]

    def set_moved_keys(self, keys: Iterable[MovedKey]) -> None:
        """List replaced surrogate keys; those of a guarded table stay next to it."""
        if not self.guarded:
            self.moved_keys = list(keys)
            return
        for each in keys:
            self.withhold(json.dumps({"moved_key": asdict(each)}))

    def words(self, text: str) -> str:
        """Return a text as it may be shown: that of a guarded table without values."""
        if not self.guarded:
            return unmarked(text)
        shown = without_values(text)
        if shown != text:
            self.withhold(unmarked(text))
        return shown

    def withhold(self, text: str) -> None:
        """Keep a text with values of a guarded table for an object next to the table."""
        if text not in self.withheld and len(self.withheld) < MOST_WITHHELD:
            self.withheld.append(text)

    def settle_duplicates(self, found: Dict[str, int], first: int = 0) -> None:
        """Count rows that turned out to be known events as duplicates.

        `found` counts them per path, for the files from the `first` on.
        """
        for each in self.files[first:]:
            again = found.get(each.path, 0)
            each.accepted -= again
            each.duplicates += again
        self.accepted = sum(each.accepted for each in self.files)
        self.duplicates = sum(each.duplicates for each in self.files)

    def add(self, later: Report) -> None:
        """Add the work of a later stage of the same run; its end is not included.

        Counts are added, figures of the tables are the newest ones, and a repeated
        warning is reported once.
        """
        for name in _ADDED_UP:
            setattr(self, name, getattr(self, name) + getattr(later, name))
        for name in _NEWEST:
            if getattr(later, name) is not None:
                setattr(self, name, getattr(later, name))
        self.seconds = round(self.seconds, 1)
        self.commits.update(later.commits)
        self.files.extend(later.files)
        self.add_rules(later.rules)
        self.add_samples(later.samples)
        self.maintained.extend(later.maintained)
        self.retracted.extend(later.retracted)
        self.moved_keys = [*self.moved_keys, *later.moved_keys][:MOST_LISTED]
        self.add_checks(later.checks)
        self.warnings += [w for w in later.warnings if w not in self.warnings]
        for text in later.withheld:
            self.withhold(text)

    def add_checks(self, results: List[CheckResult]) -> None:
        """Add results of checks, in the place of earlier ones of the same checks."""
        new = {(each.layer, each.check) for each in results}
        kept = [each for each in self.checks if (each.layer, each.check) not in new]
        self.checks = kept + list(results)

    def warn(self, id: WarningId, text: str) -> bool:
        """Add a warning; return False if the report has it already."""
        line = self.words(f"{id.value}: {text}")
        if line in self.warnings:
            return False
        self.warnings.append(line)
        return True

    def limit_warnings(self, most: int) -> None:
        """Keep at most that many warnings, the last of which says so."""
        if len(self.warnings) >= most:
            del self.warnings[most - 1 :]
            self.warn(WarningId.MORE_WARNINGS, "the log of the step has all warnings.")

    def limit_files(self, most: int) -> None:
        """List the newest landing files alone; the counts are those of all."""
        more = len(self.files) - most
        if more > 0:
            del self.files[:more]
            self.unlisted_files += more

    def set_aside_file(self, id: str, path: str, reason: str) -> bool:
        """Add a file that was not ingested; return False if the report has it already."""
        entry = {"path": path, "type": id, "reason": self.words(reason)}
        if entry in self.set_aside:
            return False
        self.set_aside.append(entry)
        return True

    def fail_for_set_aside(self) -> None:
        """Fail the run for a bad file, while the rows of the other files are kept."""
        if not self.set_aside:
            return
        self.state = State.FAILED.value
        bad, more = self.set_aside[0], len(self.set_aside) - 1
        words = f"{bad['path']}: {bad['reason']}"
        self.error = {
            "type": bad["type"],
            "message": words + (f" (and {more} more)" if more else ""),
        }

    def uri(self, runs: str) -> str:
        """Return the URI of the report, below the root of the runs."""
        return f"{runs}/{self.run}/{self.stage}/{self.table}.json"

    def to_json(self) -> str:
        """Return the report as JSON text, keys in the order of the class."""
        said = asdict(self)
        del said["withheld"]
        return state_text(said, release=self.release, indent=1)
