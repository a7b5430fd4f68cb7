"""Capture the changes of a PostgreSQL database into Kafka topics, until Ctrl-C.

It starts Kafka, Kafka Connect and a connector of Debezium for the tables of a domain that
are fed by topics, on ports of this machine alone. The broker's port is that of the
environment's connection, the login that of its secret. What the database lacks for it is
refused with the statements that add it. Topics and positions stay for the next start, and
the replication slot: `status` shows it, and --drop-slot drops it.

Examples:
  ./run_locally.sh connect shop
  ./run_locally.sh connect shop --connection shop_db
  ./run_locally.sh connect shop --drop-slot
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import suppress

from lake_local.capture import readiness, servers, slots
from lake_local.capture.readiness import require_ready
from lake_local.capture.request import Capture, capture_of
from lake_local.cli.commands.scope import home_of, specs_of_args
from lake_local.errors import BadRequest, LakeLocalError
from lake_local.onboard.secret import BadSecret, server_of
from lake_local.onboard.server import Server
from lake_local.stack import session
from lake_local.text import progress
from lake_local.workspace.command_line import short, typed
from lake_local.workspace.specs import Specs
from lake_local.workspace.state_dir import StateDirectory

NAME = "connect"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the domain, and the database if there are several."""
    parser.add_argument("domain", metavar="DOMAIN")
    parser.add_argument(
        "--connection",
        metavar="NAME",
        default="",
        help="the database, of the environment; default: its only PostgreSQL",
    )
    parser.add_argument(
        "--slot",
        metavar="NAME",
        default="",
        help="of the replication slot; default: lake_DOMAIN",
    )
    parser.add_argument(
        "--drop-slot",
        action="store_true",
        help="drop the slot that was made from here, capture nothing",
    )


def run(args: Namespace) -> int:
    """Check specs and database, capture until an interrupt, which is no failure."""
    home, specs = home_of(args), specs_of_args(args)
    capture = capture_of(specs, args.domain, args.connection, args.slot)
    if args.drop_slot:
        return _drop_slot(home, specs, capture)
    servers.require_installed()
    database = _login(home, specs, capture)
    slots.require_own(
        home, slots.slot_of(capture), require_ready(specs.project, capture, database)
    )
    progress("starting Kafka and Kafka Connect")
    try:
        with servers.running(home, capture, database) as running:
            for line in _lines(home, specs, running):
                print(line, flush=True)
            try:
                running.watch(_Look(home, specs, capture, database))
            except KeyboardInterrupt:
                progress("stopping")
    finally:  # whatever ended it, the slot is there
        for slot in slots.known(home):
            if slot.domain == capture.domain:
                progress(slots.what_stays(slot, home))
    return 0


def _drop_slot(home: StateDirectory, specs: Specs, capture: Capture) -> int:
    """Drop a slot that was made from this state directory. Raises BadRequest for others."""
    wanted = slots.slot_of(capture)
    if not slots.is_own(home, wanted):
        raise BadRequest(
            f"connect {capture.domain}: no replication slot {wanted.name} of"
            f" {wanted.server} was made from {home.root}. `status` shows those that were."
        )
    database = _login(home, specs, capture)
    was_there = readiness.drop(specs.project, capture, database)
    slots.forget(home, wanted)
    print("dropped" if was_there else f"{wanted.server} has no slot {wanted.name}")
    return 0


class _Look:
    """A look at the slot: noted for `status`, said where it keeps much."""

    def __init__(
        self, home: StateDirectory, specs: Specs, capture: Capture, server: Server
    ) -> None:
        self._home, self._project = home, specs.project
        self._capture, self._server = capture, server
        self._said = slots.LARGE // 2

    def __call__(self) -> None:
        with suppress(LakeLocalError):  # the connector says what is wrong
            found = readiness.look(self._project, self._capture, self._server)
            slot = slots.slot_of(self._capture)
            slots.note(self._home, slot, found)
            if found and found.lag >= 2 * self._said:
                self._said = found.lag
                progress(
                    f"warning: the replication slot {slot.name} keeps {found.lag:,} bytes"
                    f" of the log of {slot.server}: changes arrive faster than they are"
                    " captured, or the connector stands still."
                )


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
