"""What is known of clusters and steps: plain records that JSON can hold."""

from __future__ import annotations

import secrets
import string
import time
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Mapping, Optional

ALIVE = ("STARTING", "BOOTSTRAPPING", "RUNNING", "WAITING")
ENDED = ("TERMINATED", "TERMINATED_WITH_ERRORS")
ACTIVE = ("PENDING", "RUNNING", "CANCEL_PENDING")
LETTERS = string.ascii_uppercase + string.digits


def new_id(kind: str) -> str:
    """`j-2AL4XXXXXX5T9` for a cluster, `s-` for a step, as EMR names them."""
    return f"{kind}-{''.join(secrets.choice(LETTERS) for _ in range(13))}"


@dataclass
class Step:
    """One step; times are seconds since 1970."""

    id: str
    name: str
    action_on_failure: str
    jar: str
    args: list[str]
    properties: dict[str, str] = field(default_factory=dict)
    main_class: Optional[str] = None
    role: Optional[str] = None
    state: str = "PENDING"
    created: float = field(default_factory=time.time)
    started: Optional[float] = None
    ended: Optional[float] = None
    failure: Optional[dict[str, str]] = None
    cancelled: bool = False

    @property
    def active(self) -> bool:
        return self.state in ACTIVE


@dataclass
class Ending:
    """Why a cluster ends, and the state in which its running steps are left."""

    code: str
    message: str
    with_errors: bool = False
    step_state: str = "CANCELLED"


@dataclass
class Cluster:
    """One cluster; `described` is what was said at its creation and is only shown."""

    id: str
    name: str
    release_label: str
    described: dict[str, Any]
    log_uri: Optional[str] = None
    tags: dict[str, str] = field(default_factory=dict)
    configurations: list[dict[str, Any]] = field(default_factory=list)
    keep_alive: bool = False
    protected: bool = False
    concurrency: int = 1
    idle_seconds: Optional[int] = None
    scaling: Optional[dict[str, Any]] = None
    start_seconds: float = 0
    state: str = "STARTING"
    reason: dict[str, str] = field(default_factory=dict)
    created: float = field(default_factory=time.time)
    ready: Optional[float] = None
    ended: Optional[float] = None
    idle_since: Optional[float] = None
    ending: Optional[Ending] = None
    steps: list[Step] = field(default_factory=list)

    @property
    def alive(self) -> bool:
        return self.state in ALIVE

    @property
    def over(self) -> bool:
        return self.state in ENDED

    @property
    def active_steps(self) -> list[Step]:
        return [step for step in self.steps if step.active]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Cluster":
        values = _known(cls, record)
        values["steps"] = [Step(**_known(Step, step)) for step in record["steps"]]
        ending = record.get("ending")
        values["ending"] = Ending(**_known(Ending, ending)) if ending else None
        return cls(**values)


def _known(kind: type, record: Mapping[str, Any]) -> dict[str, Any]:
    """Its fields; another version of this project may have written more."""
    names = {entry.name for entry in fields(kind)}
    return {name: value for name, value in record.items() if name in names}
