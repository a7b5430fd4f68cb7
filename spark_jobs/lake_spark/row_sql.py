"""From a file's columns to typed values, as SQL expressions.

Both engines use these texts: PySpark through selectExpr, HoodieStreamer in its
SQL file. So either gives the same rows. Names and values enter the text only
through sql_identifier and sql_literal.
"""

from __future__ import annotations

from typing import Dict, List, Sequence, Tuple

from lake_spec.column_type import canonical_type
from lake_spec.model import Csv, TableSpec
from lake_spec.sql_text import sql_identifier, sql_literal
from lake_spark.errors import BadFile
from lake_spark.file_shape import CORRUPT, Shape, source_name

Columns = Sequence[Tuple[str, str]]
"""Lake columns: (name, Spark type) each."""

_WIDER = {
    "tinyint": {"smallint", "int", "bigint", "float", "double"},
    "smallint": {"int", "bigint", "float", "double"},
    "int": {"bigint", "double"},
    "float": {"double"},
    "date": {"timestamp"},
}


def typed_columns(
    spec: TableSpec, shape: Shape, columns: Columns, path: str
) -> List[str]:
    """`<expression> AS <column>` for every lake column, null where it is missing."""
    return [
        f"{_typed(spec, shape, name, kind, path)} AS {sql_identifier(name)}"
        for name, kind in columns
    ]


def faults(spec: TableSpec, shape: Shape, columns: Columns, path: str) -> str:
    """An expression: why the first unreadable value cannot be read, else null."""
    cases = []
    for name, kind in columns:
        raw = source_name(spec, name, shape)
        if raw is None or not _is_parsed(shape.type_of(raw), kind):
            continue
        text = text_of(spec, raw)
        typed = _typed(spec, shape, name, kind, path)
        words = sql_literal(f"{name}: cannot be read as {kind}: ")
        cases.append(
            f"WHEN {text} IS NOT NULL AND {typed} IS NULL THEN {words} || {text}"
        )
    return f"CASE {' '.join(cases)} END" if cases else "CAST(NULL AS string)"


def raw_record(shape: Shape, *, with_corrupt: bool) -> str:
    """The file's own values as one struct, for the quarantine."""
    names = list(shape.names) + ([CORRUPT] if with_corrupt else [])
    return f"struct({', '.join(sql_identifier(name) for name in names)})"


def _typed(spec: TableSpec, shape: Shape, name: str, kind: str, path: str) -> str:
    raw = source_name(spec, name, shape)
    target = canonical_type(kind)
    if raw is None:
        return f"CAST(NULL AS {kind})"
    found = canonical_type(shape.type_of(raw))
    if found == "string":
        return _fromtext_of(spec, name, text_of(spec, raw), target, kind)
    if found == target:
        return sql_identifier(raw)
    if may_become(found, target):
        return f"CAST({sql_identifier(raw)} AS {kind})"
    raise BadFile(
        path,
        f"column {raw!r} is {found}, the table's column {name!r} is {target}: "
        "a narrower or different type is never cast. Widen the type in the spec or mend the file.",
    )


def _is_parsed(found: str, kind: str) -> bool:
    return canonical_type(found) == "string" and canonical_type(kind) != "string"


def may_become(found: str, target: str) -> bool:
    if target == "string" and not found.startswith(("array", "struct", "map")):
        return True
    if found.startswith("decimal") and target.startswith("decimal"):
        return _fits(found, target)
    if target.startswith("decimal"):
        return found in ("tinyint", "smallint", "int")
    return target in _WIDER.get(found, ())


def _fits(found: str, target: str) -> bool:
    (precision, scale), (wider, finer) = _digits(found), _digits(target)
    return finer >= scale and wider - finer >= precision - scale


def _digits(kind: str) -> Tuple[int, int]:
    inner = kind[kind.index("(") + 1 : -1].split(",")
    return int(inner[0]), int(inner[1]) if len(inner) > 1 else 0


def text_of(spec: TableSpec, raw: str) -> str:
    """The text of a value, null where it is one of the null texts."""
    kind = spec.source.format
    value = sql_identifier(raw)
    if isinstance(kind, Csv):
        # Spark reads an empty field as null whatever it is told.
        value = f"coalesce({value}, '')"
    no_value = [*kind.null_text, *placeholders(spec)]
    if not no_value:
        return value
    nulls = ", ".join(sql_literal(text) for text in no_value)
    return f"CASE WHEN {value} IN ({nulls}) THEN NULL ELSE {value} END"


def placeholders(spec: TableSpec) -> Tuple[str, ...]:
    """The text of values that the source did not send, if the table has one."""
    placeholder = getattr(spec.source, "placeholder", None)
    return (placeholder,) if placeholder else ()


