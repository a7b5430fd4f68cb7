"""The states of clusters and of steps, and which follows which: the one place for both."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Mapping, Self


class _State(StrEnum):
    @property
    def after(self) -> tuple[Self, ...]:
        """The states that may follow."""
        following: tuple[Self, ...] = _AFTER[type(self)][self]
        return following

    @property
    def over(self) -> bool:
        """Whether none may follow."""
        return not self.after

    def next(self, state: Self) -> Self:
        """Return the state if it is this one or may follow it. Raises ValueError."""
        if state is not self and state not in self.after:
            raise ValueError(f"the state {state} does not follow {self}")
        return state


class StepState(_State):
    """The states of a step, as EMR spells them."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    CANCEL_PENDING = "CANCEL_PENDING"
    COMPLETED = "COMPLETED"
    CANCELLED = "CANCELLED"
    FAILED = "FAILED"
    INTERRUPTED = "INTERRUPTED"


class ClusterState(_State):
    """The states of a cluster, as EMR spells them."""

    STARTING = "STARTING"
    BOOTSTRAPPING = "BOOTSTRAPPING"
    RUNNING = "RUNNING"
    WAITING = "WAITING"
    TERMINATING = "TERMINATING"
    TERMINATED = "TERMINATED"
    TERMINATED_WITH_ERRORS = "TERMINATED_WITH_ERRORS"

    @property
    def alive(self) -> bool:
        """Whether it can still be asked to do something, or to end."""
        return ClusterState.TERMINATING in self.after

    @property
    def instances(self) -> str:
        """The state of its instances, which have names of their own."""
        if self is ClusterState.STARTING:
            return "PROVISIONING"
        if self is ClusterState.BOOTSTRAPPING:
            return "BOOTSTRAPPING"
        return "RUNNING" if self.alive else "TERMINATED"


_S, _C = StepState, ClusterState
_ENDS = (_C.TERMINATING, _C.TERMINATED_WITH_ERRORS)
"""What may follow while a cluster is alive: the second after a crash of the emulator."""

_AFTER: Mapping[type, Mapping[Any, Any]] = {
    StepState: {
        _S.PENDING: (_S.RUNNING, _S.CANCELLED),
        _S.RUNNING: tuple(each for each in _S if each is not _S.PENDING),
        _S.CANCEL_PENDING: (_S.CANCELLED, _S.INTERRUPTED),
        **dict.fromkeys((_S.COMPLETED, _S.CANCELLED, _S.FAILED, _S.INTERRUPTED), ()),
    },
    ClusterState: {
        _C.STARTING: (_C.BOOTSTRAPPING, *_ENDS),
        _C.BOOTSTRAPPING: (_C.RUNNING, *_ENDS),
        _C.RUNNING: (_C.WAITING, *_ENDS),
        _C.WAITING: (_C.RUNNING, *_ENDS),
        _C.TERMINATING: (_C.TERMINATED, _C.TERMINATED_WITH_ERRORS),
        **dict.fromkeys((_C.TERMINATED, _C.TERMINATED_WITH_ERRORS), ()),
    },
}
