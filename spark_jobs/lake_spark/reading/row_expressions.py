"""From a file's columns to typed values, as SQL expressions.

Names and values enter the text only through sql_identifier and sql_literal. What a
row says is one list, `source_row`.
"""

from __future__ import annotations

import hashlib
import uuid
from typing import Dict, List, Mapping, Optional, Sequence, Tuple

from lake_spec.model import Column, Csv, FileTable, Format, Json, OnTypeMismatch, Orc
from lake_spec.model.column_type import ColumnType
from lake_spec.model.envelopes import IGNORED, LOG_NAME, NO_ROW, OLD_KEY, columns_of
from lake_spec.model.number_format import NumberFormat
from lake_spec.text.encodings import BASE64
from lake_spec.text.marked_values import row_value
from lake_spec.text.sql_text import sql_identifier, sql_literal
from lake_spark.changelog.not_sent import ALL_BUT
from lake_spark.changelog.schema import LogColumn
from lake_spark.errors import SHOWN, WrongTypes
from lake_spark.formats.absent_fields import sent
from lake_spark.formats.column_names import column_of_deletes, source_before, sources
from lake_spark.formats.file_schema import Shape
from lake_spark.formats.inference import source_name
from lake_spark.formats.placeholders import placeholder_texts
from lake_spark.formats.reader_columns import CORRUPT, THERE, WHY
from lake_spark.schema.casts import Conversion, is_no_utf8
from lake_spark.schema.columns import TEXT, Columns
from lake_spark.schema.key_text import joined_key
from lake_spark.schema.promotion import (
    canonical_type,
    float_paths,
    mismatch,
    storable,
    stored_type,
    widens,
)

NO_TEXT = "CAST(NULL AS string)"

_JAVA_ARRAY = r"^\[+(L[A-Za-z.]+;|[BCDFIJSZ])@[0-9a-f]+$"
"""What Debezium writes of an array in an array of texts: no value of the source."""


def source_row(
    spec: FileTable, shape: Shape, columns: Columns, *, with_corrupt: bool
) -> Dict[str, str]:
    """Return expressions over a file's columns, by name: its rows' values.

    `lake_record_struct` are the file's own values, for `faults` and the quarantine.
    """
    word = word_of(spec, shape)
    return {
        **{name: _value(spec, shape, name, kind) for name, kind in columns},
        "lake_record_struct": raw_record(shape, with_corrupt=with_corrupt),
        "lake_word": word,
        LogColumn.UNAVAILABLE: unavailable(spec, shape, columns),
        LogColumn.NARROW: narrow(spec, shape, columns),
        "lake_named_key": named_key(spec, shape, columns),
        "lake_is_gone": is_gone(spec, shape),
        "lake_before": key_before(spec, shape, columns),
        "lake_log_name": log_name(shape),
        "lake_no_row": no_row(spec, shape, word, with_corrupt=with_corrupt),
        "lake_own_start": own_start(spec, shape, columns, word),
        "lake_corrupt": CORRUPT if with_corrupt else NO_TEXT,
        "lake_corrupt_why": WHY if isinstance(spec.source.format, Json) else NO_TEXT,
    }


def selected(expressions: Mapping[str, str]) -> List[str]:
    """Return `<expression> AS <name>` for each."""
    return [f"{each} AS {sql_identifier(name)}" for name, each in expressions.items()]


def word_of(spec: FileTable, shape: Shape) -> str:
    """Return the file's own word for what happened to the row, null where it has none."""
    declared = spec.operation
    spelled = {name.lower(): name for name in shape.names}
    name = ((declared.column if declared else None) or "").lower()
    if name not in spelled:
        return NO_TEXT
    return f"CAST({sql_identifier(spelled[name])} AS string)"


def is_gone(spec: FileTable, shape: Shape) -> str:
    """Return an expression: whether a column tells that the row was deleted."""
    raw = column_of_deletes(spec, shape)
    if raw is None:
        return "false"
    value = text_of(spec, raw) if shape.type_of(raw).name == "string" else None
    assert spec.operation and spec.operation.deleted_when, raw
    is_null = spec.operation.deleted_when.is_null
    gone = f"{value or sql_identifier(raw)} IS {'' if is_null else 'NOT '}NULL"
    if is_null and shape.tells_absent:
        return f"{gone} AND {THERE}.{sql_identifier(raw)} IS NOT NULL"
    return gone


