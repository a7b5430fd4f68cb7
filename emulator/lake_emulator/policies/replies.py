"""How AWS refuses a call that is not allowed, in the protocol of each service."""

from __future__ import annotations

from lake_emulator.call import Call
from lake_emulator.policies.evaluator import Denial
from lake_emulator.protocols import json_error, query_error, s3_error
from lake_emulator.s3.request import Reply

QUERY_CODES = {"sns": "AuthorizationError"}
"""Codes of services with the query protocol that have one of their own."""


def denied(call: Call, denial: Denial) -> Reply:
    """Return the reply to a call that is denied, or that is signed by no known key."""
    if call.service == "s3":
        code = "AccessDenied" if denial.is_known else "InvalidAccessKeyId"
        return s3_error(403, code, denial.message, call.path)
    if call.target:
        known, nobody = "AccessDeniedException", "UnrecognizedClientException"
        return json_error(400, known if denial.is_known else nobody, denial.message)
    code = QUERY_CODES.get(call.service, "AccessDenied")
    if not denial.is_known:
        code = "InvalidClientTokenId"
    elif call.service == "sns" and denial.action.startswith("kms:"):
        code = "KMSAccessDenied"
    return query_error(403, code, denial.message)
