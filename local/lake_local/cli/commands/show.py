"""Print rows of a table: now, as of a commit, valid at a time, or changed between two.

  --as-of T        the table as it was stored at T (a commit, or a time in UTC)
  --valid-at T     the versions of the history that were valid at T
  --between A B    rows that commits after A, up to B, inserted, updated or deleted
  --where SQL      one condition, such as "nationality = 'Dutch'"
  --engine NAME    duckdb reads the newest commit in a second; spark reads by Hudi itself,
                   also as of other times. Without it duckdb does what it can; write --where
                   in the SQL of the engine that reads
  --through NAME   read what `storage.readable_as` publishes, as other engines do: iceberg
                   by pyiceberg, delta by delta-rs, duckdb by DuckDB

Examples:
  ./run_locally.sh show moma.artists --where "display_name like 'Ana %'"
  ./run_locally.sh show moma.artists --layer history --valid-at 2016-04-01 --count
  ./run_locally.sh show moma.artists --through duckdb --limit 5
  ./run_locally.sh show moma.artists --columns constituent_id display_name \\
      --format csv -o artists.csv
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from lake_spec.layout.table_folders import layer_folder
from lake_spec.model import DimensionTable, ProductTable, TableSpec, VersionedTable

from lake_local.cli import lake_tables, programs
from lake_local.cli.commands.scope import home_of, specs_of_args
from lake_local.cli.commands.sql import limit_of
from lake_local.cli.completion import complete_table, completed_by
from lake_local.cli.programs import NeedsSpark
from lake_local.errors import BadRequest
from lake_local.show.instants import instant, utc
from lake_local.show.request import Engine, Format, Layer, Request, Through, Validity
from lake_local.show.snapshot import has_commits
from lake_local.text import progress
from lake_local.workspace.specs import Specs
from lake_local.workspace.state_dir import StateDirectory

NAME = "show"
# Hudi's own columns, and where rows are for readers also the lake's.
HIDDEN = {
    Layer.CURRENT: ("_hoodie_", "lake_"),
    Layer.HISTORY: ("_hoodie_", "lake_"),
    Layer.CHANGES: ("_hoodie_",),
    Layer.QUARANTINE: ("_hoodie_",),
}


def add_arguments(parser: ArgumentParser) -> None:
    """Add the table, the choice of rows, and the output's form."""
    table = parser.add_argument("table", metavar="DOMAIN.TABLE")
    completed_by(table, complete_table)
    which = parser.add_argument_group("rows")
    layers = [each.value for each in Layer]
    which.add_argument("--layer", choices=layers, help="default current")
    times = which.add_mutually_exclusive_group()
    times.add_argument("--as-of", metavar="T", help="rows as stored at this time")
    times.add_argument(
        "--between", nargs=2, metavar=("A", "B"), help="rows that changed"
    )
    which.add_argument("--valid-at", metavar="T", help="history that was valid then")
    which.add_argument("--where", metavar="SQL", help="one condition")
    readers = [each.value for each in Through]
    which.add_argument(
        "--through", choices=readers, default=Through.HUDI.value, help="default hudi"
    )
    engines = [each.value for each in Engine]
    which.add_argument("--engine", choices=engines, help="default duckdb, see above")
    which.add_argument(
        "--limit", type=int, metavar="N", help="default 20 for a table, 0 means all"
    )
    how = parser.add_argument_group("output")
    how.add_argument(
        "--columns", nargs="+", metavar="NAME", help="default all but technical ones"
    )
    how.add_argument("--count", action="store_true", help="print only their number")
    formats = [each.value for each in Format]
    how.add_argument("--format", choices=formats, default=Format.TABLE.value)
    how.add_argument(
        "-o", dest="output", metavar="FILE", type=Path, help="write to a file"
    )


def run(args: Namespace) -> int:
    """Write the rows to standard output or to a file."""
    specs = specs_of_args(args)
    asked = request_of(args, specs)
    home = home_of(args)
    if engine_of(args) is Engine.DUCKDB:
        try:
            _written(asked, args.output, lambda it: _by_duckdb(home, specs, it))
            return 0
        except NeedsSpark as error:
            if args.engine:
                raise
            progress(f"{str(error).partition('. ')[0]}: Spark reads it")
    _written(asked, args.output, lambda it: _by_emulator(home, specs, it))
    return 0


