"""Replication slots of colleagues and of production, on servers that `connect` captures."""

from __future__ import annotations

import json
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any, Dict, Iterator, Optional

import yaml
from lake_local.capture import readiness, servers
from lake_local.capture import slots as noted
from lake_local.cli.commands import connect
from lake_local.cli.parser import parse
from lake_local.errors import BadRequest
from lake_local.workspace.project import find
from lake_local.workspace.state_dir import StateDirectory

from tests.neighbour.scene import Beside, Seen, files_of, put
from tests.unit.lake_local.capture.test_request import BROKER, DATABASE, DOMAIN, TABLE

OURS, SERVER = "lake_shop_mine", "db:5432/shop"


class Server:
    """A database with slots: how often each was read by us; a slot that is dropped is gone."""

    def __init__(self, *names: str) -> None:
        self.slots = dict.fromkeys(names, 0)

    def look(self, _: Any, capture: Any, *more: Any) -> Optional[noted.Found]:
        there = capture.slot in self.slots
        return noted.Found(is_active=False, lag=5) if there else None

    def drop(self, _: Any, capture: Any, *more: Any) -> bool:
        return self.slots.pop(capture.slot, None) is not None

    @contextmanager
    def running(self, home: StateDirectory, capture: Any, _: Any) -> Iterator[Any]:
        """A capture that reads its slot until it is interrupted."""
        home.create()
        noted.note(home, noted.slot_of(capture))
        self.slots[capture.slot] = self.slots.get(capture.slot, 0) + 1
        raise KeyboardInterrupt
        yield


def _served(beside: Beside, *names: str) -> Server:
    """A server with these slots, which `connect` reaches."""
    server = Server(*names)
    _specs(beside)
    logged_in = nullcontext(SimpleNamespace(aws=None))
    beside.patch.setattr(connect.session, "opened", lambda *_, **__: logged_in)
    beside.patch.setattr(connect, "server_of", lambda *_: None)
    beside.patch.setattr(connect, "require_ready", server.look)
    beside.patch.setattr(readiness, "drop", server.drop)
    beside.patch.setattr(servers, "require_installed", lambda: None)
    beside.patch.setattr(servers, "running", server.running)
    return server


def of_colleagues(beside: Beside) -> Iterator:
    """Slots by the names of ours, and notes of other state directories."""
    server = _served(beside, "lake_shop", "production", "lake_shop_2")
    theirs = StateDirectory.at(beside.folder / "of-a-colleague")
    theirs.create()
    noted.note(theirs, noted.Slot("shop", SERVER, "lake_shop"))
    note = theirs.root / "connect/shop/slot.json"

    def seen() -> Seen:
        there: Dict[str, Any] = {n: v for n, v in server.slots.items() if n != OURS}
        return {**there, "a colleague's note": note.exists() and note.read_bytes()}

    yield seen
    for more in ((), ("--slot", "production"), ("--slot", "lake_shop_2")):
        beside.refuses("connect", BadRequest, _connect, beside, *more)
        beside.refuses(
            "--drop-slot", BadRequest, _connect, beside, "--drop-slot", *more
        )
    beside.does("connect, a slot of ours", _connect, beside, "--slot", OURS)
    beside.refuses("connect, after ours", BadRequest, _connect, beside)
    beside.refuses("--drop-slot of theirs", BadRequest, _connect, beside, "--drop-slot")
    beside.does("--drop-slot of ours", _connect, beside, "--slot", OURS, "--drop-slot")
    beside.expects("our slot was not dropped", OURS not in server.slots)
    yield None


def of_the_release_before(beside: Beside) -> Iterator:
    """Our slot, of which there are positions and no note, beside slots of others."""
    server = _served(beside, "lake_shop", "production")
    home = StateDirectory.at(beside.folder / "state")
    put(home.root / "connect/shop", "kafka/log", "worker/x", "lock")
    for folder in ("airflow", "holders", "logs"):
        (home.root / "connect/shop" / folder).mkdir()
    yield lambda: {
        "production": server.slots.get("production"),
        **files_of(home.root / "connect/shop/kafka"),
    }
    for more in ((), (), ("--slot", OURS)):
        beside.does("connect", _connect, beside, *more)
        notes = sorted(each.name for each in noted.known(home))
        wanted = ["lake_shop", OURS] if more else ["lake_shop"]
        beside.expects(f"noted: {notes}", notes == wanted)
    beside.refuses(
        "connect, theirs", BadRequest, _connect, beside, "--slot", "production"
    )
    beside.does("--drop-slot", _connect, beside, "--drop-slot")
    beside.expects("our slot was not dropped", "lake_shop" not in server.slots)
    server.slots["lake_shop"] = 0  # a colleague makes one of its name
    beside.refuses("connect, after the drop", BadRequest, _connect, beside)
    beside.refuses("--drop-slot again", BadRequest, _connect, beside, "--drop-slot")
    yield None


def dropped_before_it_was_noted(beside: Beside) -> Iterator:
    """Our slot of the release before, which is dropped at once, beside those of others."""
    server = _served(beside, "lake_shop", "production")
    put(beside.folder / "state/connect/shop", "kafka/log")
    for folder in ("airflow", "holders", "logs", "lock"):
        (beside.folder / "state" / folder).mkdir()
    yield lambda: {n: read for n, read in server.slots.items() if n != "lake_shop"}
    beside.does("--drop-slot", _connect, beside, "--drop-slot")
    beside.expects("our slot was not dropped", "lake_shop" not in server.slots)
    yield None


def _connect(beside: Beside, *more: str) -> None:
    folder = beside.folder
    asked = ["connect", "shop", "--state-dir", str(folder / "state")]
    args = parse([*asked, "--tables", str(folder / "tables"), *more])
    try:
        args.run(args)
    except KeyboardInterrupt:
        pass


def _specs(beside: Beside) -> None:
    """A domain whose table is captured, and the environment with its database."""
    folder = beside.folder / "tables" / "shop"
    folder.mkdir(parents=True)
    (folder / "_domain.yml").write_text(DOMAIN)
    named = {"connection": "broker", "connector": "postgresql"}
    table = TABLE.format(name="orders", topic="shop.public.orders", **named)
    (folder / "orders.yml").write_text(table)
    found = yaml.safe_load((find().dags / "environments/local.yml").read_text())
    found["connections"] = {"db": DATABASE, "broker": BROKER}
    file = beside.folder / "local.yml"
    file.write_text(json.dumps(found))
    beside.patch.setenv("LAKE_ENVIRONMENT", str(file))


SCENES = (of_colleagues, of_the_release_before, dropped_before_it_was_noted)
