"""The texts that are in a change file for values that the source did not send."""

from __future__ import annotations

import base64
import json
from typing import Tuple

from lake_spec.model import FileTable
from lake_spec.model.envelopes import PLACEHOLDER


def placeholder_texts(spec: FileTable) -> Tuple[str, ...]:
    """Return the texts of values that the source did not send, if the table has one.

    Bytes are in base64 or as hexadecimal digits, an hstore is an object of JSON. Only
    Debezium has a placeholder that no spec names.
    """
    named = getattr(spec.source, "placeholder", None)
    placeholder = named or (PLACEHOLDER if spec.envelope is not None else None)
    if not placeholder:
        return ()
    content = placeholder.encode()
    encoded = (base64.b64encode(content), base64.urlsafe_b64encode(content))
    texts = [placeholder, *(each.decode() for each in encoded), content.hex()]
    texts.append(json.dumps({placeholder: placeholder}, separators=(",", ":")))
    return tuple(dict.fromkeys(texts))
