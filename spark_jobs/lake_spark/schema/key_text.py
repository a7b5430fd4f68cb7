"""The key of a row as one text: `lake_key` of the change log, and Hudi's record key."""

from __future__ import annotations

from typing import Sequence, Tuple

from lake_spec.text.sql_text import sql_identifier
from lake_spark.schema.promotion import canonical_type


def key_text(key: Sequence[Tuple[str, str]]) -> str:
    """Return the key as one text: equal texts are equal tuples, and only those.

    Parts are escaped before they are joined, so ("a|b", "c") is not
    ("a", "b|c"); no part holds Hudi's own separators `:` and `,`. A part with characters
    other than ASCII is percent-encoded as in an URL.
    """
    return joined_key([(sql_identifier(name), kind) for name, kind in key])


def joined_key(parts: Sequence[Tuple[str, str]]) -> str:
    """Return the same of parts that are expressions: (SQL, type) each."""
    return "concat_ws('|', " + ", ".join(_key_part(*part) for part in parts) + ")"


def _key_part(value: str, kind: str) -> str:
    text = escaped = _canonical_text(value, canonical_type(kind))
    for char, code in (("%", "%25"), ("|", "%7C"), (",", "%2C"), (":", "%3A")):
        escaped = f"replace({escaped}, '{char}', '{code}')"
    cases = [
        f"WHEN {text} = '' THEN '%'"
    ]  # It must not vanish: Hudi takes no empty key.
    if canonical_type(kind) == "string":
        # Java and Hudi's indexes sort other characters in two ways. No text in ASCII has
        # the codes of their bytes, %80 and up.
        is_wide = f"octet_length({text}) > char_length({text})"
        cases.append(f"WHEN {is_wide} THEN url_encode({text})")
    return f"CASE {' '.join(cases)} ELSE {escaped} END"


def _canonical_text(column: str, kind: str) -> str:
    if kind == "timestamp":
        return f"CAST(unix_micros({column}) AS string)"
    if kind in ("float", "double"):
        return f"CAST(CASE WHEN {column} = 0 THEN abs({column}) ELSE {column} END AS string)"
    if kind == "binary":
        return f"hex({column})"
    return f"CAST({column} AS string)"
