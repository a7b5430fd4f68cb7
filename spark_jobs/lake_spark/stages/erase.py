"""erase: a request's keys taken out of landing and of every table, for good.

The list of keyed hashes is first and the receipt last, so a run that was killed
anywhere is started again with the same request. docs/erase.md.
"""

from __future__ import annotations

from lake_spec.facts.landing_folders import is_own
from lake_spec.hudi.options import newest_version_options
from lake_spec.model import DimensionTable, FileTable, ProductTable
from lake_spec.state.report import State
from lake_spark.erasure import landing_files, reports, request, tables
from lake_spark.erasure.scan import scan_files
from lake_spark.erasure.subjects import Subjects, subjects
from lake_spark.errors import NotErasable, UnfinishedReprocess
from lake_spark.formats.column_names import time_column
from lake_spark.ingest import hoodie_streamer
from lake_spark.materialize import affected_keys
from lake_spark.materialize.layers import build_current, build_history
from lake_spark.profiling import profile
from lake_spark.publish.publication import begin_again
from lake_spark.scd2.key_changes import families, links_of
from lake_spark.sources.staging_folder import discard_unfinished
from lake_spark.stages.maintenance import compact_all, finish_killed
from lake_spark.stages.product import erase_of_inputs
from lake_spark.tables import whole_messages
from lake_spark.tables.table_run import FileRun, TableRun


def erase(run: TableRun, request_uri: str) -> State:
    """Erase the keys that the request names for this table; none is nothing to do.

    A product has no keys of its own to erase: it is made again of what its inputs have
    left.
    """
    if isinstance(run.spec, ProductTable):
        erase_of_inputs(run)
        if not run.dry_run:
            whole_messages.remove(run)
        return State.DONE if run.report.commits else State.NOTHING_NEW
    return _erase(run.of_kind(FileTable), request_uri)


def _erase(run: FileRun, request_uri: str) -> State:
    asked = request.read(run.store, request_uri, run.domain_tables)
    keys = asked.keys.get(run.spec.name, [])
    if not keys:
        return State.NOTHING_NEW
    _refuse_what_is_out_of_reach(run)
    of_table = subjects(run, keys, f"{request_uri}: keys.{run.spec.name}")
    secret = run.environment.erase_secret
    run.erased_keys.matcher(secret, run.erased_keys.load())  # or WrongSecret
    if run.dry_run:
        _count(run, of_table).release()
        return State.DRY_RUN
    discard_unfinished(run)  # which no listing shows
    hoodie_streamer.discard_staged(run)
    build_current(run)
    build_history(run)
    _refuse_one_of_several_keys(run, of_table)
    _from_landing(run, of_table)
    _from_tables(run, of_table)
    run.report.erasure["files_scanned"] = scan_files(run, of_table)
    return State.DONE


def _refuse_what_is_out_of_reach(run: FileRun) -> None:
    """Raise NotErasable where rows would stay, UnfinishedReprocess where more follow."""
    name, reasons = run.spec.full_name, []
    for each in run.domain_tables:
        sides = (
            (each.source.main.table, each.source.joined.table)
            if isinstance(each, DimensionTable)
            else ()
        )
        if run.spec.name in sides:
            reasons.append(f"the dimension {each.name} is made of it")
        if run.spec.name in [reference.table for reference in each.enrich]:
            reasons.append(f"the rows of {each.name} were given values of it (enrich)")
    if not is_own(run.spec):
        owner = run.spec.source.path.partition("/")[0]
        reasons.append(
            f"its landing files are of the domain {owner}, which erases them"
        )
    if time_column(run.spec):
        reasons.append("its snapshots' times are in a column (snapshot_time.column)")
    if set(run.spec.key) & set(run.spec.path_columns):
        setting = "scope.pattern" if run.spec.scope else "path_columns"
        reasons.append(f"the paths of its files have a part of the key ({setting})")
    if set(run.spec.key) <= set(run.spec.storage.partition_by):
        reasons.append("its folders are named by the key (storage.partition_by)")
    if reasons:
        raise NotErasable(
            f"{name}: {'; '.join(reasons)}, and erase does not support that. Nothing was "
            "erased."
        )
    if run.ingested_files().reprocess:
        raise UnfinishedReprocess(
            f"{name}: a reprocess is not finished. Run {run.spec.domain}_reprocess first."
        )


def _refuse_one_of_several_keys(run: FileRun, of_table: Subjects) -> None:
    """Raise NotErasable where rows changed their key and the request lacks one of them."""
    if not run.ingested_files().contents.has_key_changes:
        return
    asked = set(of_table.keys)
    others = families(asked, links_of(run.log.read())) - asked
    if others:
        raise NotErasable(
            f"{run.spec.full_name}: rows of the request had {len(others)} other key(s) "
            "before or after a change of the key, and their values are still stored. Add "
            "all keys of such a row to the request: the column lake_old_key of the change "
            "log links them. Nothing was erased."
        )


def _count(run: FileRun, of_table: Subjects) -> landing_files.SubjectRecords:
    """Count the rows of the subjects, and note where they are."""
    found = landing_files.find(run, of_table)
    of_others = run.landing_is_of_others
    run.report.erasure = {
        "keys": len(of_table.keys),
        "landing": 0 if of_others else found.count,
        **({"landing_left": found.count} if of_others else {}),
        **tables.held(run, of_table),
    }
    if of_others:
        landing_files.tell_left(run, found)
    return found


def _from_landing(run: FileRun, of_table: Subjects) -> None:
    """Make what is to be put, then the list, then put it.

    In a landing root nothing is put: the list alone keeps the rows out.
    """
    landing_files.clear(run)
    found = _count(run, of_table)
    try:
        if run.landing_is_of_others:
            run.erased_keys.add(of_table.keys, run.environment.erase_secret)
            return
        made = landing_files.make(run, found)
        run.erased_keys.add(of_table.keys, run.environment.erase_secret)
        landing_files.put(run, made, found)
    finally:
        found.release()
        landing_files.clear(run)


def _from_tables(run: FileRun, of_table: Subjects) -> None:
    for name, table in tables.begun(run):
        finish_killed(run, name, table)
    tables.erase(run, of_table)
    affected_keys.clear(run)
    for name, table in tables.tables(run):
        if tables.is_merged(run, name):
            compact_all(run, table)
        table.clean(newest_version_options())
    for _, table in tables.begun(run):
        table.drop_indexes()
    begin_again(run)
    run.report.erasure["reports"] = reports.redact(run, of_table)
    profile.remove(run)  # its values may be those of a subject
    whole_messages.remove(run)
    own = [] if run.landing_is_of_others else [run.landing]
    for folder in (*own, run.home):
        run.store.delete_old_versions(f"{folder}/")
