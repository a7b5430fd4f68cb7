"""Errors of a stage: the class of each is the id that reports, summaries and logs show.

Every class has its cause and what to do in its docstring, from which the catalogue of
messages (docs/reference/messages.md) is drawn.

StageError
 +-- RefusedInput         landing files contradict what was ingested, or each other
 |    +-- LateSnapshot        a snapshot that is not newer than the last one ingested
 |    +-- WrongSnapshotFiles  files that cannot be of their snapshot
 |    +-- WrongScopes         the scopes of a snapshot's rows are not those expected
 |    +-- TooManyLosses       a file would delete more keys than allowed
 |    +-- ChangedFile         an ingested file has other content now
 |    +-- ChangedWhileRead    files changed while the run read them
 |    +-- FilesNotFound       a reprocess names files that are not in landing
 +-- BadFile              one landing file cannot be ingested: it is set aside
 |    +-- UnreadableFile      damaged, cut or not of the declared format
 |    +-- UndecodableFile     not in the declared encoding
 |    +-- WrongColumns        columns are missing, undeclared or have no legal name
 |    +-- WrongTypes          a column has a type that does not fit the table's
 |    +-- ClassInFile         the metadata names a class for readers to run
 |    +-- WrongPath           the path lacks a time or scope, or is not supported
 |    +-- WrongManifest       the manifest of a snapshot does not describe its files
 +-- others               about a table, a source or the run
"""

from __future__ import annotations

import re
from typing import Sequence, Tuple, Type

from lake_spec.text.marked_values import BEGIN, END, row_value

SHOWN = 200
"""The most characters of a value that messages, reports and logs show."""


def shortened(text: str, most: int = SHOWN) -> str:
    """Return the text, or its beginning and its true length."""
    if len(text) <= most:
        return text
    return f"{text[:most]}... ({len(text):,} characters)"


class StageError(Exception):
    """A stage cannot go on with a table."""


class RefusedInput(StageError):
    """Landing files contradict what was ingested before, or each other."""


class LateSnapshot(RefusedInput):
    """A snapshot is not newer than the last snapshot that was ingested.

    Fix: If its time is wrong, land it under its true time. If it corrects an ingested
    snapshot, run the DAG `<domain>_reprocess`, which ingests it and all later snapshots
    again. Otherwise move it out of the landing folder.
    """


class WrongSnapshotFiles(RefusedInput):
    """Files contradict the rest of their snapshot; its other files stay and wait.

    Fix: Move the files that the message names out of the landing folder, or correct
    `source.complete` in the table's spec if it does not describe the snapshots.
    """

    def __init__(self, paths: Sequence[str], reason: str) -> None:
        super().__init__(reason)
        self.paths = tuple(paths)


class WrongScopes(RefusedInput):
    """A snapshot's rows do not show which scopes it covers, or contradict the run.

    Fix: Correct the param `empty_scopes` of the run: it lists the values of the scope
    column that have no rows. If the snapshot itself is wrong, land a whole one in its
    place.
    """


class TooManyLosses(RefusedInput):
    """A snapshot or full refresh would delete more keys than the table allows.

    Fix: Check whether the export was complete, and land the whole one in its place. If
    the loss is right, run the DAG `<domain>_incremental` with the param `accept_losses`,
    or raise the limit in the table's spec.
    """


class ChangedFile(RefusedInput):
    """A landing file that was ingested has other content now.

    Fix: To ingest the new content, run the DAG `<domain>_reprocess` with the param
    `files`. Otherwise restore the file and land the new content under a new name.
    """


class ChangedWhileRead(RefusedInput):
    """Landing files were replaced or removed while the run read them.

    Fix: Start the run again when the source has finished writing. Nothing was written.
    """


class FilesNotFound(RefusedInput):
    """A reprocess names files that are not in the landing folder.

    Fix: Correct the param `files` of the run, or restore the files. To remove the rows of
    deleted files from the tables, run it with the param `retract_missing`.
    """


class BadFile(StageError):
    """One landing file cannot be ingested; it is set aside and the others are ingested."""

    def __init__(self, path: str, reason: str) -> None:
        reason = shortened(reason, 2_000)
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class UnreadableFile(BadFile):
    """A landing file is empty, damaged, cut or not of the declared format.

    Fix: Land the whole file again in the format that `source.format` of the table's spec
    declares, or correct `source.format`. If the file is not needed, remove it.
    """


class UndecodableFile(BadFile):
    """A landing file is not in the encoding that the table's spec declares.

    Fix: Set `source.format.encoding` in the table's spec to the encoding of the files, or
    land the file again in the declared encoding.
    """


class WrongColumns(BadFile):
    """A landing file lacks columns, or has columns that the table cannot have.

    Fix: Declare the column in the table's spec (`columns`, or `source.new_columns` for
    all undeclared columns), or correct the file and land it again.
    """


class WrongTypes(BadFile):
    """A column of a landing file has a type that does not fit the table's column.

    Fix: Declare a wider type in the table's spec, or set `on_type_mismatch: quarantine`
    for the column, or correct the file and land it again.
    """


