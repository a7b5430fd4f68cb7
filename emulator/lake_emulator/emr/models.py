"""What is known of clusters and steps: plain records that JSON can hold."""

from __future__ import annotations

import secrets
import string
import time
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Mapping, Optional

from lake_emulator.emr.state_machine import ClusterState, StepState

LETTERS = string.ascii_uppercase + string.digits


def new_id(kind: str) -> str:
    """Return an id as EMR does: `j-2AL4XXXXXX5T9` for a cluster, `s-` for a step."""
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
    state: StepState = StepState.PENDING
    created: float = field(default_factory=time.time)
    started: Optional[float] = None
    ended: Optional[float] = None
    failure: Optional[dict[str, str]] = None
    cancelled: bool = False

    def __post_init__(self) -> None:
        self.state = StepState(self.state)

    @property
    def active(self) -> bool:
        return not self.state.over

    def enter(self, state: StepState) -> None:
        """Take a state that may follow, and note when."""
        self.state = self.state.next(state)
        if state is StepState.RUNNING:
            self.started = time.time()
        elif not self.active:
            self.ended = time.time()


@dataclass
class Ending:
    """Why a cluster ends, and the state in which its running steps are left."""

    code: str
    message: str
    with_errors: bool = False
    step_state: StepState = StepState.CANCELLED

    def __post_init__(self) -> None:
        self.step_state = StepState(self.step_state)


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
    state: ClusterState = ClusterState.STARTING
    reason: dict[str, str] = field(default_factory=dict)
    created: float = field(default_factory=time.time)
    ready: Optional[float] = None
    ended: Optional[float] = None
    idle_since: Optional[float] = None
    ending: Optional[Ending] = None
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.state = ClusterState(self.state)

    @property
    def alive(self) -> bool:
        return self.state.alive

    @property
    def over(self) -> bool:
        return self.state.over

    @property
    def active_steps(self) -> list[Step]:
        return [step for step in self.steps if step.active]

    def enter(self, state: ClusterState) -> None:
        """Take a state that may follow, and note when."""
        self.state = self.state.next(state)
        if state is ClusterState.RUNNING and self.ready is None:
            self.ready = time.time()
        elif self.over:
            self.ended = time.time()

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
    """Return its fields; another version of this project may have written more."""
    names = {entry.name for entry in fields(kind)}
    return {name: value for name, value in record.items() if name in names}