def faults(spec: FileTable, shape: Shape, columns: Columns) -> str:
    """Return SQL over `source_row`: (words, value) of the first value that cannot be read.

    Null where all can. Typed columns are in it, so that no value is read twice.
    """
    cases, record = [], "lake_record_struct"
    for name, kind in columns:
        raw = source_name(spec, name, shape)
        if raw is None:
            continue
        found, column = shape.type_of(raw), f"{record}.{sql_identifier(raw)}"
        table = stored_type(kind)
        fault = _fault(spec, name, column, found, table, sql_identifier(name))
        if fault:
            reason = _conversion(spec, name).reason(column, found, table, name)
            cases.append(f"WHEN {fault} THEN {reason}")
    cases += _no_text(spec, shape, columns, record)
    none = "CAST(NULL AS struct<words: string, value: string>)"
    return f"CASE {' '.join(cases)} END" if cases else none


def shown_text(text: str) -> str:
    """Return an expression: a text as messages show it, of a long one the beginning."""
    cut = (
        f"substr({text}, 1, {SHOWN}) || '... (' || "
        f"format_number(length({text}), 0) || ' characters)'"
    )
    return f"CASE WHEN length({text}) > {SHOWN} THEN {cut} ELSE {text} END"


def _fault(
    spec: FileTable,
    name: str,
    column: str,
    found: ColumnType,
    table: ColumnType,
    value: str,
) -> str:
    """Return an expression: whether the value cannot be read; '' if all can."""
    fault = _conversion(spec, name).fault(column, found, table, value=value)
    not_sent = _not_sent(spec, column, found) if found.is_nested else None
    fault = f"NOT {not_sent} AND ({fault})" if fault and not_sent else fault
    is_texts = found.name == "array" and table.text == "array<string>"
    if not (spec.envelope and is_texts and found.inner[0].name == "string"):
        return fault
    no_text = f"exists({column}, x -> x RLIKE {sql_literal(_JAVA_ARRAY)})"
    return f"(({fault}) OR {no_text})" if fault else no_text


def _no_text(spec: FileTable, shape: Shape, columns: Columns, record: str) -> List[str]:
    """List cases for texts whose bytes are no UTF-8, of files that Spark does not decode.

    All texts of a row are looked at together, for hardly any row has such a one.
    """
    if isinstance(spec.source.format, (Csv, Json)):
        return []
    raws = [(name, source_name(spec, name, shape)) for name, _ in columns]
    texts = [
        (name, f"{record}.{sql_identifier(raw)}")
        for name, raw in raws
        if raw is not None and shape.type_of(raw).name == "string"
    ]
    if not texts:
        return []
    each = " ".join(
        f"WHEN {is_no_utf8(column)} THEN named_struct('words', "
        f"{sql_literal(name + ': cannot be read as text: bytes that are not UTF-8: ')}, "
        f"'value', hex(substring(CAST({column} AS binary), 1, 100)))"
        for name, column in texts
    )
    whole = f"concat_ws('|', {', '.join(column for _, column in texts)})"
    return [f"WHEN {is_no_utf8(whole)} THEN CASE {each} END"]


def raw_record(shape: Shape, *, with_corrupt: bool) -> str:
    """Return the file's own values as one struct, for the quarantine."""
    names = list(shape.names) + ([CORRUPT] if with_corrupt else [])
    return f"struct({', '.join(sql_identifier(name) for name in names)})"


def _value(spec: FileTable, shape: Shape, name: str, kind: str) -> str:
    """Return the column's value; a key that an update did not send is the one before."""
    raw, value = source_name(spec, name, shape), _typed(spec, shape, name, kind)
    before = source_before(spec, shape, name) if name in spec.key else None
    if raw is None or before is None:
        return value
    not_sent = _not_sent(spec, sql_identifier(raw), shape.type_of(raw))
    old = _typed_of(spec, shape, name, kind, before)
    return f"CASE WHEN {not_sent} THEN {old} ELSE {value} END" if not_sent else value


def _typed(spec: FileTable, shape: Shape, name: str, kind: str) -> str:
    return _typed_of(spec, shape, name, kind, source_name(spec, name, shape))


