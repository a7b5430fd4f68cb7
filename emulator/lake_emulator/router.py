"""Routes calls to services, and injects faults."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from http import HTTPStatus
from typing import Any, Callable, Iterable, Mapping, Tuple
from urllib.parse import parse_qs

from lake_emulator.admin import Admin
from lake_emulator.calls import Call, Calls, about, body_of, signed_by
from lake_emulator.emr.web import EmrWeb, refusal
from lake_emulator.faults import Faults, Rule
from lake_emulator.guard import Authenticator, without_cors
from lake_emulator.http_server import DropConnection
from lake_emulator.moto_services import MotoServices, SERVICES
from lake_emulator.policies.judge import Denial, PolicyEnforcer
from lake_emulator.policies.replies import denied as denied_reply
from lake_emulator.s3 import replies
from lake_emulator.s3.errors import S3Error
from lake_emulator.s3.request import (
    Deleted,
    Reply,
    Request,
    from_environ,
    operation_of,
)
from lake_emulator.s3.web import S3Web

JSON = "application/x-amz-json-1.1"
FORM = "application/x-www-form-urlencoded"
Denied = Tuple[Mapping[str, Any], Denial]
log = logging.getLogger(__name__)


class Application:
    """The WSGI application."""

    def __init__(
        self,
        s3: S3Web,
        emr: EmrWeb,
        moto: MotoServices,
        faults: Faults,
        admin: Admin,
        calls: Calls,
        guard: Authenticator,
        judge: PolicyEnforcer,
    ) -> None:
        self._s3 = s3
        self._emr = emr
        self._moto = moto
        self._faults = faults
        self._admin = admin
        self._calls = calls
        self._guard = guard
        self._judge = judge

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        if why := self._guard.refusal(environ):
            log.warning("%s refused: %s", environ["REQUEST_METHOD"], why)
            return _send(_denied(environ, why), start_response)
        return self._of_ours(environ, _without_cors(start_response))

    def _of_ours(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        if environ["PATH_INFO"].startswith("/_lake/"):
            return _send(self._admin.answer(environ), start_response)
        call = identify(environ)
        caller, _ = signed_by(environ)
        things = list(about(call, environ))
        self._calls.note(caller, call, things)
        denied = self._denials(caller, call, things)
        if call.s3 and call.operation == "DeleteObjects" and _are_keys(denied):
            call = call._replace(s3=replace(call.s3, denied=_by_key(denied)))
        elif denied:
            return _send(_access_denied(call, environ, denied[0][1]), start_response)
        refused = self._faults.take(call.operation, "throttle", "fail")
        if refused:
            return _send(_refusal(call, refused), start_response)
        broken = self._faults.take(
            call.operation, "lost_reply", "error_reply", "late_reply"
        )
        if broken is None:
            return self._answer(call, environ, start_response)
        if broken.kind == "late_reply":
            answered = self._answer(call, environ, start_response)
            time.sleep(broken.seconds)
            return answered
        for _ in self._answer(call, environ, _ignore):
            pass
        if broken.kind == "lost_reply":
            raise DropConnection(call.operation)
        failed = Rule("fail", code="InternalServerException")
        return _send(_refusal(call, failed, 500), start_response)

    def _answer(
        self,
        call: Call,
        environ: dict[str, Any],
        start_response: Callable[..., Any],
    ) -> Iterable[bytes]:
        if call.service == "elasticmapreduce":
            status, body = self._emr.answer(call.operation, body_of(environ))
            return _send(Reply(status, {"content-type": JSON}, body), start_response)
        if call.s3 is not None:
            return _send(
                self._of_objects(call.operation, call.s3, environ), start_response
            )
        if call.service not in SERVICES:
            return _send(_not_covered(call, environ), start_response)
        if call.operation == "DeleteBucket":
            bucket = environ["PATH_INFO"].strip("/")
            if self._s3.holds_any(bucket):
                message = "The bucket you tried to delete is not empty"
                problem = _of_s3(409, "BucketNotEmpty", message, f"/{bucket}")
                return _send(problem, start_response)
        return self._moto.call(call.service, call.operation, environ, start_response)

    def _denials(
        self, caller: str, call: Call, things: list[dict[str, Any]]
    ) -> list[Denied]:
        """What policies refuse of a call; nothing of one that is not covered anyway."""
        if call.s3 is not None:
            is_covered = call.operation in self._s3.operations
        else:
            is_covered = call.service in (*SERVICES, "elasticmapreduce")
        if not is_covered:
            return []
        return self._judge.denials(caller, call.service, call.operation, things)

    def _of_objects(
        self, operation: str, request: Request, environ: dict[str, Any]
    ) -> Reply:
        """S3's reply; an object that is missing is denied to who may not list."""
        reply = self._s3.answer(operation, request)
        if reply.status != 404 or operation not in ("GetObject", "HeadObject"):
            return reply
        caller, _ = signed_by(environ)
        hidden = self._judge.hides(caller, request.bucket, request.key)
        if hidden is None or not self._moto.has_bucket(request.bucket):
            return reply
        return denied_reply("s3", False, hidden, f"/{request.bucket}/{request.key}")


