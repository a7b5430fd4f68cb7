"""What a request is: whose, of which service, which operation, and what it is about."""

from __future__ import annotations

import json
import re
from typing import Any, Iterable, Iterator, Mapping, Optional
from urllib.parse import parse_qs, unquote

from lake_emulator.call import Call
from lake_emulator.s3.identify import identified

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

DATABASE = ("DatabaseName", "DatabaseInput.Name", "databaseName")
TABLE = ("TableName", "Name", "TableInput.Name", "tableName")


def identify(call: Call) -> None:
    """Fill a call: the service by the signature, the operation by the protocol."""
    scope = _scope(call.environ)
    call.caller, call.region, call.service = scope.groups() if scope else ("", "", "s3")
    if call.target.startswith("ElasticMapReduce."):
        call.service = "elasticmapreduce"
    if call.target:
        call.operation = call.target.rpartition(".")[2]
    elif call.service != "s3":
        form = parse_qs(call.read().decode("utf-8", "replace"))
        call.operation = form.get("Action", [""])[0]
    else:
        call.operation, call.s3, call.things = identified(call.environ)
        return
    call.things = list(_about(call))


def _scope(environ: Mapping[str, Any]) -> Optional[re.Match[str]]:
    found = CREDENTIAL.search(environ.get("HTTP_AUTHORIZATION", ""))
    if not found:  # a presigned link has it in its query
        found = LINK.search(unquote(environ.get("QUERY_STRING", "")))
    return found


def _about(call: Call) -> Iterator[dict[str, Any]]:
    """Return what a call is about, for each thing that it names.

    For policies, EMR's calls have their `request`, and table optimizers the `role` that
    they get.
    """
    if call.service == "glue":
        asked = _asked(call)
        role = _named(asked, "TableOptimizerConfiguration.roleArn")
        is_many = call.operation == "BatchGetTableOptimizer"
        for each in asked.get("Entries", ()) if is_many else [asked]:
            names = (_first(each, DATABASE), _first(each, TABLE))
            thing = "/".join(str(name) for name in names if name)
            yield {"thing": thing, **({"role": str(role)} if role else {})}
    elif call.service in THINGS:
        asked = _asked(call)
        named = _first(asked, THINGS[call.service])
        more = {"request": asked} if call.service == "elasticmapreduce" else {}
        for thing in named if isinstance(named, list) else [named]:
            yield {"thing": str(thing), **more}
    else:
        yield {"thing": call.path.strip("/")}


def _asked(call: Call) -> dict[str, Any]:
    """Return the request as names and values, JSON or a form."""
    body = call.body
    if call.target:
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