def _typed_of(
    spec: FileTable, shape: Shape, name: str, kind: str, raw: Optional[str]
) -> str:
    if raw is None:
        return f"CAST(NULL AS {kind})"
    found, column = shape.type_of(raw), sql_identifier(raw)
    value = _conversion(spec, name).value(column, found, stored_type(kind))
    not_sent = _not_sent(spec, column, found) if found.is_nested else None
    return f"CASE WHEN NOT {not_sent} THEN {value} END" if not_sent else value


def from_text(spec: FileTable, name: str, kind: str, text: Optional[str] = None) -> str:
    """Return an expression: the column's value of a text (of its own name) in a file."""
    place = text or sql_identifier(name)
    return _conversion(spec, name).value(place, TEXT, stored_type(kind))


def _not_sent(spec: FileTable, column: str, found: ColumnType) -> Optional[str]:
    """Return SQL: whether a value of that type was not sent; None if none can be.

    In arrays the placeholder is the only element, as text or as the UUID that is made
    of it, or its bytes are the elements, a number each. Contract section 7.
    """
    texts = placeholder_texts(spec)
    if not texts:
        return None
    content = texts[0].encode()
    if found.name == "string":
        return f"coalesce({column} IN ({_literals(texts)}), false)"
    if found.name == "binary":
        return f"coalesce({column} = X'{content.hex()}', false)"
    if found.name == "map" and found.inner[0].name == "string":
        entry = sql_literal(texts[0])
        value = f"CAST({column}[{entry}] AS string)"
        return f"coalesce(size({column}) = 1 AND {value} = {entry}, false)"
    if found.name == "struct" and texts[0] in found.fields:
        field = f"{column}.{sql_identifier(texts[0])}"
        return f"coalesce(CAST({field} AS string) = {sql_literal(texts[0])}, false)"
    if found.name != "array" or found.inner[0].is_nested:
        return None
    if found.inner[0].name == "binary":
        only = f"{column}[0] = X'{content.hex()}'"
        return f"coalesce(size({column}) = 1 AND {only}, false)"
    named = uuid.UUID(bytes=hashlib.md5(content).digest(), version=3)  # as Java does
    ones = _literals((*texts, str(named)))
    numbers = [_literals([str(each) for each in content])]
    numbers.append(_literals([f"{each}.0" for each in content]))
    whole = ", ".join(f"array({each})" for each in numbers)
    elements = f"CAST({column} AS array<string>)"
    return (
        f"coalesce((size({column}) = 1 AND {elements}[0] IN ({ones})) OR"
        f" (size({column}) = {len(content)} AND {elements} IN ({whole})), false)"
    )


def _literals(texts: Sequence[str]) -> str:
    return ", ".join(sql_literal(text) for text in texts)


def narrow(spec: FileTable, shape: Shape, columns: Columns) -> str:
    """Return an expression: the paths of doubles that are floats in the file, else null."""
    paths = narrow_paths(spec, shape, columns)
    return sql_literal(",".join(paths)) if paths else "CAST(NULL AS string)"


def narrow_paths(spec: FileTable, shape: Shape, columns: Columns) -> List[str]:
    """Return the paths of the table's doubles that are floats in the file."""
    return [
        path
        for name, kind in columns
        for raw in [source_name(spec, name, shape)]
        if raw is not None
        for path in float_paths(shape.type_of(raw), stored_type(kind), name)
    ]


def is_dropped(spec: FileTable, name: str) -> bool:
    """Return whether files may lack the column without saying anything of its values."""
    declared = spec.column(name)
    return bool(declared and declared.dropped)


def unavailable(spec: FileTable, shape: Shape, columns: Columns) -> str:
    """Return an expression: which values were not sent (changelog/not_sent.py)."""
    if shape.tells_absent:
        return _all_but_sent(spec, shape, columns)
    cases = []
    for name, _ in columns:
        if name in spec.key:
            continue  # it is known, or the row is a bad one
        raw, text = source_name(spec, name, shape), sql_literal(name)
        if raw is None:
            cases += [text] if is_dropped(spec, name) else []
            continue
        not_sent = _not_sent(spec, sql_identifier(raw), shape.type_of(raw))
        cases += [f"CASE WHEN {not_sent} THEN {text} END"] if not_sent else []
    if not cases:
        return NO_TEXT
    return f"nullif(concat_ws(',', {', '.join(cases)}), '')"


