"""Try a product's SQL on the tables of this machine, in seconds and without Java.

It shows the rows that the SQL makes of the newest commits of its inputs, then the types of
its columns, how many rows there are, and how many found no match in joins as of a time.
Nothing is written. DuckDB runs the SQL in its own words; where it cannot, it says so.

Examples:
  ./run_locally.sh try-product clinic.daily_observations --tables data/synthea/tables
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from lake_desk.products.sql_tree import BadSql, in_duckdb
from lake_spec.layout.table_folders import layer_folder
from lake_spec.model import ProductPlan, ProductTable

from lake_local.cli import lake_tables, programs
from lake_local.cli.commands.scope import home_of, specs_of_args
from lake_local.cli.commands.sql import add_output_arguments, limit_of
from lake_local.cli.completion import complete_table, completed_by
from lake_local.errors import BadRequest, unknown
from lake_local.show.request import Layer, LayerFiles
from lake_local.show.snapshot import has_commits
from lake_local.workspace.specs import Specs
from lake_local.workspace.state_dir import StateDirectory

NAME = "try-product"
PROGRAM = "lake_local.show.product"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the product and the output's form."""
    table = parser.add_argument("product", metavar="DOMAIN.PRODUCT")
    completed_by(table, complete_table)
    add_output_arguments(parser)


def run(args: Namespace) -> int:
    """Write the rows to standard output, and what is told of them to standard error."""
    home, specs = home_of(args), specs_of_args(args)
    spec = product_of(specs, args.product)
    limit = limit_of(args.limit, args.format)
    lake_tables.require_lake(home)
    programs.by_duckdb(
        home,
        specs.project,
        PROGRAM,
        lambda: {
            "format": args.format,
            "limit": limit,
            **question(home, specs.environment.warehouse, spec),
        },
    )
    return 0


def product_of(specs: Specs, name: str) -> ProductTable:
    """Return a product with its plan. Raises BadRequest for another table, or mistakes."""
    products = {
        table.full_name: table
        for domain in specs.planned_domains()
        for table in domain.tables
        if isinstance(table, ProductTable)
    }
    if name not in products:
        raise BadRequest(unknown("product", name, list(products)))
    return products[name]


def question(
    home: StateDirectory, warehouse: str, spec: ProductTable
) -> dict[str, Any]:
    """Return what the program is asked. Raises BadRequest where an input has no rows."""
    plan = spec.source.plan
    assert isinstance(plan, ProductPlan)  # of planned domains
    folders = {
        each.view: layer_folder(warehouse, each.folder_of, each.layer.value)
        for each in plan.inputs
    }
    files = lake_tables.files_of(home, set(folders.values()))
    for each in plan.inputs:
        if not has_commits(files[folders[each.view]]):
            raise BadRequest(lake_tables.no_rows(each.table, Layer(each.layer.value)))
    try:
        sql = in_duckdb(plan.sql)
    except BadSql as error:
        raise BadRequest(
            f"{spec.full_name}: DuckDB has no SQL for it: {error.message}. Build it by"
            f" Spark: ./run_locally.sh run {spec.domain}_products"
        ) from None
    return {
        "name": spec.full_name,
        "sql": sql,
        "views": {
            each.view: vars(
                LayerFiles(files[folders[each.view]], each.table, each.layer.value)
            )
            for each in plan.inputs
        },
        "columns": {name: column.type for name, column in spec.columns},
        "key": list(spec.key),
        "time_joins": [(each.table, each.column) for each in plan.time_joins],
    }
