"""Capture the changes of a PostgreSQL database into Kafka topics, until Ctrl-C.

It starts Kafka, Kafka Connect and a connector of Debezium for the tables of a domain that
are fed by topics, on ports of this machine alone. The broker's port is that of the
environment's connection, the login that of its secret. What the database lacks for it is
refused with the statements that add it. Topics and positions stay for the next start.

Examples:
  ./run_locally.sh connect shop
  ./run_locally.sh connect shop --connection shop_db
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from lake_local.capture import servers
from lake_local.capture.readiness import require_ready
from lake_local.capture.request import Capture, capture_of
from lake_local.cli.commands.scope import home_of, specs_of_args
from lake_local.errors import BadRequest
from lake_local.onboard.secret import BadSecret, server_of
from lake_local.onboard.server import Server
from lake_local.stack import session
from lake_local.text import progress
from lake_local.workspace.command_line import short, typed
from lake_local.workspace.specs import Specs
from lake_local.workspace.state_dir import StateDirectory

NAME = "connect"
HELP = "capture a PostgreSQL database's changes into topics, until Ctrl-C"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the domain, and the database if there are several."""
    parser.add_argument("domain", metavar="DOMAIN")
    parser.add_argument(
        "--connection",
        metavar="NAME",
        default="",
        help="the database, of the environment; default: its only PostgreSQL",
    )


def run(args: Namespace) -> int:
    """Check specs and database, capture until an interrupt, which is no failure."""
    home, specs = home_of(args), specs_of_args(args)
    capture = capture_of(specs, args.domain, args.connection)
    servers.require_installed()
    database = _login(home, specs, capture)
    require_ready(specs.project, capture, database)
    progress("starting Kafka and Kafka Connect")
    with servers.running(home, capture, database) as running:
        for line in _lines(home, specs, running):
            print(line, flush=True)
        try:
            running.watch()
        except KeyboardInterrupt:
            progress("stopping")
    progress(
        f"The replication slot {capture.name} makes PostgreSQL keep its log for the next"
        " start. If there will be none, run there: SELECT"
        f" pg_drop_replication_slot('{capture.name}');"
    )
    return 0


def _login(home: StateDirectory, specs: Specs, capture: Capture) -> Server:
    """Return the database with the login of its secret. Raises BadRequest."""
    with session.opened(home, specs, who=f"connect {capture.domain}") as opened:
        try:
            return server_of(opened.aws, capture.database)
        except BadSecret as error:
            hint = typed(f"secret set {capture.database.secret}", home=home)
            raise BadRequest(f"{error} To store it: {hint}") from None


def _lines(home: StateDirectory, specs: Specs, running: servers.Running) -> list[str]:
    capture = running.capture
    place = f"{capture.database.host}:{capture.database.port}"
    command = f"run {capture.domain}_incremental"
    return [
        f"Database  {capture.database.database} at {place}",
        f"Kafka     {running.broker.bootstrap_servers}",
        f"Connect   {running.worker.url}",
        *(f"Topic     {each}" for each in capture.topics),
        f"Logs      {short(running.worker.log)}",
        "Changes are captured until Ctrl-C.",
        "Next, in another terminal:",
        f"  {typed(command, home=home, tables=specs.tables)}",
    ]
