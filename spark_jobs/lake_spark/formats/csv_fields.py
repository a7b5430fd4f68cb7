"""CSV whose fields are taken apart as they stand: with escapes, quotes that tell nulls, or
lines above the header.

Spark's parser knows an escape inside of quotes alone, loses whether a field was quoted, and
takes a file's first line for its header. So each file is read as one text, of which
expressions make records and fields, on the executors. What is no record by these rules
refuses the file.
"""

from __future__ import annotations

from typing import List, Sequence

from pyspark.sql import DataFrame, Row, SparkSession

from lake_spec.model import Csv
from lake_spec.text.sql_text import sql_identifier, sql_literal
from lake_spark.formats.csv_text import CONTROLS, charset, field_pattern
from lake_spark.formats.file_schema import Shape
from lake_spark.formats.reader_columns import CORRUPT
from lake_spark.landing import literal_paths

LARGEST_FILE = 128 << 20
"""The most bytes of such a file, unpacked: it passes through memory as a whole."""

_OPTIONS = {"wholetext": "true"}
"""Spark's options of the text source."""

_BOM = sql_literal("\ufeff")
_NUL = sql_literal("\0")
_EXCERPT = 2_000


def layers(kind: Csv, shape: Shape) -> List[List[str]]:
    """Return the columns from a file's text to a record's: each layer is of the one before.

    The last one has the columns that the shape is read as, null where a field means that,
    and CORRUPT: the record, where it has another number of fields.
    """
    names = [sql_identifier(name) for name, _ in shape.read_as]
    values = [
        f"{_value(f'get(lake_fields, {place})', kind)} AS {name}"
        for place, name in enumerate(names)
    ]
    first = 1 if kind.header else 0
    records = f"filter({_records(kind)}, r -> r != '')"
    return [
        [f"{_text(kind)} AS lake_whole"],
        [f"{_behind_skipped(kind)} AS lake_whole"],
        [f"explode(slice({records}, {1 + first}, {2**31 - 1})) AS lake_record_text"],
        ["lake_record_text", f"{_fields('lake_record_text', kind)} AS lake_fields"],
        [
            *values,
            f"CASE WHEN size(lake_fields) != {len(names)} THEN lake_record_text END"
            f" AS {CORRUPT}",
        ],
    ]


def load(
    spark: SparkSession, kind: Csv, shape: Shape, uris: Sequence[str]
) -> DataFrame:
    """Load the raw columns of files of one shape, and CORRUPT."""
    rows = literal_paths.load(spark.read.options(**_OPTIONS), "text", uris)
    for columns in layers(kind, shape):
        rows = rows.selectExpr(*columns)
    return rows


def counted(
    spark: SparkSession, kind: Csv, read_as: str, uris: Sequence[str]
) -> List[Row]:
    """Count the records of files, or locate the first text that is none.

    A row for each file, as `csv_reader` has them for lines: file, records, line (null if
    all are records), record, kind, before, excerpt.
    """
    rows = literal_paths.load(spark.read.options(**_OPTIONS), "text", uris)
    field = field_pattern(kind, once=True, alone=True)
    delimiter = _code(kind.delimiter)
    whole = sql_literal(rf"\A{field}(?:{delimiter}{field})*+\z")
    opened = sql_literal(
        rf"\A(?:{field}{delimiter})*+{_code(kind.quote)}[^{_code(kind.quote)}]*+\z"
    )
    steps: Sequence[Sequence[str]] = (
        ["input_file_name() AS file", f"{_text(kind, read_as)} AS lake_whole"],
        ["file", f"{_behind_skipped(kind)} AS lake_whole"],
        ["file", f"{_records(kind)} AS found"],
        [
            "*",
            f"array_position(transform(found, r -> NOT r RLIKE {whole}), true) AS bad",
        ],
        [
            "*",
            "slice(found, 1, CAST(bad AS int)) AS until",
            "get(found, CAST(bad AS int) - 1) AS text",
        ],
        [
            "file",
            f"{_size('found')} AS records",
            f"CASE WHEN bad > 0 THEN aggregate(until, {kind.skip_lines}, (n, r) ->"
            " n + 1 + length(r) - length(replace(r, '\n', '')))"
            " - (length(text) - length(replace(text, '\n', ''))) END AS line",
            f"{_size('until')} AS record",
            f"CASE WHEN {_ends_with_escape('text', kind)} THEN 'escape'"
            f" WHEN text RLIKE {opened} THEN 'end' ELSE 'quote' END AS kind",
            "0 AS before",
            f"substr(CAST(text AS binary), 1, {_EXCERPT}) AS excerpt",
        ],
    )
    for columns in steps:
        rows = rows.selectExpr(*columns)
    return rows.collect()