class ClassInFile(BadFile):
    """The metadata of a Parquet file names a class, whose code other readers would run.

    The lake runs none: it reads columns by the footer's own schema. A class is named by a
    type that a user defined in Spark (`udt`), as machine learning's vectors are, and by a
    type that Arrow pickled. Such a file may also be an attack.

    Fix: Write the column as one of Parquet's own types in the export, such as an array of
    numbers, and land the file again. If nobody knows why the file names a class, find out
    who landed it.
    """


class WrongPath(BadFile):
    """A landing file's path does not say what the spec reads from it.

    Fix: Land the file under a path that the pattern of the table's spec matches
    (`source.snapshot_time`, `source.scope`, `source.full_refresh`,
    `source.path_columns`), or correct the pattern.
    """


class WrongManifest(BadFile):
    """The manifest of a snapshot cannot be read, or does not describe its files.

    Fix: Correct the manifest, or land the files that it lists.
    """


REMOVED = "was removed after the run listed it. Land it again if it is needed."
"""Why a file cannot be read that is no longer there."""

BadFileReason = Tuple[Type[BadFile], str]
"""Why a file is bad: the kind of the error and its text without the path."""


class TooManyBadRows(StageError):
    """More rows are bad than the table allows, so nothing was written.

    More than half of the rows are too many, however few they are. The report names the
    files; without them the next run succeeds.

    Fix: Correct the rows in the source, or the types and rules in the table's spec. If so
    many bad rows are expected, raise `quarantine.max_share`.
    """


class FailedChecks(StageError):
    """Checks of the whole table with `severity: fail` failed, so nothing was written.

    The rows are in the change log, if the check is not of that, and wait there.

    Fix: Correct the rows in the source and run the DAG `<domain>_incremental` again, or
    correct the limits of the check in the table's spec; `severity: warn` lets rows pass.
    """


class BrokenInvariant(StageError):
    """A check before a commit found rows that break the contract; nothing was written.

    Fix: Run the DAG `<domain>_rebuild`, which makes current and history from the change
    log. If the check fails again, report it as a bug, with the step's log.
    """


class DiffersFromLog(StageError):
    """A table has other rows than its change log results in.

    Fix: Find out which other program writes to the table and stop it. Then run the DAG
    `<domain>_rebuild`.
    """


class SettingsChanged(StageError):
    """A setting that changes stored rows differs from the one the table was made with.

    Fix: Restore the old setting. If you need the new one, run the DAG `<domain>_rebuild`
    where the message says that it is enough, or load the table under another name.
    """


class ForeignTable(StageError):
    """A table of another program is at the path of a table, or has its name in the catalogue.

    Fix: Move or rename the other table, or give the table in the spec another name. A
    foreign table or view is never overwritten.
    """


class TwoTables(StageError):
    """A renamed table has files under both of its names.

    Fix: Remove `formerly` from its spec if the tables are two. Else move the folder of the
    new name away, which was filled before the spec had `formerly`.
    """


class FormerDomainBusy(StageError):
    """A run of the domain that a table was moved from is under way.

    Fix: Start the run again when that one has ended. If it ended without giving its lease
    back, any next run of that domain takes the lease and gives it back.
    """


class DimensionMismatch(StageError):
    """The two tables of a dimension cannot be joined.

    Fix: Correct the dimension's spec, or give both tables the same type for the key
    columns.
    """


class NoSuchPartitions(StageError):
    """A run names partitions by a column that is no partition column of a product, or by a
    value that the column cannot have.

    Fix: Choose the tables whose `storage.partition_by` has the column, or correct the
    param `partitions`.
    """


class ProductMismatch(StageError):
    """The SQL of a product does not fit its inputs or the columns that its spec declares.

    Fix: Correct the SQL, or `columns` of the product's spec: the message names the column
    and both types. Build and deploy the release again if the message says so.
    """


class UndeclaredInput(StageError):
    """The SQL of a spec reads a table or file that the spec does not declare.

    Specs with such SQL are refused at the desk; nothing of it ran.

    Fix: Run `./run_locally.sh validate`, and build and deploy the release again. If the
    error stays, somebody changed the release where it lies: find out who.
    """


class WrongProductRows(StageError):
    """Rows of a product have no key or the same key, or break a quality rule.

    Nothing was written.

    Fix: Correct the SQL of the product, or the rows of its inputs. If such rows are
    expected, set `on_fail: warn` for the quality rule in the spec.
    """


class DiffersFromInputs(StageError):
    """A product has other rows than its SQL makes of its inputs.

    Fix: Find out which other program writes to the table and stop it. Then run the DAG
    `<domain>_rebuild`.
    """


class InputsGone(StageError):
    """A product cannot be verified: commits that it was built from were cleaned.

    Fix: Run the DAG `<domain>_rebuild` for the product, and verify it before its inputs
    are cleaned. To keep commits longer, raise `maintenance.keep_commits` of the inputs.
    """


class MissingFiles(StageError):
    """Files of a commit of plain Parquet are not there.

    Fix: Start the run again: another domain's cleaning may have removed the commit while
    it was read. If it is so again, run the DAG `<domain>_rebuild` for the product.
    """


