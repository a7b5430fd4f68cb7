"""The services that moto answers, and their state on disk.

After every call that may have changed something, the service's state is
written before the reply leaves; the next start reads it back. The objects of
S3 are not among it: moto keeps only the buckets and their settings.
"""

from __future__ import annotations

import io
import logging
import os
import pickle
import threading
from collections import defaultdict
from pathlib import Path
from typing import Any

from moto import backends as moto_backends
from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    create_backend_app,
)

from lake_emulator import table_optimizers
from lake_emulator.call import Call
from lake_emulator.private_folder import make_private, read_own
from lake_emulator.protocols import JSON
from lake_emulator.s3.request import Reply

SERVICES = ("dynamodb", "glue", "iam", "s3", "secretsmanager", "sns", "ssm", "sts")
READS = (
    "AssumeRole",
    "BatchGet",
    "Check",
    "Decode",
    "Describe",
    "Get",
    "Head",
    "List",
    "Query",
    "Scan",
    "Search",
    "Simulate",
    "Validate",
)
ACCOUNT = "123456789012"
_PLAIN_MODULES = ("collections", "datetime", "decimal", "uuid")
_PLAIN = (
    *(("builtins", name) for name in ("set", "frozenset", "bytearray", "complex")),
    *(("builtins", name) for name in ("dict", "list", "str", "int", "float", "bool")),
    ("re", "_compile"),
)
"""Modules whose classes, and names, the state may hold next to the classes of moto."""
log = logging.getLogger(__name__)


class MotoServices:
    """moto's server application with a memory that outlives the process."""

    def __init__(self, folder: Path) -> None:
        os.environ.setdefault("MOTO_S3_CUSTOM_ENDPOINTS", "")
        make_private(folder)
        self._folder = folder
        self._app = DomainDispatcherApplication(create_backend_app)
        self._locks = {service: threading.RLock() for service in SERVICES}
        for service in SERVICES:
            self._restore(service)

    def answer(self, call: Call) -> Reply:
        """Answer one call of one service at a time; moto does not lock its own state."""
        is_ours = call.service == "glue" and call.operation in table_optimizers.CALLS
        with self._locks[call.service]:
            reply = _of_optimizers(call) if is_ours else self._of_moto(call)
            if not call.operation.startswith(READS):
                self._save(call.service)
        return reply

    def _of_moto(self, call: Call) -> Reply:
        started: list[Any] = []

        def start_response(status: str, headers: Any, exc_info: Any = None) -> None:
            started[:] = [int(status.partition(" ")[0]), dict(headers)]

        body = b"".join(self._app(call.environ, start_response))
        return Reply(started[0], started[1], body)

    def has_bucket(self, name: str) -> bool:
        return any(name in backend.buckets for backend in _states("s3").values())

    def uses_kms(self, name: str) -> bool:
        """Return whether a bucket encrypts objects by KMS by default."""
        buckets = (state.buckets.get(name) for state in _states("s3").values())
        return any(each and "aws:kms" in repr(each.encryption) for each in buckets)

    def versioning(self, name: str) -> str:
        """Return whether a bucket keeps versions: Enabled, Suspended, or nothing."""
        buckets = (state.buckets.get(name) for state in _states("s3").values())
        return next((b.versioning_status or "" for b in buckets if b), "")

    def create_bucket(self, name: str, region: str) -> None:
        """Create a bucket unless it exists."""
        with self._locks["s3"]:
            if not self.has_bucket(name):
                backend = _of_service("s3")[ACCOUNT]["aws"]
                backend.create_bucket(name, region)
                self._save("s3")

    def _file(self, service: str) -> Path:
        return self._folder / f"{service}.pickle"

    def _save(self, service: str) -> None:
        states = {place: vars(b) for place, b in _states(service).items()}
        draft = io.BytesIO()
        StatePickler(draft).dump(states)
        file = self._file(service)
        new = file.with_suffix(".new")
        new.unlink(missing_ok=True)
        with open(
            os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
        ) as to:
            to.write(draft.getvalue())
        os.replace(new, file)

    def _restore(self, service: str) -> None:
        """Set aside a state that cannot be read, such as that of another moto.

        Raises NotPrivate for one that others can have written, which is not looked at.
        """
        file = self._file(service)
        if not file.exists():
            return
        content = read_own(file)
        try:
            states = StateUnpickler(io.BytesIO(content)).load()
            for (account, region), state in states.items():
                backend = _of_service(service)[account][region]
                refill(vars(backend), state)
        except Exception:
            aside = file.with_suffix(".unreadable")
            log.exception("%s cannot be read and is now %s", file, aside)
            os.replace(file, aside)
        if service == "s3":
            _name_buckets()


def _of_optimizers(call: Call) -> Reply:
    """Answer what moto does not know of Glue."""
    backend = moto_backends.get_backend("glue")[ACCOUNT][call.region]
    status, body = table_optimizers.answer(backend, call.operation, call.body)
    return Reply(status, {"content-type": JSON}, body)


class StatePickler(pickle.Pickler):
    """moto's state; dicts that make values by a function of moto become plain."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, defaultdict):
            known = isinstance(value.default_factory, (type, type(None)))
            if type(value) is not defaultdict or not known:
                return (dict, (dict(value),))
        return NotImplemented


class StateUnpickler(pickle.Unpickler):
    """Reads what StatePickler wrote: objects of moto's classes and of plain ones alone.

    A pickle may name any function to call, and others may have written the file.
    """

    def find_class(self, module: str, name: str) -> Any:
        """Return a class or raise UnpicklingError: the state is set aside then."""
        is_ours = module.split(".")[0] == "moto" or module in _PLAIN_MODULES
        found = super().find_class(module, name) if is_ours else None
        if isinstance(found, type) and found.__module__ == module:
            return found
        if (module, name) in _PLAIN:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(
            f"it names {module}.{name}, which is no class of moto's state"
        )


def refill(fresh: dict[str, Any], state: dict[str, Any]) -> None:
    """Put state back; dicts that make their own values keep how they do it."""
    for name, value in state.items():
        if isinstance(fresh.get(name), defaultdict):
            fresh[name].update(value)
        else:
            fresh[name] = value


def _states(service: str) -> dict[tuple[str, str], Any]:
    """Return moto's backends of a service by account and region."""
    return {
        (account, region): backend
        for account, regions in _of_service(service).items()
        for region, backend in regions.items()
    }


def _of_service(service: str) -> Any:
    """Return moto's backends of a service, which it types by the words of its name."""
    found: Any = moto_backends.get_backend
    return found(service)


def _name_buckets() -> None:
    """Let moto find the buckets that were read back."""
    names = _of_service("s3").bucket_accounts
    for (account, partition), backend in _states("s3").items():
        for bucket in backend.buckets:
            names[bucket] = (partition, account)
