"""Rules on values for Airflow and its notifications, in any spec."""

from __future__ import annotations

import re
from typing import Iterator, Optional

from lake_spec.diagnostics.diagnostic import Path, Problem, got
from lake_spec.text.cron import BadCron, check_cron

_TOPIC = re.compile(
    r"arn:aws(-[a-z]+){0,2}:sns:[a-z]{2}(-[a-z]+){1,2}-\d:\d{12}:[A-Za-z0-9_-]{1,256}",
    re.ASCII,
)


def cron(path: Path, text: Optional[str]) -> Iterator[Problem]:
    """Require five fields of cron or a preset, if there is a schedule."""
    if text is None:
        return
    try:
        check_cron(text)
    except BadCron as error:
        yield got(path, text, str(error))


def sns_topic(path: Path, topic: Optional[str]) -> Iterator[Problem]:
    """Require the ARN of a standard topic, if there is one."""
    if topic is not None and not _TOPIC.fullmatch(topic):
        yield got(
            path,
            topic,
            "Write the ARN of a standard SNS topic, as in"
            " arn:aws:sns:eu-central-1:123456789012:lake-failures.",
        )
