"""Lines of JSON: what is one whole object is read by its own digits, the rest is named.

The first column is what a line is, the second what is read of its `t`, or why it is bad.
"""

from __future__ import annotations

import time

import pytest

from lake_spec.text.marked_values import unmarked
from lake_spark.ingest.batch import batch_of
from lake_spark.ingest.batch_rows import read_all
from lake_spark.landing.files import list_landing
from tests.spark.lake import LOAD_AND_CHANGES, Lake, table

SPEC = LOAD_AND_CHANGES + """  format: {type: json}
columns:
  id: string
  t: string
  n: int
  d: "decimal(38,18)"
  f: double
  o: "struct<a:int,b:string>"
  m: "map<string,int>"
  at: timestamp
key: [id]
quarantine: {max_share: 1}
order_by: [at]
load_effective_at: "2026-01-01"
"""

AFTER = "there is text after the object"
UNPARSED = "the record cannot be parsed"
HALF = "the record has half a character (a lone surrogate) or U+FDD0"

READ = [
    ('{"id":1.0,"t":1.10}', "1.10"),
    ('{"id":1.00,"t":"1.10"}', "1.10"),
    ('{"id":3,"t":-0}', "-0"),
    ('{"id":4,"t":1E2}', "1E2"),
    (
        '{"id":5,"t":100000000000000000000000000000000000001}',
        "100000000000000000000000000000000000001",
    ),
    ('{"id":6,"t":{"a":1.10,"b":[1.0,"2.0"]}}', '{"a":1.10,"b":[1.0,"2.0"]}'),
    (r'{"id":7,"t":"a:null,\"b\":1.5}"}', 'a:null,"b":1.5}'),
    (r'{"id":8,"t":"\ud83d\ude00"}', "\U0001f600"),
    (r'{"id":9,"t":"a\\ud800b"}', r"a\ud800b"),
    ('{"id" : 10 , "t" : "x" }', "x"),
    ('{"id":11,"t":"{\\"a\\":1.50}"}', '{"a":1.50}'),
    ('{"id":12,"t":"x","m":{"k":1,"K":2},"o":{"B":1.50}}', "x"),
    ('{"id":13,"t":null,"m":{"k":null}}', None),
    ('{"id":14,"t":"x","d":12345678901234567890.123456789012345678}', "x"),
    ('\ufeff{"id":15,"t":"x","only_here":"y"}', "x"),
]

BAD = [
    ('{"id":"a","t":"x"}{"id":"b"}', AFTER),
    ('{"id":"a","t":"x"} rest', AFTER),
    ('{"id":"a","t":"x"},', AFTER),
    ('{"id":"a","t":"x"},{}', AFTER),
    ('{"id":"a","t":"x"},{"id":"b"}]', AFTER),
    ('{"id":"a","t":"x"}}', AFTER),
    ('{"id":"a","t":"x"}//', AFTER),
    ('{"id":"a","t":"x"},"lake_end":"x","z":{"id":1}', AFTER),
    ('{"id":"a","t":"x","t":"y"}', "'t' is there twice"),
    ('{"id":"a","t":"x","T":"y"}', "'t' is there twice"),
    ('{"id" :"a","id":"b"}', "'id' is there twice"),
    (r'{"id":"a","\u0069d":"b"}', "'id' is there twice"),
    ('{"id":"a","o":{"a":1,"A":2}}', "'a' is there twice"),
    ('{"id":"a","m":{"k":1,"k":1}}', "'k' is there twice"),
    ('{"id":"a","m":{"k":null,"k":1}}', "'k' is there twice"),
    ('{"id":"a","t":null,"n":null,"n":1}', "'n' is there twice"),
    ('[{"id":"a","t":"x"}]', UNPARSED),
    ('"a"', UNPARSED),
    ("12", UNPARSED),
    ('{"id":"a","t":"x"', UNPARSED),
    ('{"id":"a","t":01}', UNPARSED),
    ('{"id":"a","t":1.}', UNPARSED),
    ('{"id":"a","t":.5}', UNPARSED),
    ('{"id":"a","t":+1}', UNPARSED),
    ('{"id":"a","t":1.5e}', UNPARSED),
    ('{"id":"a","t":NaN}', UNPARSED),
    ("{'id':'a'}", UNPARSED),
    ('{"id":"a","t":"x\ty"}', UNPARSED),
    (r'{"id":"a","t":"\ud800"}', HALF),
    (r'{"id":"a","t":"\udc00\ud800"}', HALF),
    (r'{"id":"a","t":"\ufdd01.5"}', HALF),
    (b'{"id":"a","t":"\xff"}', "the record has bytes that are not UTF-8"),
    (b'{"id":"a","t":"\xed\xa0\x80"}', "the record has bytes that are not UTF-8"),
    ('{"id":"a","f":1e400}', "f: cannot be read as double: 1e400"),
    ('{"id":"a","f":1e-400}', "f: cannot be read as double: 1e-400"),
    ('{"id":"a","n":1.0}', "n: cannot be read as int: 1.0"),
    ('{"id":"a","o":"text"}', "o: cannot be read as struct<a:int,b:string>: text"),
    ('{"id":"a","o":{"a":1.5}}', "o.a: cannot be read as int: 1.5"),
    ('{"id":"a","o":[1]}', "o: cannot be read as struct<a:int,b:string>: [1]"),
    ('{"id":"a","m":{"k":"v"}}', "m[]: cannot be read as int: v"),
    (
        '{"id":"a","d":0e-999999999,"n":1.5}',
        "n: cannot be read as int: 1.5",
    ),
    ('{"id":"a","d":1e-19}', "d: cannot be read as decimal(38,18): 1e-19"),
]


