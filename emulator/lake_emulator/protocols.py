"""Errors in the protocols of AWS's services, which their clients raise as ClientError."""

from __future__ import annotations

import json
from typing import Mapping
from xml.sax.saxutils import escape

from lake_emulator.s3 import replies
from lake_emulator.s3.errors import S3Error
from lake_emulator.s3.request import Reply

JSON = "application/x-amz-json-1.1"
FORM = "application/x-www-form-urlencoded"


def json_error(
    status: int, code: str, message: str, headers: Mapping[str, str] = {}
) -> Reply:
    """Return an error of a service that speaks JSON."""
    body = json.dumps({"__type": code, "message": message}).encode()
    return Reply(status, {"content-type": JSON, **headers}, body)


def s3_error(status: int, code: str, message: str, resource: str = "") -> Reply:
    """Return an error of S3; `resource` is the path that it is about."""
    body = replies.error(S3Error(status, code, message), resource)
    return Reply(status, {"content-type": "application/xml"}, body)


def query_error(status: int, code: str, message: str) -> Reply:
    """Return an error of a service with forms and XML, as SNS, STS and IAM."""
    error = (
        f"<Error><Type>Sender</Type><Code>{code}</Code>"
        f"<Message>{escape(message)}</Message></Error>"
    )
    body = f"<ErrorResponse>{error}<Errors>{error}</Errors></ErrorResponse>"
    return Reply(status, {"content-type": "text/xml"}, body.encode())
