"""Which service answers a call: EMR and the objects of S3 are ours, the rest is moto's."""

from __future__ import annotations

import logging
from typing import Optional

from lake_emulator.call import Call
from lake_emulator.emr.web import EmrWeb
from lake_emulator.moto_services import SERVICES, MotoServices
from lake_emulator.protocols import FORM, JSON, json_error, query_error, s3_error
from lake_emulator.s3.request import Reply
from lake_emulator.s3.web import S3Web

EMR = "elasticmapreduce"
log = logging.getLogger(__name__)


class Services:
    """The services behind the handlers."""

    def __init__(self, s3: S3Web, emr: EmrWeb, moto: MotoServices) -> None:
        self._s3 = s3
        self._emr = emr
        self._moto = moto
        self._operations = frozenset(s3.operations)

    def refuse_uncovered(self, call: Call) -> Optional[Reply]:
        """Refuse a call of what the emulator lacks, whatever policies say of it."""
        if call.s3 is not None and call.operation not in self._operations:
            return self._s3.answer(call.operation, call.s3)
        if call.service in (*SERVICES, EMR):
            return None
        message = (
            f"The emulator does not cover {call.service}: see emulator/COVERAGE.md"
        )
        log.warning("%s %s", message, call.operation)
        if call.environ.get("CONTENT_TYPE", "").startswith(FORM):
            return query_error(501, "NotCovered", message)
        error_type = {"x-amzn-errortype": "NotCovered"}
        return json_error(501, "NotCovered", message, error_type)

    def answer(self, call: Call) -> Reply:
        """Return the reply of the service."""
        if call.service == EMR:
            status, body = self._emr.answer(call.operation, call.body)
            return Reply(status, {"content-type": JSON}, body)
        if call.s3 is not None:
            return self._s3.answer(call.operation, call.s3)
        bucket = call.path.strip("/")
        if call.operation == "DeleteBucket" and self._s3.holds_any(bucket):
            message = "The bucket you tried to delete is not empty"
            return s3_error(409, "BucketNotEmpty", message, f"/{bucket}")
        return self._moto.answer(call)
