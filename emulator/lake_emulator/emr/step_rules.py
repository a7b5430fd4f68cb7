"""Which steps are taken, and how their logs say why they failed: what an owner may set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Optional, Sequence

COMMANDS = ("spark-submit",)
"""Commands of `command-runner.jar` that become those of a runtime."""


def other_command(args: Sequence[str]) -> Optional[str]:
    """Return what of a step's arguments is no command of `COMMANDS`; None for nothing."""
    if args and args[0] in COMMANDS:
        return None
    named = repr(args[0]) if args else "nothing"
    return f"a step that starts {named} (only {', '.join(COMMANDS)})"


@dataclass(frozen=True)
class StepRules:
    """What is a matter of whose steps run here; by default every `spark-submit` does."""

    refused: Callable[[Sequence[str]], Optional[str]] = other_command
    """Takes a step's arguments; returns what of them is refused, None for nothing."""
    failure_prefix: str = ""
    """What a log's lines begin with that say why a step failed; "" for no such lines."""
