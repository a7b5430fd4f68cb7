"""Tables that HoodieStreamer ingests: name its inputs before, account after.

The streamer reads one SQL file over exactly the files that were named. The SQL
is made of the same expressions that the pyspark engine evaluates, so either
engine writes the same rows. docs/streamer.md has the whole way.
"""

from __future__ import annotations

from datetime import datetime
from types import MappingProxyType
from typing import Dict, List, Optional, Sequence

from pyspark.sql import DataFrame

from lake_spec.contract.glue_names import glue_name
from lake_spec.contract.jars import jars_of, step_jars
from lake_spec.contract.report import FileReport
from lake_spec.contract.state_format import (
    from_fields,
    parse_state,
    state_text,
    to_fields,
)
from lake_spec.hudi.streamer_options import streamer_argv
from lake_spec.model import Csv, Json, TableSpec
from lake_spec.text.sql_text import sql_identifier, sql_literal
from lake_spark.changelog.column_versions import Written
from lake_spark.changelog.schema import ENVELOPE, LogColumn
from lake_spark.errors import StreamerNotCommitted
from lake_spark.formats import csv_fields, csv_reader, json_reader
from lake_spark.formats.file_schema import BLOCK, ID
from lake_spark.ingest import (
    batches,
    event_expressions,
    full_refresh,
    moved_keys,
    quarantine,
    reader,
    repeated_keys,
    row_expressions,
)
from lake_spark.ingest.reader import Input
from lake_spark.ingest.rewritten_files import compared, known_contents
from lake_spark.landing.files import LandingFile
from lake_spark.landing.ingested_files import IngestedFiles
from lake_spark.schema.columns import Columns, typed
from lake_spark.tables.erased_keys import LeftOut
from lake_spark.tables.table_run import TableRun


def prepare(
    run: TableRun, files: Sequence[LandingFile], ingested: IngestedFiles
) -> None:
    """Judge every row, keep the bad ones, and name the inputs of the streamer step."""
    batch = batches.shaped(run, files, ingested)
    rows = batches.read_rows(run, batch)
    if rows is None:
        return
    try:
        batches.judge(run, batch, rows, f"{len(batch.inputs)} file(s)")
        run.report.add_files(batch.files)
        if run.dry_run:
            return
        if rows.counted.bad:
            quarantine.keep(run, rows.numbered)
        if rows.counted.repeated:
            batch.left_out = _with_repeated(batch.left_out, rows.numbered)
    finally:
        rows.release()
    _name_inputs(run, batch, ingested)


def _with_repeated(left_out: LeftOut, rows: DataFrame) -> LeftOut:
    """Return the records that are left out with those of keys that are not unique.

    The streamer judges each row by itself, which cannot say so.
    """
    found = repeated_keys.records(rows)
    paths = {*left_out, *found}
    return {path: [*left_out.get(path, ()), *found.get(path, ())] for path in paths}


def _name_inputs(run: TableRun, batch: batches.Batch, ingested: IngestedFiles) -> None:
    inputs = batches.inputs_of(run, batch, ingested)
    id = run.ingested_files_folder.save(inputs)
    accounting = state_text({"files": to_fields(batch.files)}, indent=1)
    run.store.write(_accounting_uri(run, id), accounting.encode())
    sql_file = f"{run.home}/inputs/{id}.sql"
    written = run.log.written(typed([*ENVELOPE, *batch.columns]))
    left_out = batch.left_out
    text = batch_sql(run.spec, batch.inputs, batch.columns, written, left_out)
    run.store.write(sql_file, text.encode())
    run.report.commits["inputs"] = id
    run.log.clear_half_made()  # HoodieStreamer would not
    run.streamer_argv = streamer_argv(
        sql_file=sql_file,
        checkpoint=id,
        base_path=run.log.path,
        table_name=glue_name(run.spec.stored_name, "changes"),
        jars=step_jars(jars_of([run.spec])),
    )


