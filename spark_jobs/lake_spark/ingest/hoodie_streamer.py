"""Tables whose change log HoodieStreamer writes: stage its rows before, account after.

The rows are judged as for the pyspark engine, and staged as Parquet files with the
columns of the log. The streamer reads no landing file: it appends the staged rows by one
commit that carries the id of their inputs. docs/streamer.md has the whole way.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence

from pyspark.sql import DataFrame

from lake_spec.hudi.streamer_options import streamer_argv
from lake_spec.layout.glue_names import glue_name
from lake_spec.state.report import FileReport
from lake_spec.state.state_format import (
    from_fields,
    parse_state,
    state_text,
    to_fields,
)
from lake_spec.text.sql_text import sql_literal
from lake_spark.changelog.schema import log_columns
from lake_spark.errors import StreamerNotCommitted
from lake_spark.ingest import change_files
from lake_spark.ingest.batch import Batch
from lake_spark.ingest.log_commit import inputs_of
from lake_spark.landing.files import LandingFile
from lake_spark.landing.ingested_files import IngestedFiles
from lake_spark.storage.commit_values import CommitValue
from lake_spark.tables.table_run import FileRun


def prepare(
    run: FileRun, files: Sequence[LandingFile], ingested: IngestedFiles
) -> None:
    """Judge every row, keep the bad ones, and stage the others for the streamer step."""
    if not run.dry_run:
        discard_staged(run)
    change_files.take_events(run, files, ingested, _stage)


def _stage(
    run: FileRun, batch: Batch, events: DataFrame, ingested: IngestedFiles
) -> None:
    """Write the rows, then the SQL file of the step: a killed prepare has no step."""
    run.log.clear_half_made()  # HoodieStreamer would not
    id = run.ingested_files_folder.save(inputs_of(run, batch, ingested))
    accounting = state_text({"files": to_fields(batch.files)}, indent=1)
    run.store.write(_accounting_uri(run, id), accounting.encode())
    folder = f"{_staged(run)}/{id}"
    rows = run.log.as_stored(events.select(*log_columns(batch.columns)))
    # The id is that of the content: what a killed prepare of these files left is there.
    rows.write.mode("overwrite").parquet(folder)
    sql_file = f"{run.home}/inputs/{id}.sql"
    run.store.write(sql_file, _sql(folder).encode())
    run.report.commits["inputs"] = id
    run.streamer_argv = streamer_argv(
        sql_file=sql_file,
        checkpoint=id,
        base_path=run.log.path,
        table_name=glue_name(run.spec.stored_name, "changes"),
    )


def _sql(folder: str) -> str:
    """Return the SQL file: all rows of a folder, whose columns the files themselves name."""
    return (
        "CREATE OR REPLACE TEMPORARY VIEW lake_rows USING parquet OPTIONS "
        f"(path {sql_literal(folder)}, '__globPaths__' 'false');\n"
        "SELECT * FROM lake_rows\n"
    )


def discard_staged(run: FileRun) -> None:
    """Remove staged rows: those of a commit that is made, or of a run that was stopped."""
    staged = run.store.list(f"{_staged(run)}/")
    run.store.delete_all([each.uri for each in staged])


def _staged(run: FileRun) -> str:
    return f"{run.home}/staged"


def account(run: FileRun) -> bool:
    """Record what prepare counted; return whether the streamer had inputs to commit."""
    named = _prepared(run)
    if named is None:
        return False
    last = run.log.last_value(CommitValue.INPUTS)
    if last != named:
        raise StreamerNotCommitted(
            f"{run.spec.full_name}: the HoodieStreamer step did not commit its inputs {named} "
            f"(the change log's last are {last}). "
            "See its step's log for the cause. The next run ingests them."
        )
    run.report.add_files(_accounting(run, named))
    run.report.commits["changes"] = run.log.last_instant(CommitValue.INPUTS) or ""
    discard_staged(run)
    return True


def _prepared(run: FileRun) -> Optional[str]:
    """Return the id of the inputs that this run's prepare stage named, if any."""
    stage = f"prepare_{run.report.stage}"
    uri = f"{run.environment.runs}/{run.report.run}/{stage}/{run.spec.name}.json"
    try:
        report = _state(run, "the report", uri)
    except KeyError:
        return None
    commits: Dict[str, str] = report["commits"]
    return commits.get("inputs")


def _accounting(run: FileRun, named: str) -> List[FileReport]:
    """Return what prepare counted of each file."""
    uri = _accounting_uri(run, named)
    found = _state(run, "the accounting", uri)
    return [from_fields(FileReport, each) for each in found["files"]]


def _accounting_uri(run: FileRun, id: str) -> str:
    return f"{run.home}/inputs/{id}.accounting.json"


def _state(run: FileRun, what: str, uri: str) -> Dict[str, Any]:
    """Read a file of state; raise KeyError where there is none."""
    what = f"{what} of {run.spec.full_name}"
    release = run.report.release
    return parse_state(run.store.read(uri), what=what, where=uri, release=release)
