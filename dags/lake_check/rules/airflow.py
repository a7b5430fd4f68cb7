"""Rules on values for Airflow, in any spec."""

from __future__ import annotations

from typing import Iterator, Optional

from lake_spec.diagnostics.diagnostic import Path, Problem, got
from lake_spec.text.cron import BadCron, check_cron


def cron(path: Path, text: Optional[str]) -> Iterator[Problem]:
    """Require five fields of cron or a preset, if there is a schedule."""
    if text is None:
        return
    try:
        check_cron(text)
    except BadCron as error:
        yield got(path, text, str(error))
