"""The window of a run: landing files of which times it is about."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Dict, List, Mapping, Optional, Tuple

from lake_spec.diagnostics.diagnostic import shown
from lake_spec.run_options.values import FormField, RunForm, Value
from lake_spec.text.times import GRAMMAR, parse_timestamp

WINDOW = ("window_from", "window_to")
"""The params of a window, which includes its first time and excludes its last."""

Bounds = Tuple[Optional[datetime], Optional[datetime]]

# A text: the field of times of Airflow 3.0 sends invalid times (airflow#54466).
_TIME = (
    r"^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?"
    r"(Z|Z:00\+00:00|[+-]\d{2}:\d{2})?)?$"
)
_SECOND_ZONE = re.compile(r"Z:00\+00:00\Z")


@dataclass(frozen=True)
class Window(Value[Optional[str]]):
    """A span of times, `<from>..<to>` in UTC; a run without one is about all times."""

    description = "Only landing files of these times, in UTC."

    def types(self, name: str) -> Dict[str, str]:
        """Return its two bounds."""
        return {each: "string" for each in WINDOW}

    def fields(self, name: str, form: RunForm) -> Dict[str, FormField]:
        """Return a field for each bound."""
        chooses = "files" in form.params
        default = "files of any time" if chooses else "all files not ingested yet"
        which = ("of this time or later", "before this time")
        schema = {"type": ["null", "string"], "pattern": _TIME}
        return {
            each: FormField(
                None,
                schema,
                f"Only landing files {words}, in UTC, as 2026-01-31T00:00:00Z. "
                f"Default: {default}.",
            )
            for each, words in zip(WINDOW, which)
        }

    def checked(
        self, name: str, params: Mapping[str, Any], form: RunForm, faults: List[str]
    ) -> Optional[str]:
        """Return the window; None where no bound is given."""
        texts = [params.get(each) for each in WINDOW]
        if all(text is None for text in texts):
            return None
        if any(text is None for text in texts):
            faults.append("window: give both window_from and window_to, or neither.")
            return None
        start, end = (_time(each, text, faults) for each, text in zip(WINDOW, texts))
        return None if start is None or end is None else span(start, end, faults)

    def to_arguments(self, argument: str, value: Optional[str]) -> List[str]:
        """Return the span as it is."""
        return [argument, str(value)]

    def argument_settings(self) -> Dict[str, Any]:
        """Read a span, of which one bound may be empty."""
        return {"type": _from_argument, "metavar": "FROM..TO"}


def span(start: datetime, end: datetime, faults: List[str]) -> str:
    """Return the window of two times; one that ends before it starts is a fault."""
    if end <= start:
        faults.append(
            f"window: window_to {_text(end)} is not after window_from {_text(start)}. "
            "A window includes its first timestamp and excludes its last."
        )
    return f"{_text(start)}..{_text(end)}"


def bounds(window: Optional[str]) -> Bounds:
    """Return the two times of a window; None where it is open.

    ValueError says what is wrong with a text that is no window.
    """
    if window is None:
        return None, None
    first, dots, last = window.partition("..")
    if not dots:
        raise ValueError(
            f"got {shown(window)}. Give FROM..TO, of which one may be empty."
        )
    start, end = (_bound(text) for text in (first, last))
    if start and end and end <= start:
        raise ValueError(f"got {shown(window)}, which ends before it starts.")
    return start, end


def _bound(text: str) -> Optional[datetime]:
    timestamp = parse_timestamp(text) if text else None
    if text and timestamp is None:
        raise ValueError(f"not a valid timestamp: {shown(text)} (expected {GRAMMAR}).")
    return timestamp


def _from_argument(text: str) -> Optional[str]:
    """Read a window; None for one that is open on both sides, which is none."""
    try:
        is_open = bounds(text) == (None, None)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return None if is_open else text


def _time(name: str, text: Any, faults: List[str]) -> Optional[datetime]:
    """Return the time in UTC; a text without a zone is UTC.

    Behind what is picked as a time, the form of Airflow 3.0 writes one more zone.
    """
    is_text = isinstance(text, str)
    timestamp = parse_timestamp(_SECOND_ZONE.sub("Z", text)) if is_text else None
    if timestamp is None:
        faults.append(
            f"{name}: not a valid timestamp: {shown(text)} (expected {GRAMMAR}, such "
            "as 2026-01-31T00:00:00Z)."
        )
    return timestamp


def _text(timestamp: datetime) -> str:
    return timestamp.astimezone(timezone.utc).replace(tzinfo=None).isoformat() + "Z"