def engine_of(args: Namespace) -> Engine | None:
    """Return what reads Hudi's own files; None where what is published is read.

    Raises BadRequest where the engine cannot answer what is asked for.
    """
    if args.through != Through.HUDI.value:
        if args.engine:
            raise BadRequest(
                f"--engine {args.engine} with --through {args.through}: that reader has no"
                " engine. Leave out one of the two."
            )
        return None
    times = [
        f"--{n}" for n, v in (("as-of", args.as_of), ("between", args.between)) if v
    ]
    if not times:
        return Engine(args.engine or Engine.DUCKDB)
    if args.engine == Engine.DUCKDB.value:
        raise BadRequest(
            f"--engine duckdb with {times[0]}: it reads the newest commit alone. Leave"
            " --engine out."
        )
    return Engine.SPARK


def request_of(args: Namespace, specs: Specs) -> Request:
    """Return the request of the arguments. Raises BadRequest for one that is not valid."""
    table = specs.table(args.table)
    layer = _layer(args)
    _require_file(args)
    _require_published_layer(args, layer)
    _require_hudi(args, table)
    if isinstance(table, DimensionTable):
        _require_layer_of_dimension(table, layer)
    elif isinstance(table, ProductTable) and layer is not Layer.CURRENT:
        names = ", ".join(table.source.reads)
        raise BadRequest(
            f"{table.full_name} is a product and has no {layer.value}. Show its current, or"
            f" the {layer.value} of what it reads: {names}."
        )
    valid = None
    if args.valid_at and isinstance(table, VersionedTable):
        valid = _validity(args.valid_at, table)
    return Request(
        table=table.full_name,
        layer=layer.value,
        path=layer_folder(specs.environment.warehouse, table.stored_as, layer.value),
        order=order_of(table, layer),
        as_of=_instant("--as-of", args.as_of) if args.as_of else None,
        between=_between(args.between) if args.between else None,
        valid=valid,
        where=args.where,
        columns=_columns(args.columns),
        hidden=HIDDEN[layer],
        limit=limit_of(args.limit, args.format),
        count=args.count,
        format=args.format,
        through=args.through,
        is_plain=table.storage.is_plain,
    )


def order_of(table: TableSpec, layer: Layer) -> tuple[str, ...]:
    """Return the columns by which a layer's rows are sorted."""
    if layer is Layer.QUARANTINE:
        return ("lake_path", "lake_record")
    if layer is Layer.HISTORY and isinstance(table, VersionedTable):
        return (*table.key, table.history.columns.valid_from)
    if layer is Layer.CHANGES:
        return (*table.key, "lake_position", "lake_record")
    return table.key


def _by_duckdb(home: StateDirectory, specs: Specs, asked: Request) -> None:
    lake_tables.require_lake(home)

    def files() -> dict[str, str]:
        return lake_tables.files_of(home, [asked.path])[asked.path]

    if not has_commits(files()):
        return _without_rows(asked)
    programs.by_duckdb(
        home,
        specs.project,
        "lake_local.show.readers",
        lambda: {"requests": [asdict(replace(asked, files=files()))]},
    )


def _by_emulator(home: StateDirectory, specs: Specs, asked: Request) -> None:
    """Let Spark, or a reader of what is published, read by the emulator's S3."""
    from lake_local.cli import query  # slow to start, with all that runs the emulator

    if not query.answer(home, specs, asked):
        _without_rows(asked)


def _without_rows(asked: Request) -> None:
    """Write nothing of a quarantine that was never written; BadRequest for other layers."""
    words = lake_tables.no_rows(asked.table, Layer(asked.layer))
    if asked.layer != Layer.QUARANTINE.value:
        raise BadRequest(words)
    _write_nothing(asked)


def _write_nothing(asked: Request) -> None:
    if asked.format == Format.PARQUET.value:
        raise BadRequest(
            f"{asked.table} has no quarantined rows, so a Parquet file of them would have no"
            " columns. Nothing was written. Use --format csv, which writes an empty file."
        )
    progress(f"{asked.table} has no quarantined rows")
    text = "0\n" if asked.count else "[]\n" if asked.format == "json" else ""
    if asked.output:
        Path(asked.output).write_text(text, encoding="utf-8")
    else:
        print(text, end="")


