"""Which calls were made, by whom and of what: each once, in `<state directory>/calls.jsonl`.

A line is `{"caller", "service", "operation", "thing"}`; of lists of S3 also `prefix`
and `delimiter`, of copies `source`. The caller is the access key's id: `airflow`, the
id of a step, or `local` for people. So roles can be held to what is really called.
"""

from __future__ import annotations

import io
import json
import re
import threading
from pathlib import Path
from typing import Any, Iterable, Iterator, Mapping, NamedTuple, Optional
from urllib.parse import parse_qs, unquote

from lake_emulator.s3.errors import S3Error
from lake_emulator.s3.replies import keys_to_delete
from lake_emulator.s3.request import Deleted, Request

FILE = "calls.jsonl"
KMS_KEY = "x-amz-server-side-encryption-aws-kms-key-id"
MOST = 200_000
"""The most lines that are kept, also in a state directory that is used for months."""

CREDENTIAL = re.compile(r"Credential=([^/]+)/\d+/([^/]*)/([a-z0-9-]+)/aws4_request")
LINK = re.compile(rf"X-Amz-{CREDENTIAL.pattern}")
THINGS = {
    "dynamodb": ("TableName",),
    "elasticmapreduce": ("ClusterId", "JobFlowId", "JobFlowIds", "ResourceId"),
    "secretsmanager": ("SecretId",),
    "sns": ("TopicArn", "TargetArn"),
    "ssm": ("Name", "Names", "Path"),
    "sts": ("RoleArn",),
}
"""Where the requests of a service have the thing that they are about."""

NOTED = ("thing", "prefix", "delimiter", "source")
"""What is kept of what a call is about."""

VERSIONS = ("version", "source_version")
"""Of which is kept that they are named."""

DATABASE = ("DatabaseName", "DatabaseInput.Name", "databaseName")
TABLE = ("TableName", "Name", "TableInput.Name", "tableName")


class Call(NamedTuple):
    """Whose call it is and what it is called; `s3` only for object calls."""

    service: str
    operation: str
    s3: Optional[Request] = None


class Calls:
    """The file of calls, written as they come."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE
        self._lock = threading.Lock()
        self._known = set(self._lines())

    def note(self, caller: str, call: Call, about: Iterable[Mapping[str, Any]]) -> None:
        """Keep the call, if there was none like it, without the request's values."""
        for each in about:
            noted = {"caller": caller, "service": call.service}
            named = {name: each[name] for name in NOTED if name in each}
            named.update({name: "*" for name in VERSIONS if name in each})
            line = json.dumps({**noted, "operation": call.operation, **named})
            self._keep(f"{line}\n")

    def _keep(self, line: str) -> None:
        with self._lock:
            if line in self._known or len(self._known) >= MOST:
                return
            self._known.add(line)
            with open(self._file, "a", encoding="utf-8") as file:
                file.write(line)

    def _lines(self) -> list[str]:
        if not self._file.exists():
            return []
        with open(self._file, encoding="utf-8") as file:
            return list(file)


def signed_by(environ: Mapping[str, Any]) -> tuple[str, str]:
    """Return the id of the access key and the service; empty and `s3` without a signature."""
    found = _scope(environ)
    return (found.group(1), found.group(3)) if found else ("", "s3")


def region_of(environ: Mapping[str, Any]) -> str:
    """Return the region that a call is signed for; empty without a signature."""
    found = _scope(environ)
    return found.group(2) if found else ""


def _scope(environ: Mapping[str, Any]) -> Optional[re.Match[str]]:
    found = CREDENTIAL.search(environ.get("HTTP_AUTHORIZATION", ""))
    if not found:  # a presigned link has it in its query
        found = LINK.search(unquote(environ.get("QUERY_STRING", "")))
    return found


def body_of(environ: dict[str, Any]) -> bytes:
    """Return the whole body, which can be read again."""
    stream = environ["wsgi.input"]
    is_ended = environ.get("wsgi.input_terminated")
    size = -1 if is_ended else int(environ.get("CONTENT_LENGTH") or 0)
    body: bytes = stream.read(size)
    environ["wsgi.input"] = io.BytesIO(body)
    return body


def about(call: Call, environ: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return what a call is about, for each thing that it names; its body can still be read.

    For policies, EMR's calls have their `request`, writes the `key` of KMS that they name,
    and table optimizers the `role` that they get; `checksum` is there where a HEAD asks for
    it.
    """
    if call.s3 is not None:
        yield from _about_objects(call.operation, call.s3)
    elif call.service == "glue":
        asked = _asked(body_of(environ), environ)
        role = _named(asked, "TableOptimizerConfiguration.roleArn")
        is_many = call.operation == "BatchGetTableOptimizer"
        for each in asked.get("Entries", ()) if is_many else [asked]:
            names = (_first(each, DATABASE), _first(each, TABLE))
            thing = "/".join(str(name) for name in names if name)
            yield {"thing": thing, **({"role": str(role)} if role else {})}
    elif call.service in THINGS:
        asked = _asked(body_of(environ), environ)
        named = _first(asked, THINGS[call.service])
        more = {"request": asked} if call.service == "elasticmapreduce" else {}
        for thing in named if isinstance(named, list) else [named]:
            yield {"thing": str(thing), **more}
    else:
        yield {"thing": environ["PATH_INFO"].strip("/")}


def _about_objects(operation: str, request: Request) -> Iterator[dict[str, str]]:
    thing = f"{request.bucket}/{request.key}"
    if operation == "DeleteObjects":
        for key, version in _deleted(request):
            named = {} if version is None else {"version": version}
            yield {"thing": f"{request.bucket}/{key}", **named}
    elif request.key:
        source, _, of = request.headers.get("x-amz-copy-source", "").partition("?")
        known = {
            "version": request.version or "",
            "source": unquote(source).removeprefix("/"),
            "source_version": "".join(parse_qs(of).get("versionId", ())),
            "key": request.headers.get(KMS_KEY, ""),
            "checksum": request.headers.get("x-amz-checksum-mode", ""),
        }
        yield {"thing": thing, **{n: each for n, each in known.items() if each}}
    else:
        query = request.query
        names: tuple[str, ...] = ("prefix", "delimiter")
        asked = {name: query[name] for name in names if name in query}
        yield {"thing": request.bucket, **asked}


def _deleted(request: Request) -> list[Deleted]:
    """Return what a request to delete many names; its body is read again for the answer."""
    try:
        keys, _ = keys_to_delete(request.read())
        return keys
    except S3Error:
        return []
    finally:
        request.stream.seek(0)


def _asked(body: bytes, environ: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request as names and values, JSON or a form."""
    if environ.get("HTTP_X_AMZ_TARGET"):
        try:
            found = json.loads(body or b"{}")
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}
    return {k: v[0] for k, v in parse_qs(body.decode("utf-8", "replace")).items()}


def _first(asked: Any, paths: Iterable[str]) -> Any:
    """Return what the first of the paths leads to; empty for none."""
    return next((each for each in (_named(asked, p) for p in paths) if each), "")


def _named(asked: Any, path: str) -> Any:
    for name in path.split("."):
        asked = asked.get(name) if isinstance(asked, dict) else None
    return asked