def identify(environ: dict[str, Any]) -> Call:
    """Identify a call: the service by the signature, the operation by the protocol."""
    target = environ.get("HTTP_X_AMZ_TARGET", "")
    _, service = signed_by(environ)
    if target.startswith("ElasticMapReduce."):
        return Call("elasticmapreduce", target.partition(".")[2])
    if target:
        return Call(service, target.rpartition(".")[2])
    if service != "s3":
        return Call(service, _form_action(environ))
    request = from_environ(environ)
    operation = operation_of(request)
    if operation == "DeleteObjects":  # whose keys are noted before it is answered
        body_of(environ)
        request = from_environ(environ)
    if operation is not None:
        return Call("s3", operation, request)
    verb = {"GET": "Get", "HEAD": "Head", "PUT": "Put", "DELETE": "Delete"}
    name = verb.get(request.method, request.method) + "Bucket"
    setting = next(iter(request.query), "") if request.query else ""
    if name == "PutBucket" and not setting:
        name = "CreateBucket"
    return Call("s3", name + setting.title())


def _form_action(environ: dict[str, Any]) -> str:
    body = body_of(environ)
    return parse_qs(body.decode("utf-8", "replace")).get("Action", [""])[0]


def _refusal(call: Call, rule: Rule, status: int = 400) -> Reply:
    """Return an injected fault as an error of the service."""
    throttled = rule.kind == "throttle"
    if call.service == "s3":
        code = "SlowDown" if throttled else rule.code
        return _of_s3(503 if throttled else 500, code, "Please reduce your rate.")
    code = "ThrottlingException" if throttled else rule.code
    message = "Rate exceeded" if throttled else "A fault that was asked for"
    if code == "InternalServerException":
        status = 500
    return Reply(status, {"content-type": JSON}, refusal(code, message))


def _denied(environ: dict[str, Any], why: str) -> Reply:
    """Answer in the protocol of the caller, so that its user sees the message."""
    message = f"The AWS emulator refused the request: {why}"
    if environ.get("HTTP_X_AMZ_TARGET"):
        body = refusal("AccessDeniedException", message)
        return Reply(403, {"content-type": JSON}, body)
    return _of_s3(403, "AccessDenied", message)


def _access_denied(call: Call, environ: dict[str, Any], denial: Denial) -> Reply:
    is_json = bool(environ.get("HTTP_X_AMZ_TARGET"))
    return denied_reply(call.service, is_json, denial, environ["PATH_INFO"])


def _are_keys(denied: list[Denied]) -> bool:
    """Whether only some keys of a request are refused, not its caller."""
    return all(denial.is_known for _, denial in denied)


def _by_key(denied: list[Denied]) -> dict[Deleted, str]:
    """The messages by the keys of a bucket, from `bucket/key`, and their versions."""
    return {
        (each["thing"].partition("/")[2], each.get("version")): denial.message
        for each, denial in denied
    }


def _without_cors(start_response: Callable[..., Any]) -> Callable[..., Any]:
    def start(status: str, headers: Any, exc_info: Any = None) -> Any:
        return start_response(status, without_cors(list(headers)), exc_info)

    return start


def _not_covered(call: Call, environ: dict[str, Any]) -> Reply:
    """Answer in the protocol of the caller, so that its user sees the message."""
    message = f"The emulator does not cover {call.service}: see emulator/COVERAGE.md"
    log.warning("%s %s", message, call.operation)
    if not environ.get("CONTENT_TYPE", "").startswith(FORM):
        headers = {"content-type": JSON, "x-amzn-errortype": "NotCovered"}
        return Reply(501, headers, refusal("NotCovered", message))
    error = f"<Error><Code>NotCovered</Code><Message>{message}</Message></Error>"
    body = f"<ErrorResponse>{error}<Errors>{error}</Errors></ErrorResponse>"
    return Reply(501, {"content-type": "text/xml"}, body.encode())


def _of_s3(status: int, code: str, message: str, resource: str = "") -> Reply:
    body = replies.error(S3Error(status, code, message), resource)
    return Reply(status, {"content-type": "application/xml"}, body)


def _send(reply: Reply, start_response: Callable[..., Any]) -> Iterable[bytes]:
    headers = dict(reply.headers)
    body = reply.body
    if isinstance(body, bytes):
        headers.setdefault("content-length", str(len(body)))
        body = [body]
    start_response(
        f"{reply.status} {HTTPStatus(reply.status).phrase}", list(headers.items())
    )
    return body


def _ignore(status: str, headers: Any, exc_info: Any = None) -> None:
    """Ignore the reply: it is lost."""