def _written(asked: Request, file: Path | None, ask: Callable[[Request], None]) -> None:
    """Write the file whole, if one is named: a failed query leaves the old one unchanged."""
    if file is None:
        return ask(asked)
    target = file.expanduser().absolute()
    if not target.parent.is_dir():
        raise BadRequest(
            f"-o {file}: no such folder {target.parent}. Create it, or write to another."
        )
    part = target.with_name(f".{target.name}.part")
    try:
        ask(replace(asked, output=str(part)))
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def _layer(args: Namespace) -> Layer:
    if args.valid_at and args.layer not in (None, Layer.HISTORY.value):
        raise BadRequest(
            f"--valid-at with --layer {args.layer}: only the history has valid times. Remove"
            " --layer, or write --layer history."
        )
    default = Layer.HISTORY if args.valid_at else Layer.CURRENT
    return Layer(args.layer) if args.layer else default


def _require_published_layer(args: Namespace, layer: Layer) -> None:
    """Raise BadRequest where only Hudi has what is asked for."""
    if args.through == Through.HUDI.value:
        return
    if layer is Layer.QUARANTINE:
        raise BadRequest(
            f"--through {args.through}: the quarantine of {args.table} is kept as Hudi"
            " only. Leave --through out."
        )
    if args.between:
        raise BadRequest(
            f"--through {args.through}: --between is answered by Hudi only, which knows the"
            " commit of each row. Leave --through out."
        )


def _require_hudi(args: Namespace, table: TableSpec) -> None:
    """Raise BadRequest where plain Parquet cannot say what is asked for."""
    if not table.storage.is_plain:
        return
    if args.between:
        raise BadRequest(
            f"{table.full_name} is plain Parquet, which does not say when a row was"
            " written. Use --as-of with the one time, then with the other."
        )
    if args.through != Through.HUDI.value:
        raise BadRequest(
            f"{table.full_name} is plain Parquet, and is not published as anything else."
            " Leave --through out."
        )


def _require_layer_of_dimension(table: DimensionTable, layer: Layer) -> None:
    if layer in (Layer.CURRENT, Layer.HISTORY):
        return
    sides = (table.source.main, table.source.joined)
    names = " and ".join(f"{table.domain}.{side.table}" for side in sides)
    raise BadRequest(
        f"{table.full_name} is a dimension and has no {layer.value}. Show those of {names}."
    )


def _require_file(args: Namespace) -> None:
    """Raise BadRequest for Parquet without a file of rows."""
    if args.format != Format.PARQUET.value:
        return
    if args.count:
        raise BadRequest(
            "--format parquet with --count: a number is not written as Parquet. Remove one"
            " of the two."
        )
    if args.output is None:
        raise BadRequest(
            "--format parquet: Parquet is not written to the terminal. Add -o FILE."
        )


def _between(pair: list[str]) -> tuple[str, str]:
    since, until = (_instant("--between", each) for each in pair)
    if since >= until:
        raise BadRequest(
            f"--between {pair[0]} {pair[1]}: the first time is not before the second. Write"
            " the earlier one first."
        )
    return since, until


def _instant(option: str, text: str) -> str:
    try:
        return instant(text)
    except ValueError:
        raise BadRequest(
            f"{option}: not a valid timestamp: {text!r}. Write a commit's time, or a time in"
            " UTC such as 2026-01-31 or 2026-01-31T06:30:00."
        ) from None


def _validity(text: str, table: VersionedTable) -> Validity:
    try:
        at = utc(text)
    except ValueError:
        raise BadRequest(
            f"--valid-at: not a valid timestamp: {text!r}. Write a time in UTC such as"
            " 2016-04-01 or 2016-04-01T12:00:00."
        ) from None
    names = table.history.columns
    return Validity(at.isoformat(), names.valid_from, names.valid_to, names.is_deleted)


def _columns(asked: list[str] | None) -> tuple[str, ...]:
    names = (name.strip() for each in asked or () for name in each.split(","))
    return tuple(name for name in names if name)