def unavailable(spec: TableSpec, shape: Shape, columns: Columns) -> str:
    """An expression: names of the columns whose value was not sent, `a,b`, else null."""
    cases = []
    for name, _ in columns:
        raw = source_name(spec, name, shape)
        if raw is None or canonical_type(shape.type_of(raw)) != "string":
            continue
        cases += [
            f"CASE WHEN {sql_identifier(raw)} = {sql_literal(text)} THEN {sql_literal(name)} END"
            for text in placeholders(spec)
        ]
    if not cases:
        return "CAST(NULL AS string)"
    return f"nullif(concat_ws(',', {', '.join(cases)}), '')"


def _fromtext_of(spec: TableSpec, name: str, text: str, target: str, kind: str) -> str:
    if target == "string":
        return text
    if target in ("date", "timestamp"):
        return _moment(spec, name, text, target)
    if target.startswith(("array", "struct", "map")):
        return f"from_json({text}, {sql_literal(kind)})"
    if target == "binary":
        return f"CAST({text} AS binary)"
    if target.startswith("decimal"):
        # More digits than declared are unreadable, never rounded.
        exact = f"try_cast({text} AS decimal(38,18))"
        return f"CASE WHEN try_cast({text} AS {kind}) = {exact} THEN try_cast({text} AS {kind}) END"
    return f"try_cast({text} AS {kind})"


def _moment(spec: TableSpec, name: str, text: str, target: str) -> str:
    declared = dict(spec.columns).get(name)
    pattern = declared.format if declared else None
    parsed = (
        f"try_to_timestamp({text}, {sql_literal(pattern)})"
        if pattern
        else f"try_cast({text} AS timestamp)"
    )
    if target == "date":
        return f"CAST({parsed} AS date)" if pattern else f"try_cast({text} AS date)"
    if spec.source.timezone.upper() == "UTC":
        return parsed
    zone = sql_literal(spec.source.timezone)
    has_zone = sql_literal(r"(Z|[+-]\d{2}:?\d{2}|UTC|GMT)\s*$")
    local = f"to_utc_timestamp({parsed}, {zone})"
    return f"CASE WHEN {text} RLIKE {has_zone} THEN {parsed} ELSE {local} END"


def failed_rules(spec: TableSpec, on_fail: str) -> Dict[str, str]:
    """For rules of that severity: the rule in words -> SQL that is true for bad rows."""
    return {
        words: f"NOT coalesce({test}, true)"
        for rule in spec.quality
        if rule.on_fail.value == on_fail
        for words, test in [_rule(rule)]
    }


def _rule(rule) -> Tuple[str, str]:
    column = sql_identifier(rule.column)
    text = f"CAST({column} AS string)"
    if rule.not_null:
        return f"{rule.column} has no value", f"{column} IS NOT NULL"
    if rule.one_of:
        choices = ", ".join(sql_literal(each) for each in rule.one_of)
        return (
            f"{rule.column} is not one of {list(rule.one_of)}",
            f"{text} IN ({choices})",
        )
    if rule.matches is not None:
        return (
            f"{rule.column} does not match {rule.matches!r}",
            f"{text} RLIKE {sql_literal(rule.matches)}",
        )
    if rule.at_least is not None:
        return (
            f"{rule.column} is below {rule.at_least}",
            f"{column} >= {rule.at_least!r}",
        )
    return f"{rule.column} is above {rule.at_most}", f"{column} <= {rule.at_most!r}"


def first_reason(cases: Sequence[Tuple[str, str]]) -> str:
    """An expression: the words of the first case that is true, else null.

    A case is (condition, SQL of its words).
    """
    if not cases:
        return "CAST(NULL AS string)"
    return "CASE " + " ".join(f"WHEN {c} THEN {words}" for c, words in cases) + " END"


def key_text(key: Sequence[Tuple[str, str]]) -> str:
    """The key as one text: equal texts are equal tuples, and only those.

    Parts are escaped before they are joined, so ("a|b", "c") is not
    ("a", "b|c"); no part holds Hudi's own separators `:` and `,`.
    """
    return "concat_ws('|', " + ", ".join(_key_part(*part) for part in key) + ")"


def _key_part(name: str, kind: str) -> str:
    text = _canonical_text(sql_identifier(name), canonical_type(kind))
    for char, code in (("%", "%25"), ("|", "%7C"), (",", "%2C"), (":", "%3A")):
        text = f"replace({text}, '{char}', '{code}')"
    # An empty text must not vanish: Hudi takes no empty key.
    return f"CASE WHEN {text} = '' THEN '%' ELSE {text} END"


def _canonical_text(column: str, kind: str) -> str:
    if kind == "timestamp":
        return f"CAST(unix_micros({column}) AS string)"
    if kind in ("float", "double"):
        return f"CAST(CASE WHEN {column} = 0 THEN abs({column}) ELSE {column} END AS string)"
    if kind == "binary":
        return f"hex({column})"
    return f"CAST({column} AS string)"


def any_null(names: Sequence[str]) -> str:
    """An expression: whether one of the columns has no value."""
    return " OR ".join(f"{sql_identifier(name)} IS NULL" for name in names)