def _all_but_sent(spec: FileTable, shape: Shape, columns: Columns) -> str:
    """Return an expression: what the record has, also of columns that no table has yet."""
    kinds = {name: stored_type(kind) for name, kind in columns}
    envelope = columns_of(spec.envelope) if spec.envelope is not None else ()
    always = dict.fromkeys((*spec.key, *spec.order_by, *spec.path_columns, *envelope))
    cases = [sql_literal(",".join((ALL_BUT, *(name.lower() for name in always))))]
    for name, raw in sources(spec, shape).items():
        if name in always:
            continue
        found = shape.type_of(raw)
        not_sent = _not_sent(spec, sql_identifier(raw), found)
        paths = sent(name, raw, found, kinds.get(name, found))
        cases.append(
            f"CASE WHEN NOT {not_sent} THEN {paths} END" if not_sent else paths
        )
    return f"concat_ws(',', {', '.join(cases)})"


def key_before(spec: FileTable, shape: Shape, columns: Columns) -> str:
    """Return an expression: the columns of the key before a change of it, else null.

    A part that the record does not say did not change. Contract section 6.
    """
    kinds = dict(columns)
    key = [(name, kinds[name]) for name in spec.key]
    befores = {name: source_before(spec, shape, name) for name in spec.key}
    fields = ", ".join(f"{sql_identifier(name)}: {kind}" for name, kind in key)
    if not any(befores.values()):
        return f"CAST(NULL AS struct<{fields}>)"
    new = [(_value(spec, shape, *each), each[1]) for each in key]
    old = []
    for (name, kind), (value, _) in zip(key, new):
        before = _typed_of(spec, shape, name, kind, befores[name])
        old.append((f"coalesce({before}, {value})", kind))
    parts = ", ".join(
        f"{sql_literal(name)}, CAST({value} AS {kind})"
        for name, (value, kind) in zip(spec.key, old)
    )
    differs = f"{joined_key(old)} != {joined_key(new)}"
    return f"CASE WHEN {differs} THEN named_struct({parts}) END"


def named_key(spec: FileTable, shape: Shape, columns: Columns) -> str:
    """Return an expression: the key before, of a create that names it and lacks values."""
    missing = unavailable(spec, shape, columns)
    if OLD_KEY not in shape.names or missing == NO_TEXT:
        return NO_TEXT
    kinds, parts = dict(columns), []
    for name in spec.key:
        raw = source_name(spec, name, shape) or name
        places = (sql_literal(f"{way}['{raw}']") for way in ("$", "$.payload"))
        texts = [f"get_json_object({sql_identifier(OLD_KEY)}, {p})" for p in places]
        text = f"coalesce({', '.join(texts)})"
        parts.append((from_text(spec, name, kinds[name], text), kinds[name]))
    known = " AND ".join(f"{value} IS NOT NULL" for value, _ in parts)
    return f"CASE WHEN ({missing}) IS NOT NULL AND {known} THEN {joined_key(parts)} END"


def log_name(shape: Shape) -> str:
    """Return an expression: the log that the row's position is in, else null."""
    return sql_identifier(LOG_NAME) if LOG_NAME in shape.names else NO_TEXT


def no_row(spec: FileTable, shape: Shape, word: str, *, with_corrupt: bool) -> str:
    """Return an expression: why the record is no row at all, else null."""
    otherwise = sql_identifier(NO_ROW) if NO_ROW in shape.names else NO_TEXT
    ignored = spec.operation.ignore if spec.operation is not None else ()
    if not ignored:
        return otherwise
    is_ignored = f"{word} IN ({_literals(ignored)})"
    is_ignored += f" AND {CORRUPT} IS NULL" if with_corrupt else ""
    return f"CASE WHEN {is_ignored} THEN '{IGNORED}' ELSE {otherwise} END"


def own_start(spec: FileTable, shape: Shape, columns: Columns, word: str) -> str:
    """Return an expression: where a row of a connector's snapshot was read, else null.

    JSON of the order columns, as a full refresh has it. Contract 2.3.
    """
    declared, kinds = spec.operation, dict(columns)
    if spec.envelope is None or declared is None or not declared.load:
        return NO_TEXT
    parts = [
        f"{sql_literal(name)}, {_typed(spec, shape, name, kinds[name])}"
        for name in spec.order_by
    ]
    start = f"to_json(named_struct({', '.join(parts)}))"
    return f"CASE WHEN {word} IN ({_literals(declared.load)}) THEN {start} END"


