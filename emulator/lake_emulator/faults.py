"""Faults on demand, for tests.

A rule is `{"kind", "call", "times", ...}`:

- `throttle`: the call is refused as too frequent;
- `fail`: the call is refused with `code` (default InternalServerException);
- `lost_reply`: the call is done, then the connection is closed;
- `error_reply`: the call is done, then the reply is a 500;
- `late_reply`: the call is done, its reply comes `seconds` later;
- `slow_start`: the next cluster stays `seconds` in STARTING;
- `cluster_dies`: the cluster `cluster` ends with an INSTANCE_FAILURE, at once.

`call` is an operation such as `RunJobFlow` or `PutObject`; `*` is any.
"""

from __future__ import annotations

import threading
import time
from dataclasses import asdict, dataclass
from typing import Any, Mapping, Optional

from lake_emulator.call import Call
from lake_emulator.http_server import DropConnection
from lake_emulator.protocols import json_error, s3_error
from lake_emulator.s3.request import Reply

KINDS = (
    "throttle",
    "fail",
    "lost_reply",
    "error_reply",
    "late_reply",
    "slow_start",
    "cluster_dies",
)


@dataclass
class Rule:
    """One fault and how often it will still happen."""

    kind: str
    call: str = "*"
    times: int = 1
    code: str = "InternalServerException"
    seconds: float = 0
    cluster: str = ""


class FaultError(ValueError):
    """A rule for an injected fault has an unknown key or kind.

    Fix: Write the rule as docs/emulator.md shows.
    """


class Faults:
    """The rules that are waiting for their call."""

    def __init__(self) -> None:
        self._rules: list[Rule] = []
        self._lock = threading.Lock()

    def add(self, asked: Mapping[str, Any]) -> Rule:
        unknown = set(asked) - set(Rule.__dataclass_fields__)
        if unknown:
            known = ", ".join(Rule.__dataclass_fields__)
            keys = ", ".join(sorted(unknown))
            raise FaultError(f"unknown key {keys}. Keys of a fault: {known}.")
        if asked.get("kind") not in KINDS:
            choices = ", ".join(KINDS)
            raise FaultError(
                f"kind: got {asked.get('kind')!r}. Choose one of: {choices}."
            )
        rule = Rule(**asked)
        with self._lock:
            self._rules.append(rule)
        return rule

    def clear(self) -> None:
        with self._lock:
            self._rules.clear()

    def waiting(self) -> list[dict[str, Any]]:
        with self._lock:
            return [asdict(rule) for rule in self._rules]

    def refuse(self, call: Call) -> Optional[Reply]:
        """Answer in the place of the service, where a rule says so."""
        rule = self.take(call.operation, "throttle", "fail")
        return _refusal(call, rule) if rule else None

    def spoil(self, call: Call, reply: Reply) -> Reply:
        """Return another reply than the service's, or late, where a rule says so.

        Raises DropConnection where it says that there is none.
        """
        rule = self.take(call.operation, "lost_reply", "error_reply", "late_reply")
        if rule is None:
            return reply
        if rule.kind == "late_reply":
            time.sleep(rule.seconds)
            return reply
        if not isinstance(reply.body, bytes):
            for _ in reply.body:  # else an object's file stays open
                pass
        if rule.kind == "lost_reply":
            raise DropConnection(call.operation)
        return _refusal(call, Rule("fail", code="InternalServerException"))

    def take(self, call: str, *kinds: str) -> Optional[Rule]:
        """Return the first rule of these kinds for this call; counted as used."""
        with self._lock:
            for rule in self._rules:
                if rule.kind in kinds and rule.call in ("*", call):
                    rule.times -= 1
                    if rule.times <= 0:
                        self._rules.remove(rule)
                    return rule
        return None


def _refusal(call: Call, rule: Rule) -> Reply:
    """Return an injected fault as an error of the service."""
    throttled = rule.kind == "throttle"
    if call.service == "s3":
        code = "SlowDown" if throttled else rule.code
        return s3_error(503 if throttled else 500, code, "Please reduce your rate.")
    code = "ThrottlingException" if throttled else rule.code
    message = "Rate exceeded" if throttled else "A fault that was asked for"
    return json_error(500 if code == "InternalServerException" else 400, code, message)