def account(run: TableRun, globs: Sequence[str]) -> bool:
    """Record what prepare counted; return whether the streamer had inputs to commit.

    A file that was replaced before the streamer read it is refused by name.
    """
    named = _prepared(run)
    if named is None:
        return False
    last = run.log.last_value("inputs")
    if last != named:
        raise StreamerNotCommitted(
            f"{run.spec.full_name}: the HoodieStreamer step did not commit its inputs {named} "
            f"(the change log's last are {last}). "
            "See its step's log for the cause. The next run ingests them."
        )
    inputs = run.ingested_files_folder.load(named)
    landing = batches.landing_of(run, globs).files
    ours, same = known_contents(run).etags, compared(run)
    inputs.unseen(landing, run.spec.domain, ours, same)
    run.report.add_files(_accounting(run, named))
    run.report.commits["changes"] = run.log.last_instant("inputs") or ""
    return True


def _prepared(run: TableRun) -> Optional[str]:
    """Return the id of the inputs that this run's prepare stage named, if any."""
    stage = f"prepare_{run.report.stage}"
    uri = f"{run.environment.runs}/{run.report.run}/{stage}/{run.spec.name}.json"
    try:
        report = parse_state(run.store.read(uri), **_origin(run, "the report", uri))
    except KeyError:
        return None
    return report["commits"].get("inputs")


def _accounting(run: TableRun, named: str) -> List[FileReport]:
    """Return what prepare counted of each file."""
    uri = _accounting_uri(run, named)
    found = parse_state(run.store.read(uri), **_origin(run, "the accounting", uri))
    return [from_fields(FileReport, each) for each in found["files"]]


def _accounting_uri(run: TableRun, id: str) -> str:
    return f"{run.home}/inputs/{id}.accounting.json"


def _origin(run: TableRun, what: str, uri: str) -> Dict[str, str]:
    what = f"{what} of {run.spec.full_name}"
    return {"what": what, "where": uri, "release": run.report.release}


def batch_sql(
    spec: TableSpec,
    inputs: Sequence[Input],
    columns: Columns,
    written: Sequence[Written],
    left_out: LeftOut = MappingProxyType({}),
) -> str:
    """Return the SQL file: a view per landing file, then the accepted rows of all.

    Records of erased keys are left out by their numbers: a file shows no key.
    """
    views = [_view(spec, each, f"lake_in_{i}") for i, each in enumerate(inputs)]
    typed = [
        _typed(spec, each, columns, f"lake_in_{i}") for i, each in enumerate(inputs)
    ]
    accepted = _accepted(spec, "\nUNION ALL\n".join(typed), columns, left_out)
    rows = f"SELECT {_stored(written)} FROM ({accepted})"
    # An empty branch first: it makes every column nullable and fixes the types.
    whole = f"{_no_rows(written)}\nUNION ALL\n{rows}"
    markers = full_refresh.markers_sql(spec, inputs)
    if markers is not None:
        nulls = [f"CAST(NULL AS {t}) AS {sql_identifier(n)}" for n, t in columns]
        marked = f"SELECT {', '.join(['*', *nulls])} FROM ({markers})"
        whole += f"\nUNION ALL\nSELECT {_stored(written)} FROM ({marked})"
    return ";\n".join([*views, whole]) + "\n"


def _view(spec: TableSpec, each: Input, name: str) -> str:
    options: Dict[str, str] = reader.reader_options(spec)
    pairs = [f"path {sql_literal(each.file.uri)}"]
    pairs += [
        f"{sql_literal(key)} {sql_literal(value)}" for key, value in options.items()
    ]
    schema, kind = reader.read_schema(spec, each.shape), spec.source.format.type
    if _is_taken_apart(spec, each):
        schema, kind = "value string", "text"
    return (
        f"CREATE OR REPLACE TEMPORARY VIEW {name} ({schema}) "
        f"USING {kind} OPTIONS ({', '.join(pairs)})"
    )


def _is_taken_apart(spec: TableSpec, each: Input) -> bool:
    """Return whether the file is read as text, which expressions take apart."""
    kind = spec.source.format
    if isinstance(kind, Csv):
        return kind.has_own_fields
    return isinstance(kind, Json) and not each.shape.plain


