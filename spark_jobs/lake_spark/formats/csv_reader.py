"""CSV as it is: how Spark is to read it, and a strict check of it in parallel.

Spark's parser guesses where a file breaks the rules: an unclosed quote takes what
follows into one value, bytes that do not decode become U+FFFD. So each file's lines are
checked once more, as bytes, on the executors. A line that is whole in itself, as nearly
all are, takes one look. Only in files with other lines (a quoted line break, or a fault)
is it worked out which lines begin inside a quoted field.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, List, Sequence, Tuple

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from lake_spec.model import Csv
from lake_spec.text.sql_text import sql_identifier, sql_literal
from lake_spark.errors import BadFile, BadFileReason, UnreadableFile
from lake_spark.formats import csv_fields
from lake_spark.formats.csv_text import (
    Fault,
    LARGEST,
    charset,
    charset_of,
    patterns,
    reason,
    too_long,
)
from lake_spark.formats.file_schema import Shape
from lake_spark.formats.reader_columns import CORRUPT
from lake_spark.landing import literal_paths
from lake_spark.landing.files import LandingFile
from lake_spark.formats.compression import ZSTD
from lake_spark.storage.halves import by_halves

_WHOLE, _OPENS, _BROKEN = 0, 1, 2
"""Where a line ends: between fields, inside a quoted field, or it breaks the rules."""

_EXCERPT = 2_000
"""Bytes of a bad line that reach the driver."""


def options(kind: Csv, *, bounded: bool = True) -> Dict[str, str]:
    """Return Spark's reader options for CSV.

    `bounded`: a field may be too large, so that Spark must have the limit: it makes
    room for as much in each file that it opens.
    """
    wide = charset(kind).startswith("UTF-16")
    return {
        "header": str(kind.header).lower(),
        "sep": kind.delimiter,
        "quote": kind.quote,
        "escape": kind.quote,
        "encoding": charset(kind),
        # A record with more or fewer fields than the header is there as its text.
        "mode": "PERMISSIVE",
        "columnNameOfCorruptRecord": CORRUPT,
        # Lines of UTF-16 cannot be recognised by their bytes.
        "multiLine": str(kind.multiline or wide).lower(),
        # Else the first line break decides, and those in quotes are rewritten.
        "lineSep": "\n",
        # An empty line that ends with CR LF is no record, nor a header: for Spark it is a
        # comment. Any other line that begins so refuses the file.
        "comment": "\r",
        # Null texts are ours to judge: no field may match this one, for a file with a
        # NUL is refused.
        "nullValue": "\0",
        "maxColumns": "20000",
        "maxCharsPerColumn": str(LARGEST) if bounded else "-1",
    }


def may_be_large(file: LandingFile) -> bool:
    """Return whether a field of the file may be larger than the limit."""
    suffix = file.path.rsplit(".", 1)[-1]
    if suffix in ("bz2", ZSTD[1:], "deflate", "snappy", "lz4"):
        return True
    return file.size * (_GZIP if suffix == "gz" else 1) > LARGEST


_GZIP = 1_032
"""As many bytes at most result from one byte of gzip."""


def record_columns(shape: Shape) -> List[str]:
    """Return SQL of the columns as they are: the last one without the CR of a CR LF."""
    names = [sql_identifier(name) for name, _ in shape.read_as]
    last = names[-1]
    bare = f"nullif(substr({last}, 1, length({last}) - 1), '')"
    cut = f"CASE WHEN endswith({last}, {_CR}) THEN {bare} ELSE {last} END AS {last}"
    return [*names[:-1], cut, CORRUPT]


@dataclass
class CsvCheck:
    """What the check found: why files are refused, how many records the others have."""

    reasons: Dict[str, BadFileReason] = field(default_factory=dict)
    records: Dict[str, int] = field(default_factory=dict)


def check(
    spark: SparkSession, kind: Csv, files: Dict[str, str], marks: Dict[str, bytes]
) -> CsvCheck:
    """Check files, given as what input_file_name() says of them -> their URI.

    `marks` are the first bytes of files where they matter (see `needs_mark`).
    """
    checked = CsvCheck()
    groups: Dict[str, List[str]] = {}
    for name in files:
        try:
            read_as = (
                charset_of(kind, marks[name], "") if name in marks else charset(kind)
            )
            groups.setdefault(read_as, []).append(name)
        except BadFile as bad:
            checked.reasons[name] = type(bad), bad.reason
    for read_as, names in groups.items():
        _check_group(spark, kind, read_as, {n: files[n] for n in names}, checked)
    return checked


def _check_group(
    spark: SparkSession,
    kind: Csv,
    read_as: str,
    files: Dict[str, str],
    checked: CsvCheck,
) -> None:
    def count(names: Sequence[str]) -> Tuple[Sequence[str], Sequence[Row]]:
        return names, _counted(spark, kind, read_as, [files[n] for n in names])

    def leave(name: str, error: Exception) -> None:
        """It is set aside when its rows are read."""

    for names, found in by_halves(list(files), count, leave):
        checked.records.update({name: 0 for name in names})
        _judge(spark, kind, read_as, files, found, checked)


def _judge(
    spark: SparkSession,
    kind: Csv,
    read_as: str,
    files: Dict[str, str],
    found: Sequence[Row],
    checked: CsvCheck,
) -> None:
    suspects, others = [], []
    for row in found:
        checked.records[row.file] = row.records - bool(kind.header and row.records)
        if row.faults or row.marked > 1:
            suspects.append(files[row.file])
        elif kind.has_own_fields and row.bytes > csv_fields.LARGEST_FILE:
            checked.records.pop(row.file)
            checked.reasons[row.file] = UnreadableFile, too_long(
                row.bytes, csv_fields.LARGEST_FILE
            )
        elif kind.has_own_fields:
            others.append(files[row.file])
    if suspects:
        located = _located(spark, kind, read_as, suspects)
        _note(checked, located, kind, read_as, of_lines=kind.has_own_fields)
    if others:
        located = csv_fields.counted(spark, kind, read_as, others)
        _note(checked, located, kind, read_as)


def _note(
    checked: CsvCheck,
    located: Sequence[Row],
    kind: Csv,
    read_as: str,
    *,
    of_lines: bool = False,
) -> None:
    """Note how many records files have, or why they are refused.

    `of_lines`: a line with a fault does not say how many records came before it.
    """
    for row in located:
        if row.line is None:
            checked.records[row.file] = row.records - bool(kind.header and row.records)
            continue
        checked.records.pop(row.file)
        record = 0 if of_lines else row.record
        excerpt = bytes(row.excerpt or b"")
        fault = Fault(row.line, record, row.kind, row.before == 1, excerpt)
        checked.reasons[row.file] = reason(fault, kind, read_as)


def _counted(
    spark: SparkSession, kind: Csv, read_as: str, uris: Sequence[str]
) -> List[Row]:
    """Count per file its lines that hold something, and those with a fault."""
    lines = _lines(spark, kind, read_as, uris)
    length = F.expr("sum(octet_length(value) + 1)").alias("bytes")
    counts = lines.groupBy("file").agg(
        F.count_if(F.expr("NOT empty")).alias("records"),
        F.count("fault").alias("faults"),
        F.count_if("marked").alias("marked"),
        *([length] if kind.has_own_fields else []),
    )
    return counts.collect()


def _lines(
    spark: SparkSession, kind: Csv, read_as: str, uris: Sequence[str]
) -> DataFrame:
    """Read the lines of files: where each is, and its fault if it is not whole.

    A fault is what the line is by itself: `decode`, `nul`, `blank`, or `quote` for one
    that is not whole, which may be right amid others.
    """
    is_wide = read_as.startswith("UTF-16")
    reader = spark.read.options(
        **{
            "lineSep": "\n",
            # Longer lines are passed over: the count of records shows it.
            "mapreduce.input.linerecordreader.line.maxlength": str(LARGEST),
        }
    )
    if is_wide:
        reader = reader.option("encoding", read_as)
    rows = literal_paths.load(reader, "text", uris).selectExpr(
        "input_file_name() AS file",
        "input_file_block_start() AS block",
        "value",
        f"{_decoded(read_as)} AS text",
    )
    marked = f"startswith(text, {sql_literal(_BOM)})" if is_wide else "false"
    if is_wide:
        bare = f"CASE WHEN block = 0 AND {marked} THEN substr(text, 2) ELSE text END"
        rows = rows.selectExpr(
            "file", "block", "value", f"{marked} AS marked", f"{bare} AS text"
        )
    else:
        rows = rows.selectExpr("*", "false AS marked")
    return rows.selectExpr(
        "*",
        f"text = '' OR text = {_CR} AS empty",
        f"{_fault(kind, read_as)} AS fault",
    )


_CR = sql_literal("\r")
_BOM = "\ufeff"
_LOST = sql_literal("\ufffd")
"""What Java decodes bad bytes to."""


def _decoded(read_as: str) -> str:
    """Decode the text of a line's bytes; in UTF-8 they are it."""
    if read_as == "UTF-8":
        return "value"
    return f"decode(CAST(value AS binary), {sql_literal(read_as)})"