@pytest.fixture(scope="module")
def rows(spark, tmp_path_factory):
    """The rows of a file of all these lines, by their record numbers, and its lake."""
    lake = Lake(spark, tmp_path_factory.mktemp("json"), table(SPEC))
    lines = [line for line, _ in READ + BAD]
    # Blank lines are no records.
    content = b"\xef\xbb\xbf" + b"\n \t\n\n".join(
        line if isinstance(line, bytes) else line.encode() for line in lines
    )
    lake.land("load/1.json", content)
    return read(lake)


def read(lake):
    """What is read of the landing files: record number -> row."""
    run = lake.tables
    files = list_landing(run.store, run.landing, ["load/*"])
    batch = batch_of(run, files, run.ingested_files())
    assert run.report.set_aside == []
    kept = read_all(run, batch)
    found = {row.lake_record: row for row in kept.numbered.collect()}
    kept.release()
    return found


def test_each_line_that_holds_one_object_is_read_by_its_own_digits(rows):
    found = {n: (rows[n].lake_reason, rows[n].t) for n in range(1, len(READ) + 1)}
    assert found == {n: (None, text) for n, (_, text) in enumerate(READ, start=1)}
    keys = [rows[number].lake_key for number in (1, 2, 3)]
    assert keys == ["1.0", "1.00", "3"]
    twelve, last = rows[12], rows[14]
    assert rows[15].only_here == "y"
    assert (twelve.m, twelve.o.b) == ({"k": 1, "K": 2}, "1.50")
    assert str(last.d) == "12345678901234567890.123456789012345678"


def test_each_other_line_is_bad_and_says_why_and_none_is_lost(rows):
    assert len(rows) == len(READ) + len(BAD)
    found = {
        n: unmarked(rows[len(READ) + n].lake_reason) for n in range(1, len(BAD) + 1)
    }
    assert found == {n: reason for n, (_, reason) in enumerate(BAD, start=1)}


@pytest.mark.nightly
def test_lines_of_a_megabyte_are_read_in_seconds(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(SPEC))
    escapes, objects = r"\"\\{}:1.5," * 100_000, '{"a":1.5},' * 100_000
    lines = [
        '{"id":1.5,"t":"%s"}' % escapes,
        '{"id":2.5,"t":[%s1]}' % objects,
        '{"id":3.5,"t":"%s' % escapes,
        '{"id":4.5%s}' % "".join(',"t":1' for _ in range(100_000)),
        "{" * 1_000_000,
    ]
    lake.land("load/1.json", "\n".join(lines))
    begin = time.monotonic()
    found = read(lake)
    assert time.monotonic() - begin < 60
    reasons = [unmarked(found[n].lake_reason or "") for n in range(1, 6)]
    assert reasons == ["", "", UNPARSED, "'t' is there twice", UNPARSED]
    assert found[1].t == r'"\{}:1.5,' * 100_000
    assert found[2].t == f"[{objects}1]"


@pytest.mark.nightly
def test_a_file_without_one_good_line_is_bad_rows_by_name(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(SPEC))
    lake.land("load/1.json", '{"id":"a","id":"b"}\n{"id":\n')
    report = lake.run("full_load")
    assert report.error is None and (report.accepted, report.quarantined) == (0, 2)
    assert "1.json record 1: 'id' is there twice" in str(report.warnings)
    assert f"1.json record 2: {UNPARSED}" in str(report.warnings)
