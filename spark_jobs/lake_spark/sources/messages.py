"""A message of Kafka as one line of a landing file.

The line keeps where the message was (topic, partition, offset, time), its key as
text, also the one before a key change, and its value as the JSON that it was. A
value that is no JSON object is text in `kafka_broken`, and its line ends in
the quarantine.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Optional

from lake_spark.formats.json_records import (
    BROKEN,
    BadRecord,
    object_of,
    refuse_repeated_names,
)


@dataclass(frozen=True)
class Message:
    """One message; `timestamp` in milliseconds since 1970 in UTC."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: Optional[bytes]
    value: Optional[bytes]
    old_key: Optional[bytes] = None
    """The key that the row had before, as Debezium's header `__debezium.oldkey` says."""


def line(message: Message) -> str:
    """Return the message as one line of JSON, its value with every digit that it had."""
    facts = {
        "kafka_topic": message.topic,
        "kafka_partition": message.partition,
        "kafka_offset": message.offset,
        "kafka_timestamp": message.timestamp,
    }
    if message.key is not None:
        facts["kafka_key"] = message.key.decode("utf-8", "backslashreplace")
    if message.old_key is not None:
        facts["kafka_old_key"] = message.old_key.decode("utf-8", "backslashreplace")
    if message.value is None:
        return _object({**facts, "value": None})
    text = _json_object(message.value)
    if text is None:
        broken = message.value.decode("utf-8", "backslashreplace")
        return _object({**facts, BROKEN: broken})
    return f'{_object(facts)[:-1]}, "value": {text}}}'


def _object(facts: Any) -> str:
    return json.dumps(facts, ensure_ascii=False)


def _json_object(value: bytes) -> Optional[str]:
    """Return the text of a JSON object, on one line.

    None if it cannot be read.
    """
    try:
        text = value.decode("utf-8")
        refuse_repeated_names(object_of(text))
    except (UnicodeDecodeError, BadRecord, RecursionError):
        return None
    # Inside texts JSON has no line breaks: those between its parts are mere space.
    return text.replace("\n", " ").replace("\r", " ")