def _numbers(kind: Format, declared: Optional[Column]) -> Optional[NumberFormat]:
    """Return how numbers are written: the column's word comes before the file's."""
    if not isinstance(kind, Csv):
        return None
    own = declared.numbers if declared else None
    return own or kind.numbers


def _conversion(spec: FileTable, name: str) -> Conversion:
    declared = spec.column(name)
    kind = spec.source.format
    # The reader has told nulls from texts already.
    is_told = isinstance(kind, Csv) and kind.tells_nulls
    nulls = () if is_told else kind.null_text
    return Conversion(
        null_text=(*nulls, *placeholder_texts(spec)),
        # Spark reads an empty field as null whatever its options say.
        empty=isinstance(kind, Csv) and not is_told,
        pattern=_format(spec, declared) if declared else None,
        numbers=_numbers(kind, declared),
        timezone=spec.source.timezone,
        # ORC's timestamps are what a clock showed, without its zone.
        local_times=isinstance(kind, Orc) and spec.source.timezone.upper() != "UTC",
    )


def _format(spec: FileTable, column: Column) -> Optional[str]:
    """Return the column's own format; MongoDB's bytes are always base64."""
    kind = spec.source.format
    is_extended = isinstance(kind, Json) and kind.extended
    is_binary = canonical_type(column.type) == "binary"
    return BASE64 if is_extended and is_binary else column.format


def text_of(spec: FileTable, raw: str) -> str:
    """Return the text of a column of a file, null where it is one of the null texts."""
    return _conversion(spec, raw).text(sql_identifier(raw))


def refuse_mismatch(spec: FileTable, shape: Shape, columns: Columns, path: str) -> None:
    """Raise WrongTypes where a column's type does not fit the table's.

    Text is only read as the type that a spec declares, or in formats without others.
    """
    has_types = spec.source.format.type not in ("csv", "json")
    for name, kind in columns:
        raw = source_name(spec, name, shape)
        if raw is None or _is_lenient(spec, name):
            continue
        of_file, of_table = shape.type_of(raw), stored_type(kind)
        reads_text = spec.column(name) is not None or not has_types
        place = mismatch(of_file, of_table, raw, reads_text=reads_text)
        if place and not _conversion(spec, name).reads(of_file, of_table):
            where, found, table = place
            raise WrongTypes(
                path,
                f"column {where!r} is {_kind(found)}, but the table's column {name!r} is "
                f"{table.text[:200]} there, and a narrower or different type is never cast. "
                + _remedy(spec, name, raw, of_file, of_table),
            )


def _kind(found: ColumnType) -> str:
    """Return the type in a file: the fields of a nested one may be names of values."""
    text = found.text[:200]
    return row_value(text) if found.is_nested else text


def _remedy(
    spec: FileTable, name: str, raw: str, found: ColumnType, table: ColumnType
) -> str:
    """Return what to do about a type that does not fit."""
    if spec.column(name) is not None:
        wider = f" ({_kind(found.stored)})" if widens(table, found.stored) else ""
        return (
            f"Widen the type in the spec{wider}, fix the file, or quarantine the rows "
            f"that do not fit (columns.{name}.on_type_mismatch: quarantine)."
        )
    of_file = storable(found)
    other = _kind(of_file) if of_file else "string"
    as_text = (
        "as {type: string}, which keeps the JSON text of each value, or "
        if table.is_nested
        else ""
    )
    return (
        f"The spec does not declare it. Declare columns.{name} {as_text}as {{type: "
        f"{table.text[:200]}, on_type_mismatch: quarantine}}, which quarantines the rows "
        f"that do not fit, or read it into another column: columns: {{{name}_2: {{type: "
        f"{other}, source: [{raw!r}]}}}}; or fix the file."
    )


def _is_lenient(spec: FileTable, name: str) -> bool:
    declared = spec.column(name)
    wanted = declared.on_type_mismatch if declared else OnTypeMismatch.REFUSE
    return wanted is OnTypeMismatch.QUARANTINE


def first_reason(cases: Sequence[Tuple[str, str]]) -> str:
    """Return an expression: the words of the first case that is true, else null.

    A case is (condition, SQL of its words).
    """
    if not cases:
        return "CAST(NULL AS string)"
    return "CASE " + " ".join(f"WHEN {c} THEN {words}" for c, words in cases) + " END"
