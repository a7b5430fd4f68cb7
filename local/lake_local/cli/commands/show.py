"""Print rows of a table: now, as of a commit, valid at a time, or changed between two.

  --as-of T        the table as it was stored at T (a commit, or a time in UTC)
  --valid-at T     the versions of the history that were valid at T
  --between A B    rows that commits after A, up to B, inserted, updated or deleted
  --where SQL      one condition in Spark SQL, such as "nationality = 'Dutch'"
  --through NAME   read what `storage.readable_as` publishes, as other engines do: iceberg
                   by pyiceberg, delta by delta-rs, duckdb by DuckDB; no Java runs, and
                   --where is DuckDB's SQL

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
from dataclasses import replace
from pathlib import Path

from lake_spec.layout.published_tables import (
    DELTA_FOLDER,
    ICEBERG_FOLDER,
    iceberg_location,
)
from lake_spec.layout.table_folders import COMMITS, layer_folder
from lake_spec.model import ReadableAs, TableSpec

from lake_local.cli import query
from lake_local.cli.commands.scope import home_of, specs_of_args
from lake_local.errors import BadRequest
from lake_local.show.instants import instant, utc
from lake_local.show.request import Format, Layer, Request, Through, Validity
from lake_local.stack import objects, session
from lake_local.stack.session import Session
from lake_local.text import progress
from lake_local.workspace.specs import Specs

NAME = "show"
TABLE_LIMIT = 20
# Hudi's own columns, and where rows are for readers also the lake's.
HIDDEN = {
    Layer.CURRENT: ("_hoodie_", "lake_"),
    Layer.HISTORY: ("_hoodie_", "lake_"),
    Layer.CHANGES: ("_hoodie_",),
    Layer.QUARANTINE: ("_hoodie_",),
}

FORMATS = {
    Through.ICEBERG: (ReadableAs.ICEBERG,),
    Through.DELTA: (ReadableAs.DELTA,),
    Through.DUCKDB: (ReadableAs.ICEBERG, ReadableAs.DELTA),
}
"""What each reader without Hudi takes, the first one that is published."""
METADATA: dict[ReadableAs, Callable[[str], str]] = {
    ReadableAs.ICEBERG: lambda folder: f"{iceberg_location(folder)}/{ICEBERG_FOLDER}/",
    ReadableAs.DELTA: lambda folder: f"{folder}/{DELTA_FOLDER}/",
}
"""Where the metadata of a format lies, by the folder of the table."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the table, the choice of rows, and the output's form."""
    parser.add_argument("table", metavar="DOMAIN.TABLE")
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
    who = f"show {args.table}"
    asked = request_of(args, specs)
    with session.opened(home_of(args), specs, who=who) as opened:
        if args.output:
            _into_file(opened, asked, args.output)
        else:
            _ask(opened, asked)
    return 0


def request_of(args: Namespace, specs: Specs) -> Request:
    """Return the request of the arguments. Raises BadRequest for one that is not valid."""
    table = specs.table(args.table)
    layer = _layer(args)
    _require_file(args)
    _require_published_layer(args, layer)
    _require_hudi(args, table)
    if table.is_dimension:
        _require_layer_of_dimension(table, layer)
    elif table.is_product and layer is not Layer.CURRENT:
        names = ", ".join(table.product.reads)
        raise BadRequest(
            f"{table.full_name} is a product and has no {layer.value}. Show its current, or"
            f" the {layer.value} of what it reads: {names}."
        )
    return Request(
        table=table.full_name,
        layer=layer.value,
        path=layer_folder(specs.environment.warehouse, table.stored_as, layer.value),
        order=order_of(table, layer),
        as_of=_instant("--as-of", args.as_of) if args.as_of else None,
        between=_between(args.between) if args.between else None,
        valid=_validity(args.valid_at, table) if args.valid_at else None,
        where=args.where,
        columns=_columns(args.columns),
        hidden=HIDDEN[layer],
        limit=_limit(args),
        count=args.count,
        format=args.format,
        through=args.through,
        is_plain=table.storage.is_plain,
    )


def order_of(table: TableSpec, layer: Layer) -> tuple[str, ...]:
    """Return the columns by which a layer's rows are sorted."""
    if layer is Layer.QUARANTINE:
        return ("lake_path", "lake_record")
    if layer is Layer.HISTORY:
        return (*table.key, table.history.columns.valid_from)
    if layer is Layer.CHANGES:
        return (*table.key, "lake_position", "lake_record")
    return table.key


def _ask(opened: Session, asked: Request) -> None:
    if asked.through != Through.HUDI.value:
        asked = replace(asked, published=_published(opened, asked))
        progress(f"reading {asked.table} {asked.layer} as {asked.published}")
        query.ask(opened, [asked])
    elif objects.exists_under(
        opened.aws("s3"), f"{asked.path}/{COMMITS if asked.is_plain else '.hoodie'}/"
    ):
        progress(f"reading {asked.table} {asked.layer}")
        query.ask(opened, [asked])
    elif asked.layer != Layer.QUARANTINE.value:
        domain = asked.table.split(".")[0]
        raise BadRequest(
            f"{asked.table} has no {asked.layer} yet. Land files (./run_locally.sh put) and"
            f" load them: ./run_locally.sh run {domain}_full_load"
        )
    else:
        _write_nothing(asked)


def _published(opened: Session, asked: Request) -> str:
    """Return the format to read; BadRequest where the table has none of the reader's."""
    s3 = opened.aws("s3")
    formats = FORMATS[Through(asked.through)]
    for each in formats:
        if objects.exists_under(s3, METADATA[each](asked.path)):
            return each.value
    domain, name = asked.table.split(".")
    wanted = formats[0].value
    spec = opened.specs.table(asked.table)
    if set(formats) & set(spec.storage.formats):
        remedy = f"Run it once more: ./run_locally.sh run {domain}_incremental"
    else:
        remedy = (
            f"Write `storage: {{readable_as: [{wanted}]}}` in {domain}/{name}.yml, then"
            f" run: ./run_locally.sh run {domain}_incremental"
        )
    names = " or ".join(each.value for each in formats)
    place = " or ".join(METADATA[each](asked.path) for each in formats)
    raise BadRequest(
        f"{asked.table} {asked.layer} is not published as {names}: there is no object"
        f" below {place}. {remedy}"
    )


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


def _into_file(opened: Session, asked: Request, file: Path) -> None:
    """Write the file whole: a failed query leaves the old file unchanged."""
    target = file.expanduser().absolute()
    if not target.parent.is_dir():
        raise BadRequest(
            f"-o {file}: no such folder {target.parent}. Create it, or write to another."
        )
    part = target.with_name(f".{target.name}.part")
    try:
        _ask(opened, replace(asked, output=str(part)))
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


def _require_layer_of_dimension(table: TableSpec, layer: Layer) -> None:
    if layer in (Layer.CURRENT, Layer.HISTORY):
        return
    sides = (table.dimension.main, table.dimension.joined)
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


def _validity(text: str, table: TableSpec) -> Validity:
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


def _limit(args: Namespace) -> int:
    if args.limit is None:
        return TABLE_LIMIT if args.format == Format.TABLE.value else 0
    if args.limit < 0:
        raise BadRequest(
            f"--limit: got {args.limit}. Write a number of rows, or 0 for all."
        )
    limit: int = args.limit
    return limit
