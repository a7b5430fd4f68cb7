"""Which landing files of a table no commit has ingested yet."""

from __future__ import annotations

from typing import List, Sequence

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.facts.pull_folders import pulled_folders
from lake_spec.model import FileTable
from lake_spec.text.globs import glob_pattern
from lake_spark.formats.inference import all_globs
from lake_spark.ingest.rewritten_files import compared, known_contents, refuse_lost_list
from lake_spark.ingest.set_aside import set_aside
from lake_spark.ingest.source_kind import kind_of
from lake_spark.landing.files import first_shown, LandingFile, Listing, look
from lake_spark.landing.ingested_files import IngestedFiles
from lake_spark.tables import recorded_reading
from lake_spark.tables.table_run import FileRun


def unseen_files(
    run: FileRun, ingested: IngestedFiles, globs: Sequence[str]
) -> List[LandingFile]:
    """List the landing files of the run's window that no commit has ingested."""
    return unseen_of(run, ingested, landing_of(run, globs))


def unseen_of(
    run: FileRun, ingested: IngestedFiles, landing: Listing
) -> List[LandingFile]:
    """List the files of a listing that lie in the run's window and were never ingested."""
    warn_of_others(run, landing)
    if landing.files and not ingested.count:
        refuse_lost_list(run)
    ours = known_contents(run).etags
    same = compared(run)
    found = ingested.unseen(landing.files, run.spec.domain, ours, same)
    found = dated_files(run, found)
    files = [
        file for file in found if run.window.holds(file.snapshot_at or file.landed_at)
    ]
    if files:
        warn_of_reading(run, ingested)
    return files


def landing_of(run: FileRun, globs: Sequence[str]) -> Listing:
    """List what lies below the table's landing folder; files are those of the globs."""
    return look(
        run.store,
        run.landing,
        globs,
        marker=kind_of(run.spec).completion_marker,
        pulled=pulled_folders(run.spec),
    )


def warn_of_others(run: FileRun, landing: Listing) -> None:
    """Report what no glob matches: of this table, or of others that share the folder."""
    if not landing.others:
        return
    known = [
        (f"{table.source.path}/", glob_pattern(glob))
        for table in (run.spec, *run.domain_tables)
        if isinstance(table, FileTable)
        for glob in all_globs(table)
    ]
    others = [
        path
        for path in landing.others
        if not any(
            glob.fullmatch(f"{run.spec.source.path}/{path}"[len(folder) :])
            for folder, glob in known
            if f"{run.spec.source.path}/{path}".startswith(folder)
        )
    ]
    if others:
        words = (
            f"{len(others):,} object(s) below {run.landing} match no pattern of the table "
            f"and were not ingested: {first_shown(sorted(others))}. Rename or move them, "
            "widen the glob in the spec, or begin their names with `_`."
        )
        run.report.warn(WarningId.UNMATCHED_FILES, words)


def warn_of_reading(run: FileRun, ingested: IngestedFiles) -> None:
    """Report what is read otherwise from now on, also where that sets all files aside."""
    for words in recorded_reading.differences(run.spec, ingested):
        run.report.warn(WarningId.READING_CHANGED, words)


def dated_files(run: FileRun, files: Sequence[LandingFile]) -> List[LandingFile]:
    """Return the files with the times that they are of; set aside those without."""
    found, bad = kind_of(run.spec).dated(run, files)
    for each in bad:
        set_aside(run, each)
    return found
