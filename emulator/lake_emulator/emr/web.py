"""EMR over HTTP: JSON 1.1, requests checked against botocore's own model."""

from __future__ import annotations

import json
import logging
from datetime import datetime
from functools import lru_cache
from typing import Any

import botocore.session
from botocore import xform_name
from botocore.model import ServiceModel
from botocore.validate import ParamValidator

from lake_emulator.emr.errors import EmrError, not_covered, validation
from lake_emulator.emr.queries import EmrQueries
from lake_emulator.emr.service import LocalEmr

Answer = tuple[int, bytes]
log = logging.getLogger(__name__)


@lru_cache(maxsize=None)
def service_model() -> ServiceModel:
    loader = botocore.session.get_session().get_component("data_loader")
    return ServiceModel(loader.load_service_model("emr", "service-2"), "emr")


def covered() -> list[str]:
    """Return the calls that LocalEmr answers, by AWS's names."""
    methods = set(vars(LocalEmr)) | set(vars(EmrQueries))
    names = service_model().operation_names
    return sorted(name for name in names if xform_name(name) in methods)


class EmrWeb:
    """From a request body to a reply body."""

    def __init__(self, emr: LocalEmr) -> None:
        self._emr = emr
        self._covered = set(covered())

    def answer(self, operation: str, body: bytes) -> Answer:
        try:
            reply = self._call(operation, body)
        except EmrError as problem:
            return problem.status, refusal(problem.code, problem.message)
        except Exception as problem:
            log.exception("%s failed", operation)
            message = f"The emulator failed: {problem}"
            return 500, refusal("InternalServerException", message)
        return 200, json.dumps(reply, default=_plain).encode()

    def _call(self, operation: str, body: bytes) -> dict[str, Any]:
        if operation not in self._covered:
            raise not_covered(f"the EMR call {operation}")
        request = json.loads(body or b"{}")
        _validate(operation, request)
        reply: dict[str, Any] = getattr(self._emr, xform_name(operation))(request)
        return reply


def refusal(code: str, message: str) -> bytes:
    return json.dumps({"__type": code, "message": message}).encode()


def _validate(operation: str, request: dict[str, Any]) -> None:
    shape = service_model().operation_model(operation).input_shape
    report = ParamValidator().validate(request, shape)
    if report.has_errors():
        raise validation(report.generate_report())


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.timestamp()
    raise TypeError(f"{type(value).__name__} has no JSON form")
