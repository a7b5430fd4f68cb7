"""Plain data that remembers where in which file it was written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from lake_spec.diagnostics.diagnostic import Diagnostic, Path, Problem, key_path

REFUSED = object()
"""The value of a node whose diagnostic was reported when the file was read."""


@dataclass
class Node:
    """A value of a file: a scalar, a list of nodes or a dict of nodes."""

    value: Any
    file: str
    line: int

    def child(self, step: Any) -> Optional["Node"]:
        """Return the node below a key or list position, if there is one."""
        if isinstance(self.value, dict):
            return self.value.get(step)
        if isinstance(self.value, list) and isinstance(step, int):
            return self.value[step] if step < len(self.value) else None
        return None

    def at(self, path: Path) -> Optional["Node"]:
        """Return the node at a path, if there is one."""
        node: Optional["Node"] = self
        for step in path:
            node = node.child(step) if node else None
        return node

    def nearest(self, path: Path) -> "Node":
        """Return the node at a path, or the last one on the path that exists."""
        node = self
        for step in path:
            below = node.child(step)
            if below is None:
                return node
            node = below
        return node

    def plain(self) -> Any:
        """Return the value as plain Python data."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value

    def diagnostic(self, problem: Problem) -> Diagnostic:
        """Build a diagnostic of the problem, with its file and line."""
        at = self.nearest(problem.path)
        return Diagnostic(
            file=at.file,
            line=at.line,
            key_path=key_path(problem.path),
            value=problem.value,
            message=problem.message,
            hint=problem.hint,
            rule=problem.rule,
        )