def _fault(kind: Csv, read_as: str) -> str:
    cases = []
    if read_as == "UTF-8":
        cases.append("value <> decode(CAST(value AS binary), 'UTF-8')")
    elif read_as == "windows-1252":
        cases.append(f"contains(text, {_LOST})")
    elif read_as != "ISO-8859-1":
        # The mark was cut off the text.
        bare = f"decode(CAST(value AS binary), {sql_literal(read_as)})"
        back = f"encode({bare}, {sql_literal(read_as)})"
        cases.append(f"{back} <> CAST(value AS binary)")
    words = [f"WHEN {case} THEN 'decode'" for case in cases]
    words.append(f"WHEN contains(text, {sql_literal(chr(0))}) THEN 'nul'")
    if kind.has_own_fields:
        return f"CASE {' '.join(words)} END"
    words.append(
        f"WHEN (contains(text, {sql_literal(kind.quote)}) OR {_HAS_CR}) "
        f"AND NOT text RLIKE {sql_literal(patterns(kind)[0])} THEN 'quote'"
    )
    if not kind.multiline:
        # Spark passes over such lines.
        blank = sql_literal(r"\A[\x00-\x20]+\z")
        words.append(
            f"WHEN text < '!' AND NOT empty AND text RLIKE {blank} THEN 'blank'"
        )
    return f"CASE {' '.join(words)} END"


