"""What is found wrong with random files, and what both kinds of play need."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict

from pyspark.sql import Row

from lake_spec.state.report import Report


@dataclass
class Outcome:
    """What was wrong with files: by number of the file, in words."""

    wrong: Dict[int, str] = field(default_factory=dict)
    poisoned: Dict[int, str] = field(default_factory=dict)


def failed_as_a_whole(report: Report) -> bool:
    """Whether the run failed otherwise than by files that were set aside by name."""
    ids = {each["type"] for each in report.set_aside}
    return bool(report.error) and report.error["type"] not in ids


def plain(value: Any) -> Any:
    """The value as the judge gives it."""
    return tuple(map(plain, value)) if isinstance(value, Row) else value
