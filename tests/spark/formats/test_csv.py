"""Random CSV files, many of them broken: exact rows, or a refusal of the file by name.

Each file is read by the check and the reader of landing files, and by a strict reader of
plain Python that knows nothing of them.
"""

from __future__ import annotations

import codecs
import gzip
from pathlib import Path
from random import Random
from typing import Dict, List, Optional, Tuple

import pytest
from pyspark.sql import functions as F

from lake_spec.text.marked_values import unmarked
from lake_spark.errors import BadFile
from lake_spark.formats import csv_reader
from lake_spark.formats.reader_columns import CORRUPT
from lake_spark.formats.inference import head_of, shape_of
from lake_spark.landing.files import LandingFile, list_landing
from lake_spark.reading import reader
from lake_spark.storage.object_store import FolderStore
from tests.fuzz.judge import Refused, csv_records
from tests.kinds import one_by_day
from tests.spark.lake import table

SPEC = """
source:
  kind: feed
  path: tests/things
  format: {{type: csv, encoding: {encoding}, delimiter: "{delimiter}", multiline: {multi}}}
columns: {{id: string, note: string, ts: timestamp}}
key: [id]
order_by: [ts]
storage: {{buckets: 1}}
"""
PIECES = (
    *("a", "b", "1", " ", '"', '""', '"x"', "\n", "\r\n", "\r", "\u00e9", "\x01"),
    *("\\", "#", "", "", "x" * 50, "\x1f", "\t"),
)
BAD_BYTES = (b"\xff", b"\x81", b"\xed\xa0\x80", b"\0")
FORMATS = [
    ("utf-8", ",", True),
    ("utf-8", ";", False),
    ("windows-1252", "\t", True),
    ("utf-16", ",", True),
    ("UTF-16LE", "\t", True),
]
PYTHON = {"windows-1252": "cp1252", "UTF-16LE": "utf-16-le"}
NAMES = ["id", "note", "ts"]

Rows = Optional[List[Optional[Tuple[str, ...]]]]
"""The rows of a file, None for one with another number of fields; None if refused."""


def random_csv(random: Random, delimiter: str) -> str:
    careful, end = random.random() < 0.7, random.choice(("\n", "\n", "\r\n"))

    def field() -> str:
        text = "".join(random.choice(PIECES) for _ in range(random.choice((0, 1, 3))))
        needs_quotes = any(mark in text for mark in f'"\r\n{delimiter}')
        if (careful and needs_quotes) or random.random() < 0.3:
            return '"' + text.replace('"', '""') + '"'
        return text

    lines = [delimiter.join(NAMES)]
    for _ in range(random.choice((0, 1, 3, 8))):
        size = 3 if random.random() < 0.95 else random.choice((1, 2, 4))
        lines.append(delimiter.join(field() for _ in range(size)))
    text = end.join(lines) + random.choice((end, ""))
    if random.random() < 0.1:
        text = text.replace("\n", "\r\n", 1)
    if random.random() < 0.2:  # an empty line before the header
        text = random.choice(("\n", "\r\n")) + text
    return text


def judged(content: bytes, encoding: str, delimiter: str) -> Rows:
    """What the file holds by RFC 4180; None where it must be refused."""
    try:
        text = content.decode(PYTHON.get(encoding, encoding))
        records = list(csv_records(text.removeprefix("\ufeff"), delimiter))[1:]
    except (Refused, UnicodeError):
        return None
    if "\0" in text:
        return None
    return [
        tuple(record.fields) if len(record.fields) == 3 else None for record in records
    ]


def read(spark, spec, files: List[LandingFile]) -> Tuple[Dict[str, Rows], List[str]]:
    """What our own code makes of the files: rows by path, and the reasons of refusals."""
    store, kind, shapes, refused = FolderStore(), spec.source.format, {}, []
    found: Dict[str, Rows] = {file.path: None for file in files}
    for file in files:
        try:
            shape = shape_of(spark, store, file, spec)
            shapes[reader.file_name(spark, file)] = (file, shape)
        except BadFile as bad:
            refused.append(unmarked(bad.reason))
    uris = {name: file.uri for name, (file, _) in shapes.items()}
    marks = {name: head_of(spark, store, file) for name, (file, _) in shapes.items()}
    checked = csv_reader.check(
        spark, kind, uris, marks if kind.encoding.startswith("utf-16") else {}
    )
    good = {name: shapes[name] for name in uris if name not in checked.reasons}
    found.update({file.path: [] for file, _ in good.values()})
    (shape,) = {shape for _, shape in good.values()}
    rows = reader.load(spark, spec, shape, [file.uri for file, _ in good.values()])
    rows = rows.select(F.input_file_name().alias("file"), "*")
    rows = rows.withColumn("number", F.monotonically_increasing_id())
    for row in rows.orderBy("number").collect():
        values = tuple(row[name] or "" for name in NAMES)
        found[good[row.file][0].path].append(None if row[CORRUPT] else values)
    counts = {good[name][0].path: n for name, n in checked.records.items()}
    assert counts == {path: len(rows) for path, rows in found.items() if path in counts}
    return found, refused + [words for _, words in checked.reasons.values()]


@pytest.mark.parametrize("form", one_by_day(FORMATS), ids=str)
def test_a_random_file_gives_its_rows_or_is_refused(spark, tmp_path, form):
    encoding, delimiter, multi = form
    random = Random(27)
    expected, uncertain = {}, set()
    for number in range(60):
        text = random_csv(random, delimiter)
        content = text.encode(PYTHON.get(encoding, encoding))
        if encoding == "utf-8" and random.random() < 0.1:
            content = codecs.BOM_UTF8 + content
        if random.random() < 0.1 and not encoding.lower().startswith("utf-16"):
            at = random.randrange(40, len(content)) if len(content) > 40 else 0
            bad = random.choice(BAD_BYTES)
            content = content[:at] + bad + content[at:] if at else content
        packed = number % 5 == 0
        path = f"{number:03d}.csv" + (".gz" if packed else "")
        Path(tmp_path / path).write_bytes(gzip.compress(content) if packed else content)
        expected[path] = judged(content, encoding, delimiter)
        bare = text.replace("\r\n", "")
        blank = any(not line.strip() and line for line in text.splitlines())
        if "\r" in bare or (not multi and (blank or '"' in text)):
            uncertain.add(path)  # may be refused, by what the page says
    files = list_landing(FolderStore(), f"file://{tmp_path}", ["**"])
    spec = SPEC.format(encoding=encoding, delimiter=delimiter, multi=str(multi).lower())
    found, reasons = read(spark, table(spec.replace("\t", "\\t")), files)
    wrong = {
        path: (found[path], rows)
        for path, rows in expected.items()
        if found[path] != rows and not (found[path] is None and path in uncertain)
    }
    assert wrong == {}
    assert sum(rows is not None for rows in found.values()) > 20
    assert any("land it again" in each for each in reasons)
