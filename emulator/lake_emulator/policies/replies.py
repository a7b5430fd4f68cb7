"""How AWS refuses a call that is not allowed, in the protocol of each service."""

from __future__ import annotations

import json
from xml.sax.saxutils import escape

from lake_emulator.policies.judge import Denial
from lake_emulator.s3 import replies
from lake_emulator.s3.errors import S3Error
from lake_emulator.s3.request import Reply

QUERY_CODES = {"sns": "AuthorizationError"}
"""Codes of services with the query protocol that have one of their own."""


def denied(service: str, is_json: bool, denial: Denial, resource: str = "") -> Reply:
    """Make the reply to a call that is denied, or that is signed by no known key."""
    if service == "s3":
        code = "AccessDenied" if denial.is_known else "InvalidAccessKeyId"
        body = replies.error(S3Error(403, code, denial.message), resource)
        return Reply(403, {"content-type": "application/xml"}, body)
    if is_json:
        known, nobody = "AccessDeniedException", "UnrecognizedClientException"
        error = {"__type": known if denial.is_known else nobody}
        body = json.dumps({**error, "message": denial.message}).encode()
        return Reply(400, {"content-type": "application/x-amz-json-1.1"}, body)
    return _of_query(service, denial)


def _of_query(service: str, denial: Denial) -> Reply:
    code = QUERY_CODES.get(service, "AccessDenied")
    if not denial.is_known:
        code = "InvalidClientTokenId"
    elif service == "sns" and denial.action.startswith("kms:"):
        code = "KMSAccessDenied"
    error = (
        f"<Error><Type>Sender</Type><Code>{code}</Code>"
        f"<Message>{escape(denial.message)}</Message></Error>"
    )
    body = f"<ErrorResponse>{error}</ErrorResponse>".encode()
    return Reply(403, {"content-type": "text/xml"}, body)