def _size(records: str) -> str:
    return f"size(filter({records}, r -> r != ''))"


def _text(kind: Csv, read_as: str = "") -> str:
    """Return SQL: a file's text without its byte order mark."""
    name = read_as or charset(kind)
    text = (
        "value"
        if name == "UTF-8"
        else f"decode(CAST(value AS binary), {sql_literal(name)})"
    )
    return (
        f"CASE WHEN startswith({text}, {_BOM}) THEN substr({text}, 2) ELSE {text} END"
    )


def _behind_skipped(kind: Csv) -> str:
    """Return SQL: a file's text without the lines that are left out."""
    if not kind.skip_lines:
        return "lake_whole"
    lines = sql_literal(rf"\A(?:[^\n]*+(?:\n|\z)){{{kind.skip_lines}}}")
    return f"substr(lake_whole, 1 + length(regexp_extract(lake_whole, {lines}, 0)))"


def _records(kind: Csv) -> str:
    """Return SQL: the records of a text without their line ends, empty lines too."""
    field, delimiter = field_pattern(kind, once=True), _code(kind.delimiter)
    rest = r"(?:[^\r\n]|\r(?=[^\n]))*+"
    record = rf"({field}(?:{delimiter}{field})*+{rest})\r?(?:\n|\z)"
    return f"regexp_extract_all(lake_whole, {sql_literal(record)}, 1)"


def _fields(record: str, kind: Csv) -> str:
    """Return SQL: the fields of a record as they stand."""
    field = field_pattern(kind, once=True, alone=True)
    pattern = f"{_code(kind.delimiter)}({field})"
    text = f"{sql_literal(kind.delimiter)} || {record}"
    return f"regexp_extract_all({text}, {sql_literal(pattern)}, 1)"


def _value(field: str, kind: Csv) -> str:
    """Return SQL: the text that a field means, null where it means that."""
    quote = sql_literal(kind.quote)
    is_quoted = f"startswith({field}, {quote})"
    twice = sql_literal(kind.quote * 2)
    inside = f"replace(substr({field}, 2, length({field}) - 2), {twice}, {quote})"
    written = f"CASE WHEN {is_quoted} THEN {inside} ELSE {field} END"
    compared = written if kind.quoted_null else field
    nulls = [f"{compared} = {sql_literal(text)}" for text in kind.null_text]
    if kind.escape:
        nulls.append(f"{field} = {sql_literal(kind.escape + 'N')}")
        written = _unescaped(written, kind.escape)
    is_null = " OR ".join(nulls)
    return f"CASE WHEN {is_null} THEN NULL ELSE {written} END" if nulls else written


def _unescaped(text: str, escape: str) -> str:
    """Return SQL: what a text with escapes means.

    An escaped escape waits as a NUL, which no text holds, until the others are done.
    """
    inside = f"replace({text}, {sql_literal(escape * 2)}, {_NUL})"
    letters = "".join(CONTROLS)
    other = sql_literal(rf"{_code(escape)}([^{letters}])")
    inside = f"regexp_replace({inside}, {other}, '$1')"
    for letter, control in CONTROLS.items():
        if letter != "0":
            pair = f"{sql_literal(escape + letter)}, {sql_literal(control)}"
            inside = f"replace({inside}, {pair})"
    back = f"replace(p, {_NUL}, {sql_literal(escape)})"
    zero = sql_literal(f"{_code(escape)}0")
    parts = f"transform(split({inside}, {zero}), p -> {back})"
    return (
        f"CASE WHEN contains({text}, {sql_literal(escape)})"
        f" THEN array_join({parts}, {_NUL}) ELSE {text} END"
    )


def _ends_with_escape(text: str, kind: Csv) -> str:
    if not kind.escape:
        return "false"
    return f"endswith({text}, {sql_literal(kind.escape)})"


def _code(char: str) -> str:
    return f"\\u{ord(char):04x}"