_HAS_CR = f"instr(text, {_CR}) NOT IN (0, length(text))"
"""Whether a carriage return is before the line's end."""


def _located(
    spark: SparkSession, kind: Csv, read_as: str, uris: Sequence[str]
) -> List[Row]:
    """Locate per file its records, or line, record and kind of its first fault.

    A line maps where it begins (0 between records, 1 inside a quoted field) to where it
    ends. `outer` and `inner` are both; most lines allow one beginning alone, which fixes
    the state there, and lines between them that allow both keep or turn it.
    """
    lines = _lines(spark, kind, read_as, uris)
    whole, opens, closes, goes_on = (
        f"text RLIKE {sql_literal(each)}" for each in patterns(kind)
    )
    plain = f"NOT contains(text, {sql_literal(kind.quote)})"
    outer = (
        f"CASE WHEN fault IS NULL OR {whole} THEN {_WHOLE} "
        f"WHEN {opens} THEN {_OPENS} ELSE {_BROKEN} END"
    )
    inner = (
        f"CASE WHEN {plain} OR {goes_on} THEN {_OPENS} "
        f"WHEN {closes} THEN {_WHOLE} ELSE {_BROKEN} END"
    )
    if not kind.multiline:
        outer = f"CASE WHEN fault IS NULL OR {whole} THEN {_WHOLE} ELSE {_BROKEN} END"
        inner = str(_BROKEN)
    if kind.has_own_fields:  # what is a record, csv_fields says
        outer, inner = str(_WHOLE), str(_BROKEN)
    excerpt = f"substr(CAST(value AS binary), 1, {_EXCERPT})"
    # The CR of a CR LF after a quote that ends with a CR would look the same.
    cr_at_end = sql_literal(rf"\r\u{ord(kind.quote):04x}\r?\z")
    cr = "false" if kind.has_own_fields else f"text RLIKE {cr_at_end}"
    rows = lines.selectExpr(
        "file",
        "block",
        "monotonically_increasing_id() AS id",
        "empty",
        "marked",
        f"CASE WHEN fault <> 'quote' THEN fault WHEN {cr} THEN 'cr' END AS fault",
        f"{outer} AS outer",
        f"{inner} AS inner",
        f"CASE WHEN fault IS NOT NULL THEN {excerpt} END AS excerpt",
    )
    over = "OVER (PARTITION BY file ORDER BY block, id)"
    fixed = (
        f"CASE WHEN inner = {_BROKEN} THEN outer "
        f"WHEN outer = {_BROKEN} OR inner = outer THEN inner END"
    )
    known = f"CASE WHEN fixed < {_BROKEN} THEN (fixed + turned) % 2 END"
    turns = f"CASE WHEN outer = {_OPENS} AND inner = {_WHOLE} THEN 1 ELSE 0 END"
    opening = "before = 0 AND after = 1"
    broken = f"(before = 0 AND outer = {_BROKEN}) OR (before = 1 AND inner = {_BROKEN})"
    steps = (
        [f"row_number() {over} AS line", f"{fixed} AS fixed"],
        [f"sum({turns}) {over} AS turned"],
        [f"(coalesce(last({known}, true) {over}, 0) + turned) % 2 AS after"],
        [f"lag(after, 1, 0) {over} AS before", f"lead(1) {over} IS NULL AS ends"],
        [
            f"count_if(before = 0 AND NOT empty) {over} AS record",
            f"last(CASE WHEN {opening} THEN struct(line, excerpt) END, true) {over}"
            " AS opened",
            f"CASE WHEN marked AND line > 1 THEN 'mark' WHEN fault IS NOT NULL THEN fault"
            f" WHEN {broken} THEN 'quote' WHEN ends AND after = 1 THEN 'end' END AS kind",
        ],
        [
            "CASE WHEN kind = 'end' THEN struct(opened.line, record, kind, before,"
            " opened.excerpt) WHEN kind IS NOT NULL THEN struct(line, record, kind,"
            " before, excerpt) END AS found"
        ],
    )
    for step in steps:
        rows = rows.selectExpr("*", *step)
    first = rows.groupBy("file").agg(
        F.max("record").alias("records"),
        F.min_by("found", F.expr("if(kind IS NULL, NULL, line)")).alias("found"),
    )
    return first.selectExpr("file", "records", "found.*").collect()
