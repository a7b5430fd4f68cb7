"""The emulator as one process: build, serve, stop."""

from __future__ import annotations

import fcntl
import logging
import os
import signal
import threading
from pathlib import Path
from typing import IO

from lake_emulator.admin import Admin
from lake_emulator.application import Application
from lake_emulator.authenticator import Authenticator
from lake_emulator.calls import Calls
from lake_emulator.clients import DEFAULT_REGION
from lake_emulator.emr.persistence import Journal
from lake_emulator.emr.service import LocalEmr
from lake_emulator.emr.step_rules import StepRules
from lake_emulator.emr.step_runner import StepRunner
from lake_emulator.emr.web import EmrWeb
from lake_emulator.faults import Faults
from lake_emulator.http_server import Server
from lake_emulator.identify import identify
from lake_emulator.keys import secret_of
from lake_emulator.moto_services import MotoServices
from lake_emulator.policies.enforcer import (
    FILE as POLICIES,
    PolicyEnforcer,
    policies_of,
)
from lake_emulator.s3.store import ObjectStore
from lake_emulator.s3.web import S3Web
from lake_emulator.services import Services
from lake_emulator.state_mark import claim

log = logging.getLogger(__name__)


class StateDirectoryInUse(Exception):
    """Another emulator has its state in the same state directory.

    Fix: Stop it with `./run_locally.sh down`, or by Ctrl-C or `kill` where it was started
    alone, or choose another directory with --state-dir DIR.
    """


class Emulator:
    """AWS on 127.0.0.1, with its state below `state_dir`."""

    def __init__(
        self,
        state_dir: Path,
        *,
        port: int = 0,
        region: str = DEFAULT_REGION,
        grace: float = 10,
        idle_scale: float = 1.0,
        rules: StepRules = StepRules(),
    ) -> None:
        claim(state_dir, given={POLICIES})
        policies = policies_of(state_dir)
        self._lock = _lock(state_dir)
        self._server = Server(port, self._not_ready)
        self.url = self._server.url
        self.faults = Faults()
        self._moto = MotoServices(state_dir / "services")
        self.store = ObjectStore(
            state_dir / "s3",
            self._moto.has_bucket,
            self._moto.uses_kms,
            self._moto.versioning,
        )
        self.secret = secret_of(state_dir)
        runner = StepRunner(
            state_dir / "emr",
            self.store,
            endpoint=self.url,
            secret=self.secret,
            grace=grace,
            failure_prefix=rules.failure_prefix,
        )
        self.emr = LocalEmr(
            runner,
            Journal(state_dir / "emr"),
            region=region,
            faults=self.faults,
            idle_scale=idle_scale,
            refused=rules.refused,
        )
        self.s3 = S3Web(self.store)
        self.enforcer = PolicyEnforcer(
            state_dir, self.emr, policies, has_bucket=self._moto.has_bucket
        )
        self._server.app = self._application(state_dir)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.1}
        )

    def _application(self, state_dir: Path) -> Application:
        """Return the handlers of a request, in their order."""
        services = Services(self.s3, EmrWeb(self.emr), self._moto)
        handlers = (
            Authenticator(self.secret, self._server.server_address[1]).refuse,
            Admin(
                self.emr, self.faults, self.enforcer, state_dir=str(state_dir)
            ).answer,
            identify,
            Calls(state_dir).note,
            services.refuse_uncovered,
            self.enforcer.refuse,
            self.faults.refuse,
        )
        reply_handlers = (self.enforcer.hide, self.faults.spoil)
        return Application(handlers, services.answer, reply_handlers)

    def start(self) -> None:
        """Serve from a thread; `stop` ends it."""
        self._thread.start()
        log.info("serving %s", self.url)

    def stop(self) -> None:
        """End all steps, then the server; objects stay on disk."""
        log.info("stopping")
        self.emr.close()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self.store.close()
        self._lock.close()
        log.info("stopped")

    @staticmethod
    def _not_ready(environ: object, start_response: object) -> list[bytes]:
        raise ConnectionError("not ready")


def serve(
    state_dir: Path,
    *,
    port: int,
    region: str = DEFAULT_REGION,
    rules: StepRules = StepRules(),
) -> None:
    """Serve until SIGTERM or SIGINT; the log goes to `<state directory>/aws.log`."""
    claim(state_dir, given={POLICIES})
    _log_to(state_dir / "aws.log")
    asked = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: asked.set())
    emulator = Emulator(state_dir, port=port, region=region, rules=rules)
    emulator.start()
    try:
        while not asked.wait(1):
            pass
    finally:
        emulator.stop()


def _lock(state_dir: Path) -> IO[str]:
    """Lock the state directory: one emulator each, however the last one ended."""
    file = open(state_dir / "aws.pid", "a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as reason:
        file.seek(0)
        pid = file.read().strip()
        message = (
            f"the state directory {state_dir} is in use by another emulator (process {pid})."
            f" Stop it first: ./run_locally.sh down, or kill {pid} where it runs alone."
        )
        raise StateDirectoryInUse(message) from reason
    file.truncate(0)
    file.write(f"{os.getpid()}\n")
    file.flush()
    return file


def _log_to(file: Path) -> None:
    logging.basicConfig(
        filename=file,
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    for noisy in ("werkzeug", "botocore", "moto"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
