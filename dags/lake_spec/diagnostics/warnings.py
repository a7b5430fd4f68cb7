"""Warnings of a run: their ids, with the cause and what to do.

A warning never fails a run. Each member is followed by its text in the catalogue of
messages (docs/reference/messages.md), which is drawn from this file.
"""

from __future__ import annotations

from enum import Enum


class WarningId(str, Enum):
    """The id with which a warning begins in reports, summaries and notifications."""

    QUARANTINED_ROWS = "QuarantinedRows"
    """Some rows could not be read or broke a quality rule, and are in the quarantine.

    Fix: Correct the rows in the source or the rule in the spec. Then run the DAG
    `<domain>_reprocess` with the param `quarantined`.
    """

    REPEATED_KEYS = "RepeatedKeys"
    """Rows of one snapshot or full load have one key and differ; the last one counts.

    Fix: Add to `key` the columns that tell such rows apart, or correct the export. To
    have such rows in the quarantine instead, set `source.duplicate_keys` to quarantine.
    """

    FAILED_QUALITY_RULE = "FailedQualityRule"
    """Rows break a quality rule with `on_fail: warn`; they were ingested all the same.

    Fix: Correct the rows in the source, or change the rule under `quality` in the
    table's spec.
    """

    NOT_ERASED = "NotErased"
    """Landing files that others write have records of an erased key, and stay as they are.

    Fix: Ask those who write the landing root to erase the records of the named files. No
    run takes rows of these keys in again.
    """

    FEW_MATCHES = "FewMatches"
    """Most rows of a product found no version in a history that it joins by time.

    Fix: If the history begins too late, declare `load_effective_at` in its table and load
    that anew. If the rows are right as they are, join by JOIN, which leaves such rows out,
    or correct the keys and the time of the join.
    """

    FAILED_CHECK = "FailedCheck"
    """A check of the whole table with `severity: warn` failed; the rows were written.

    Fix: Compare the value of the message with the limits of the check in the table's
    spec. Correct the rows in the source, or the limits.
    """

    SKIPPED_CHECK = "SkippedCheck"
    """A check could not be evaluated, because a table that it refers to has no commit.

    Fix: Load the table that the message names first. The next run checks again.
    """

    UNREADABLE_RESULTS = "UnreadableResults"
    """Stored results of checks are damaged or of a newer release; the load went on.

    Fix: Nothing, if later results are enough: the rows that can be read are kept, and
    `drift` and `change` compare with these. To have the others back, correct the copy
    that the message names and write it in the place of the file.
    """

    HIGH_QUARANTINE_SHARE = "HighQuarantineShare"
    """The share of quarantined rows is above the table's `quarantine.warn_share`.

    Fix: Look up the reasons in the column `lake_reason` of the table's quarantine and
    correct the rows in the source. If the share is normal, raise the limit.
    """

    OPTIMIZERS_NOT_OFF = "OptimizersNotOff"
    """Glue's optimizers could not be switched off for a table published as Iceberg.

    Fix: Grant the role of the steps what the stack `domains` gives it, or switch them off
    for that table by hand: all three, compaction, snapshot retention and deletion of
    orphan files.
    """

    FOREIGN_FILES_MOVED = "ForeignFilesMoved"
    """Files that the pipeline did not write were moved out of a table's folder.

    Fix: Look at them and delete them: an erase cannot vouch for the table before. Take the
    right to write there away from whoever wrote them.
    """

    LARGE_BUCKET = "LargeBucket"
    """A file of current or history is larger than 1 GiB: one core writes it again.

    Fix: Write the proposed number under `storage.buckets` in the table's spec. Then run
    the DAG `<domain>_rebuild` for the table; readers see the old rows until it is done.
    """

    OVERDUE_MAINTENANCE = "OverdueMaintenance"
    """Files that commits replaced wait for their cleaning for more than a week.

    Fix: Run the DAG `<domain>_maintenance`. Give it a schedule in `_domain.yml`, as in
    `schedules: {maintenance: "0 3 * * 0"}`, and unpause it.
    """

    LATE_SOURCE = "LateSource"
    """The newest landing file is older than the table's `late_after_hours`.

    Fix: Find out why the source lands no files. If it lands them less often, raise
    `late_after_hours`.
    """

    INCOMPLETE_SNAPSHOT = "IncompleteSnapshot"
    """Files of a snapshot are missing, so nothing of it was ingested or deleted.

    Fix: Land the missing files, or the marker or manifest that completes the snapshot.
    If it stays incomplete, move its files out of the landing folder: later snapshots
    wait for it.
    """

    AMBIGUOUS_MARKER = "AmbiguousMarker"
    """A marker or manifest lies in a folder with files of several snapshots.

    Fix: Give each snapshot a folder of its own, or give the marker a name in which
    `source.snapshot_time.pattern` finds the time of its snapshot.
    """

    MISSING_COLUMN = "MissingColumn"
    """Files lack a column of the table, so their rows have null in it.

    Fix: If the source renamed the column, add its new name to `columns.<name>.source`. If
    the source no longer sends it, set `columns.<name>.dropped` to true. If such files are
    wrong, set `source.missing_columns` to `refuse`.
    """

    DOUBLED_HOUR = "DoubledHour"
    """Snapshots are of an hour that clocks showed twice: each was taken for the first.

    Fix: Have the export name its files in UTC, or with the offset, and write `%z` into
    `source.snapshot_time.format`. What it landed in that hour may be in another order.
    """

    READING_CHANGED = "ReadingChanged"
    """The spec reads files otherwise than those that were ingested before.

    Fix: Nothing, if the source writes other files from now on: it is said until a run has
    ingested some. If the earlier files were read wrong, run the DAG `<domain>_reprocess`
    for them. If the change was a mistake, restore the setting and reprocess the files that
    this run ingested.
    """

    REPEATED_FILE = "RepeatedFile"
    """A file has the same content and snapshot time as a file that is ingested.

    Fix: Move the file out of the landing folder. It changes nothing, but the warning
    repeats until it is gone.
    """

    UNMATCHED_FILES = "UnmatchedFiles"
    """Objects in the table's landing folder match no pattern of the table.

    Fix: Rename or move them, or widen `source.files` in the spec. Names that begin with
    `_` or `.` are ignored without a warning.
    """

    KEPT_MISSING_KEYS = "KeptMissingKeys"
    """A quarantined row of a snapshot has an unreadable key, so no key was deleted.

    Fix: Correct the row and land the snapshot again. Until then keys that are missing
    in the snapshot stay as they are.
    """

    COLUMN_LEFT_OUT = "ColumnLeftOut"
    """A column has a name that no spec can write, so it is not in the table.

    Fix: Rename the column in the source, or provide it under another name: by a view, an
    alias or a transform of the connector.
    """

    COLUMN_RENAMED = "ColumnRenamed"
    """A new column has the name of a column that the table has already.

    Fix: Nothing, if the stored name is right. To choose another name, declare the column
    in the spec with `source`.
    """

    SECOND_SNAPSHOT = "SecondSnapshot"
    """The connector took a further snapshot of the source table.

    Fix: Nothing, if no change was lost. If rows were deleted while nothing captured the
    changes, take a new full load (`source.full_refresh`): a snapshot has no deletes.
    """

    RESTARTED_LOG = "RestartedLog"
    """The positions of the source's log started over, for example after a restore.

    Fix: Nothing, if the old log was read to its end. If changes were lost with it, take
    a new full load (`source.full_refresh`).
    """

    ACCEPTED_LOSSES = "AcceptedLosses"
    """Messages of a topic are gone, and the run was started with `accept_losses`.

    Fix: Take a new full load (`source.full_refresh`) if the lost messages matter.
    """

    NULL_CURSOR = "NullCursor"
    """Some rows of the database have no value in the cursor of an incremental pull.

    Fix: Set the cursor in every row in the source. Rows without it are pulled by the
    first pull only.
    """

    NEW_COLUMN_NOT_PULLED = "NewColumnNotPulled"
    """Rows of the database have values in a new column that a pull by a cursor cannot see.

    The column came with a default, or was filled without moving the cursor.

    Fix: Run the DAG `<domain>_incremental` with `pull_from: start` for the table, which
    reads all of it again; or let the spec do so: `source.new_columns: refresh`.
    """

    FUTURE_CURSOR = "FutureCursor"
    """A row of the database has a cursor value beyond the database's clock or sequence.

    Fix: Correct the row in the source, or pull a view that leaves it out. Until then the
    row is pulled by each run.
    """

    FUTURE_BOOKMARK = "FutureBookmark"
    """The bookmark of an incremental pull is in the future and is ignored.

    Fix: Nothing: the rows are pulled again and known rows change nothing. If it repeats,
    correct the clock of the database or the value of the cursor.
    """

    PENDING_REPROCESS = "PendingReprocess"
    """A reprocess has snapshots left to ingest, so current and history were not built.

    Fix: Run the DAG `<domain>_reprocess` or `<domain>_incremental`: either finishes it.
    """

    DRY_RUN_NOT_BUILT = "DryRunNotBuilt"
    """An earlier run ingested rows that are not in current, and a dry run builds nothing.

    Fix: Run the DAG without `dry_run`, then repeat the dry run.
    """

    INPUT_NOT_BUILT = "InputNotBuilt"
    """A product was not built, because a table that it reads has no commit yet.

    Fix: Load that table first. If it is of another domain, run that domain's full load.
    """

    NO_PROFILE = "NoProfile"
    """The columns of the table could not be measured; its profile is as it was.

    Fix: Look up the error in the log of the step. If the table is too large to be
    measured, write `profile: never` in its spec.
    """

    PENDING_ERASE = "PendingErase"
    """A request to erase keys of the table has not been run.

    Fix: Run the DAG `<domain>_erase` with the request. If the keys were erased before and
    the list of erased keys is lost, restore the list before the load.
    """

    FAILED_MICRO_BATCH = "FailedMicroBatch"
    """A micro-batch of a continuous run failed for the table; the next one tries again.

    Fix: Look up the id of the error in the warning. If the last micro-batches succeeded,
    nothing has to be done.
    """

    SET_ASIDE_FILE = "SetAsideFile"
    """A micro-batch of a continuous run could not ingest a file and left it in landing.

    Fix: Look up the id of the error in the warning, correct the file and land it again.
    """

    MORE_WARNINGS = "MoreWarnings"
    """A continuous run had more warnings than a report lists.

    Fix: See the log of the step, which has all of them.
    """
