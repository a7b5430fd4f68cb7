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
from dataclasses import asdict, dataclass
from typing import Any, Mapping, Optional

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
