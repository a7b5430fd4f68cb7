"""Glue's table optimizers: kept and shown, one of each type for a table; none of them runs.

They lie with moto's table, so that they are saved with it and are gone when it is dropped.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, Callable, Mapping

import botocore.session
from botocore.model import ServiceModel
from botocore.validate import ParamValidator
from moto.core.exceptions import JsonRESTError
from moto.glue.exceptions import AlreadyExistsException, EntityNotFoundException
from moto.glue.models import FakeTable, GlueBackend

CALLS = (
    "BatchGetTableOptimizer",
    "CreateTableOptimizer",
    "DeleteTableOptimizer",
    "GetTableOptimizer",
    "UpdateTableOptimizer",
)
SETTINGS = {
    "compaction": "compactionConfiguration",
    "retention": "retentionConfiguration",
    "orphan_file_deletion": "orphanFileDeletionConfiguration",
}
"""The types, each with the only settings that its configuration may have."""

NEEDED = ("retention", "orphan_file_deletion")
"""The types that are not made without their settings."""

Request = Mapping[str, Any]


def answer(backend: GlueBackend, operation: str, body: bytes) -> tuple[int, bytes]:
    """Return status and body of the reply to one of `CALLS`."""
    try:
        request = json.loads(body or b"{}")
        _validate(operation, request)
        return 200, json.dumps(_ANSWERS[operation](backend, request)).encode()
    except JsonRESTError as problem:
        return problem.code, problem.get_body().encode()


def _create(backend: GlueBackend, request: Request) -> dict[str, Any]:
    configuration = _configuration(request)
    kept = _of_table(backend.get_table(request["DatabaseName"], request["TableName"]))
    if request["Type"] in kept:
        raise AlreadyExistsException(f"Table optimizer {request['Type']}")
    kept[request["Type"]] = configuration
    return {}


def _update(backend: GlueBackend, request: Request) -> dict[str, Any]:
    _find(backend, request["DatabaseName"], request["TableName"], request["Type"])
    table = backend.get_table(request["DatabaseName"], request["TableName"])
    _of_table(table)[request["Type"]] = _configuration(request)
    return {}


def _delete(backend: GlueBackend, request: Request) -> dict[str, Any]:
    _find(backend, request["DatabaseName"], request["TableName"], request["Type"])
    table = backend.get_table(request["DatabaseName"], request["TableName"])
    del _of_table(table)[request["Type"]]
    return {}


def _get(backend: GlueBackend, request: Request) -> dict[str, Any]:
    names = (request["DatabaseName"], request["TableName"], request["Type"])
    place = {n: request[n] for n in ("CatalogId", "DatabaseName", "TableName")}
    return {**place, "TableOptimizer": _find(backend, *names)}


def _get_many(backend: GlueBackend, request: Request) -> dict[str, Any]:
    found, failures = [], []
    for entry in request["Entries"]:
        names = [entry.get(n, "") for n in ("databaseName", "tableName", "type")]
        try:
            shown = _find(backend, *names)
        except JsonRESTError as problem:
            error = {"ErrorCode": problem.error_type, "ErrorMessage": problem.message}
            failures.append({**entry, "error": error})
        else:
            place = {name: entry[name] for name in entry if name != "type"}
            found.append({**place, "tableOptimizer": shown})
    return {"TableOptimizers": found, "Failures": failures}


_ANSWERS: Mapping[str, Callable[[GlueBackend, Request], dict[str, Any]]] = dict(
    zip(CALLS, (_get_many, _create, _delete, _get, _update))
)


def _of_table(table: FakeTable) -> dict[str, dict[str, Any]]:
    """Return the configurations of a table's optimizers by their type."""
    found: dict[str, dict[str, Any]] = vars(table).setdefault("optimizers", {})
    return found


def _find(backend: GlueBackend, database: str, table: str, kind: str) -> dict[str, Any]:
    """Return an optimizer as Glue shows it."""
    found = _of_table(backend.get_table(database, table)).get(kind)
    if found is None:
        raise EntityNotFoundException(f"Table optimizer {kind} of {table} not found.")
    return {"type": kind, "configuration": found, "configurationSource": "table"}


def _configuration(request: Request) -> dict[str, Any]:
    kind: str = request["Type"]
    found: dict[str, Any] = request["TableOptimizerConfiguration"]
    own = SETTINGS[kind]
    if others := sorted({*SETTINGS.values()} & {*found} - {own}):
        raise _invalid(f"An optimizer of type {kind} cannot have {', '.join(others)}.")
    if kind in NEEDED and own not in found:
        raise _invalid(f"An optimizer of type {kind} needs {own}.")
    return found


def _validate(operation: str, request: Request) -> None:
    """Compare a request with botocore's model of Glue, and its type with the known ones."""
    shape = _model().operation_model(operation).input_shape
    report = ParamValidator().validate(request, shape)
    if report.has_errors():
        raise _invalid(report.generate_report())
    kinds = {request.get("Type"), *(e.get("type") for e in request.get("Entries", ()))}
    if unknown := sorted(str(each) for each in kinds - {None} if each not in SETTINGS):
        raise _invalid(f"{', '.join(unknown)} is no type of {', '.join(SETTINGS)}.")


def _invalid(message: str) -> JsonRESTError:
    return JsonRESTError("ValidationException", message)


@lru_cache(maxsize=None)
def _model() -> ServiceModel:
    return botocore.session.get_session().get_service_model("glue")