def _no_rows(written: Sequence[Written]) -> str:
    nulls = [
        f"CAST(NULL AS {each.kind.text}) AS {sql_identifier(each.place)}"
        for each in written
    ]
    return f"SELECT {', '.join(nulls)} WHERE false"


def _typed(spec: TableSpec, each: Input, columns: Columns, view: str) -> str:
    """Return the typed rows of one file, in an order that its record numbers follow."""
    columns_of_file = ", ".join(each.shape.unwrap) or "*"
    records, kind = view, spec.source.format
    if _is_taken_apart(spec, each):
        query = (
            csv_fields.from_view(kind, each.shape, view)
            if isinstance(kind, Csv)
            else json_reader.from_view(each.shape, view)
        )
        records = f"({query})"
    elif isinstance(kind, Csv):
        as_they_stand = ", ".join(csv_reader.record_columns(each.shape))
        is_record = csv_reader.is_record(each.shape)
        records = f"(SELECT {as_they_stand} FROM {view} WHERE {is_record})"
    located = (
        f"SELECT {columns_of_file}, input_file_block_start() AS {BLOCK}, "
        f"monotonically_increasing_id() AS {ID} FROM {records}"
    )
    corrupt = reader.has_corrupt(spec)
    row = {
        **row_expressions.source_row(spec, each.shape, columns, with_corrupt=corrupt),
        **dict(zip(spec.path_columns, map(sql_literal, each.path_values))),
        **_facts(each),
        "lake_block": BLOCK,
        "lake_id": ID,
    }
    placed = event_expressions.placed_row(spec, each.shape, columns)
    # Other files have other columns, and the rows of all are put together.
    names = [sql_identifier(name) for name in row if name != "lake_record_struct"]
    return (
        f"SELECT {', '.join([*names, *row_expressions.selected(placed)])} FROM "
        f"(SELECT {', '.join(row_expressions.selected(row))} FROM ({located}))"
    )


def _accepted(spec: TableSpec, typed: str, columns: Columns, left_out: LeftOut) -> str:
    """Return rows of the change log: numbered, keyed, and only those without a fault."""
    number = "row_number() OVER (PARTITION BY lake_path ORDER BY lake_block, lake_id)"
    keyed = ["*", *event_expressions.envelope_columns(spec, columns)]
    keyed.append(f"CAST({number} AS bigint) AS lake_record")
    reason = event_expressions.reason(spec, with_corrupt=reader.has_corrupt(spec))
    rows = (
        f"SELECT *, {reason} AS lake_reason FROM "
        f"(SELECT {', '.join(keyed)} FROM (\n{typed}\n))"
    )
    good = [f"SELECT * FROM ({rows}) WHERE lake_reason IS NULL AND lake_no_row IS NULL"]
    for path, numbers in left_out.items():
        listed = ", ".join(map(str, numbers))
        good.append(
            f"NOT (lake_path = {sql_literal(path)} AND lake_record IN ({listed}))"
        )
    return moved_keys.events_sql(spec, " AND ".join(good), columns)


def _stored(written: Sequence[Written]) -> str:
    return ", ".join(each.expression for each in written)


def _facts(each: Input) -> Dict[str, str]:
    file = each.file
    return {
        LogColumn.PATH: sql_literal(file.path),
        LogColumn.POSITION: sql_literal(file.position),
        LogColumn.ETAG: sql_literal(file.etag),
        LogColumn.LANDED_AT: _timestamp(file.landed_at),
        LogColumn.SNAPSHOT_AT: _timestamp(file.snapshot_at),
        "lake_file_rank": str(each.rank),
        "lake_file_started": _text(each.started),
    }


def _text(text: Optional[str]) -> str:
    return "CAST(NULL AS string)" if text is None else sql_literal(text)


def _timestamp(timestamp: Optional[datetime]) -> str:
    if timestamp is None:
        return "CAST(NULL AS timestamp)"
    return f"CAST({sql_literal(timestamp.isoformat())} AS timestamp)"
