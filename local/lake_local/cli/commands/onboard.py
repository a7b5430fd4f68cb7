"""Write the specs of all tables of a database, or of a folder of landing files.

  --connection NAME    a database under `connections` of the environment's file
  --jdbc-secret NAME   or a database whose secret has all of its settings, as RDS writes
                       them: engine, host, port, dbname, username, password
  --files FOLDER       or landing files, a folder per table: a folder, or s3://...

It reads the catalogue, never rows of tables, and asks no questions: guesses are marked
GUESS in the files. Existing files are not overwritten. A new domain gets its _domain.yml,
and its DAG file if its folder is in dags/tables.

Examples:
  ./run_locally.sh onboard --connection shop_db --domain shop --environment dev \\
      --kafka-connection shop_kafka --topic-prefix shop
  ./run_locally.sh onboard --jdbc-secret rds/shop --domain shop --only 'order*,customer'
  ./run_locally.sh onboard --files exports --domain shop
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from lake_spec.model import names
from lake_spec.model.choices import SecretStore

from lake_local.errors import BadRequest
from lake_local.onboard import databases, folders
from lake_local.onboard.origin import FILES, JDBC, KAFKA

NAME = "onboard"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the source, the choice of tables, and the target of the specs."""
    source = parser.add_argument_group("the source")
    one = source.add_mutually_exclusive_group(required=True)
    one.add_argument(
        "--connection", metavar="NAME", help="a connection of the environment"
    )
    one.add_argument("--jdbc-secret", metavar="NAME", help="a secret with all settings")
    one.add_argument("--files", metavar="FOLDER", help="landing files")
    stores = [each.value for each in SecretStore]
    source.add_argument(
        "--secret-store", choices=stores, default=stores[0], help="of --jdbc-secret"
    )
    source.add_argument(
        "--no-tls",
        action="store_true",
        help="--jdbc-secret: connect without encryption",
    )
    source.add_argument(
        "--environment", metavar="NAME", help="environment, or its file; default local"
    )
    source.add_argument(
        "--schema", metavar="S", help="default public, or the database of MariaDB"
    )
    source.add_argument(
        "--only", metavar="A,B*", default="", help="tables by name or pattern"
    )
    _add_ways(parser)


def _add_ways(parser: ArgumentParser) -> None:
    way = parser.add_argument_group("ingestion")
    way.add_argument(
        "--from",
        dest="way",
        choices=(KAFKA, JDBC, FILES),
        help=f"{KAFKA}: Debezium's events from topics (default with --kafka-connection),"
        f" {JDBC}: queries (default), {FILES}: Debezium's events that land as files",
    )
    way.add_argument("--kafka-connection", metavar="NAME", help="of the environment")
    way.add_argument("--topic-prefix", metavar="P", help="the connector's topic.prefix")
    specs = parser.add_argument_group("the specs")
    specs.add_argument(
        "--domain", metavar="D", required=True, help="folder of the specs"
    )
    specs.add_argument("--owner", metavar="TEAM", default="", help="owning team")
    specs.add_argument(
        "--out", metavar="DIR", type=Path, help="default --tables, else dags/tables"
    )
    specs.add_argument(
        "--check",
        action="store_true",
        help="write nothing: print where existing specs and the catalogue differ; exit"
        " code 1 if they do",
    )
    specs.add_argument("--force", action="store_true", help="overwrite existing files")


def run(args: Namespace) -> int:
    """Write the specs; return 0 if they have no mistake, else 1."""
    for fault in names.name(("--domain",), args.domain):
        raise BadRequest(f"--domain {args.domain!r}: {fault.hint}")
    for fault in names.owner(args.owner) if args.owner else ():
        raise BadRequest(f"--owner {args.owner!r}: {fault.hint}")
    if args.files:
        return folders.onboard(args)
    return databases.onboard(args)