class ReferenceNotBuilt(StageError):
    """A reference table of `source.enrich` has no current table.

    Fix: Run the full load of the reference table first.
    """


class StreamerNotCommitted(StageError):
    """The HoodieStreamer step did not commit the files it was given.

    Fix: Read the log of the HoodieStreamer step for the cause. The next run ingests the
    same files.
    """


class UnfinishedReprocess(StageError):
    """A reprocess was stopped before it ingested all of its snapshots again.

    Fix: Run the DAG `<domain>_reprocess` or `<domain>_incremental`: either finishes it.
    """


class SourceMoved(StageError):
    """A topic no longer has the messages that are to be pulled next.

    Fix: Take a new full load (`source.full_refresh`). If the lost messages do not matter,
    run the DAG `<domain>_incremental` with the param `accept_losses`.
    """


class LeaseLost(StageError):
    """The run no longer has the lease of its domain, so it writes nothing more.

    Fix: Start the run again. It waits until the domain is free.
    """


class WrongEraseRequest(StageError):
    """A request to erase keys is missing or not valid.

    Fix: Correct the request's JSON, write it to the path that the message names and run
    the DAG `<domain>_erase` again.
    """


class NotErasable(StageError):
    """Not every copy of the rows can be erased, so nothing was erased.

    Fix: Remove the obstacle that the message names, for example a dimension of the table
    or an unreadable landing file, and run the DAG `<domain>_erase` again.
    """


class KeysNotErased(StageError):
    """After an erase, files still have an erased key.

    Fix: Run the DAG `<domain>_erase` again with the same request.
    """


class ForeignFiles(StageError):
    """Files lie among those of a table that the pipeline did not write.

    Most come from a writer of another format, such as delta-rs or DuckDB on the Delta
    table. Hudi cannot read a table with a Parquet file that is not its own, or shows its
    rows, and an erase cannot vouch for files of others.

    Fix: Find out who writes there, and take that right away. Run the DAG
    `<domain>_maintenance` with the param `move_foreign_files`, look at what it moved, and
    delete it. Then start the run again.
    """


class NotPublished(StageError):
    """Another writer published a version of the table as Iceberg or Delta.

    Fix: Let nothing but this project write these formats of the table. The message says
    how to publish the table again.
    """


class LegacyLists(StageError):
    """Files of a merge-on-read table have lists in a form that a compaction reads as null.

    An earlier version compacted them; the table has a decimal column too.

    Fix: Run the DAG `<domain>_rebuild` for the table, which writes its rows again from the
    change log. Then run the maintenance or the erase again.
    """


class ErasedKeysLost(StageError):
    """Keys of the table were erased, and the list of erased keys is missing.

    Fix: Restore the list from the copy of the landing files, or erase the same keys again
    with the DAG `<domain>_erase`. Only then load the table.
    """


class WrongSecret(StageError):
    """A secret is missing, or is not the one expected.

    Fix: Store the secret under the name that the environment's file gives, in the form
    that the message describes.
    """


class WrongConnection(StageError):
    """The environment has no connection of the name and kind that the table needs.

    Fix: Add the connection under `connections` of the environment's file, or correct the
    name in the table's spec.
    """


class WrongCertificates(StageError):
    """The file that `ca` of a connection names is missing, or holds no certificates.

    Fix: Put a PEM file with the certificates there that signed the server's, such as
    RDS's global-bundle.pem, or correct `ca`.
    """


class ForeignConnection(StageError):
    """A table pulls from a connection that the environment lets other domains use.

    Fix: Ask those who answer for the connection to add the domain to its `domains` in the
    environment's file, or name another connection in the table's spec.
    """


class PullFailed(StageError):
    """A database or Kafka could not be read, or did not have what was asked for.

    Fix: Correct what the message names, in the source, the connection or the table's
    spec, and start the run again. What was landed before stays.
    """


_LINE = re.compile(f"(?:{BEGIN}[^{END}]*(?:{END}|$)|[^\\r\\n])+")
"""A line of a text: the breaks inside a marked value do not end it."""


def first_line(error: BaseException) -> str:
    """Return the first line of an error that says something, for reports.

    That of an error that is not ours may quote any value, so it is marked as one.
    """
    if isinstance(error, StageError):
        return _first(str(error), error, _LONGEST_OWN)
    return row_value(_first(str(error), error, _LONGEST))


_LONGEST, _LONGEST_OWN = 500, 2_000
"""Characters of a message: our own ends with what to do."""


_RAISED = re.compile(r"Traceback \(most recent call last\):(?:\n[ \t].*)*\n(.+)")
"""What Python raised on an executor: the line after those of its traceback."""


def _first(text: str, error: BaseException, longest: int) -> str:
    lines = [each.strip() for each in _LINE.findall(text) if each.strip()]
    causes = _RAISED.findall(text)
    causes = causes or [line for line in lines if line.startswith("Caused by:")]
    line = causes[-1] if causes else lines[0] if lines else type(error).__name__
    return re.sub(r"[\r\n]+", " ", line)[:longest]
