"""Lines of JSON as the workers read them, without Spark."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys

import pytest

from lake_spec.text.marked_values import unmarked
from lake_spark.formats.json_records import (
    Array,
    CleanLines,
    dumps,
    fault_of,
    LineReader,
    Map,
    Struct,
    Text,
    object_of,
)

HALF = "the record has half a character (a lone surrogate) or U+FDD0"
PLACE = (
    "a field is spelled in another case than in other records, or has no place in its "
    "column"
)
ROW = Struct(
    {
        "id": Text(),
        "tags": Array(Text()),
        "sizes": Map(Text()),
        "at": Struct({"x": Text(), "y": Text()}),
    }
)


def read(line, **asked):
    """(values..., bad text, reason[, present]) of a line."""
    reader = LineReader(ROW, **{"of_messages": False, "tells_absent": False, **asked})
    content = line if isinstance(line, bytes) else line.encode()
    # As it goes to the workers.
    return pickle.loads(pickle.dumps(reader))(bytearray(content))


def why(line):
    *values, text, reason = read(line)
    assert set(values) == {None} and text is not None
    return unmarked(reason)


@pytest.mark.parametrize(
    "value, text",
    [
        ('"a"', "a"),
        ("1.50", "1.50"),
        ("-0", "-0"),
        ("1E2", "1E2"),
        ("10000000000000000000000", "10000000000000000000000"),
        ("true", "true"),
        ("false", "false"),
        ("null", None),
        ('""', ""),
        ("[]", "[]"),
        ("{}", "{}"),
        (r'"\ud83d\ude00"', "\U0001f600"),
        (r'"a\\ud800b"', r"a\ud800b"),
        ('{"b" : [1.50, null, true, "x"]}', '{"b":[1.50,null,true,"x"]}'),
        (
            r'["\u001f\u0000\n\t\"\\/é\u2028"]',
            '["\\u001F\\u0000\\n\\t\\"\\\\/é\u2028"]',
        ),
    ],
)
def test_a_single_column_has_the_digits_words_and_json_text_of_the_file(value, text):
    assert read(f'{{"id":{value}}}')[0] == text


def test_nested_columns_are_read_by_their_types():
    line = '{"id":1,"tags":["a",2.0,null,[1]],"sizes":{"S":1,"s":null},"at":{"y":1}}'
    assert read(line) == (
        *("1", ["a", "2.0", None, "[1]"], {"S": "1", "s": None}, (None, "1")),
        *(None, None),
    )


@pytest.mark.parametrize(
    "line", ['\ufeff{"id":1}', ' {"id":1}\t', '{"id":1}\r', '{ "id" : 1 }']
)
def test_blanks_and_the_mark_around_a_record_are_passed_over(line):
    assert read(line) == ("1", None, None, None, None, None)


def test_what_gives_a_file_no_column_is_passed_over():
    """`{}` has no value, null neither, and SQL cannot say the last name."""
    line = '{"id":1,"e":{},"f":[{}],"n":null,"a;b":1,"at":{"z":null}}'
    assert read(line)[0] == "1"


@pytest.mark.parametrize(
    "line, reason",
    [
        ('{"id":1}{"id":2}', "there is text after the object"),
        ('{"id":1,"id":2},', "there is text after the object"),
        ('{"id":1,"id":2', "the record cannot be parsed"),
        ('{"id":1,"id":NaN}', "the record cannot be parsed"),
        ('{"id":1,"id":2}', "'id' is there twice"),
        ('{"id":1,"ID":2}', "'id' is there twice"),
        ('{"id":{"a":1,"A":2}}', "'a' is there twice"),
        ('{"sizes":{"S":1,"S":2}}', "'S' is there twice"),
        ('{"id":Infinity}', "the record cannot be parsed"),
        ('{"id":01}', "the record cannot be parsed"),
        ('{"id":' + "1" * 1001 + "}", "the record cannot be parsed"),
        ('{"id":1' + "0" * 999 + ".5}", "the record cannot be parsed"),
        ("[" * 100_000, "the record cannot be parsed"),
        ('{"id":' * 100_000, "the record cannot be parsed"),
        ('{"id":' + "[" * 2_000 + "]" * 2_000 + "}", "the record cannot be parsed"),
        ("[1]", "the record cannot be parsed"),
        (b'{"id":"\xff"}', "the record has bytes that are not UTF-8"),
        (b'{"id":"\xed\xa0\x80"}', "the record has bytes that are not UTF-8"),
        (r'{"id":"\ud800"}', HALF),
        (r'{"id":"\ud83d\\\ude00"}', HALF),
        ('{"id":"\ufdd0"}', HALF),
        ('{"tags":"a"}', PLACE),
        ('{"tags":{"a":1}}', PLACE),
        ('{"sizes":[1]}', PLACE),
        ('{"at":""}', PLACE),
        ('{"at":{"X":1}}', PLACE),
        ('{"at":{"z":1}}', PLACE),
        ('{"other":[{"a":1}]}', PLACE),
    ],
)  # fmt: skip
def test_a_line_that_is_not_one_whole_object_is_bad_and_says_why(line, reason):
    assert why(line) == reason


def test_a_text_longer_than_spark_looks_at_is_bad():
    """It counts by halves: an emoji is two."""
    assert why('{"id":"' + "\U0001f600" * 10_000_001 + '"}') == (
        "the record cannot be parsed"
    )


def test_a_message_that_is_no_object_is_a_bad_record_with_its_place():
    line = json.dumps({"id": 7, "kafka_broken": '{"a":1,"A":2}'})
    row = Struct({"id": Text(), "kafka_broken": Text()})
    *values, text, reason = LineReader(row, of_messages=True, tells_absent=False)(
        line.encode()
    )
    assert values == ["7", '{"a":1,"A":2}'] == [values[0], text]
    assert unmarked(reason) == "'a' is there twice"
    assert fault_of("[1]") == "the record cannot be parsed"


@pytest.mark.parametrize("of_messages", [False, True])
def test_only_the_text_of_a_message_makes_a_whole_line_bad(of_messages):
    """A field without a name is none of ours; nothing but text comes of a message."""
    found = read('{"":1.5,"id":2}', of_messages=of_messages)
    assert found == ("2", None, None, None, None, None)
    row = Struct({"kafka_broken": Text()})
    reader = LineReader(row, of_messages=of_messages, tells_absent=False)
    found = reader(b'{"kafka_broken":1.5}')
    assert found == ("1.5", None, None)
    assert [each.__class__ for each in found[:1]] == [str]


def test_what_is_there_is_told_from_what_is_absent():
    """Null in what is there is a field that is absent; one with null has no content."""
    line = '{"id":null,"tags":["a"],"at":{"y":null}}'
    assert read(line, tells_absent=True)[-1] == ("", ["a"], None, (None, ""))
    assert read('{"at":null}', tells_absent=True)[-1] == (None, None, None, ("", ""))
    assert read('{"at":{}}', tells_absent=True)[-1] is None
    assert read("{", tells_absent=True)[-1] is None


def test_lines_that_say_what_the_columns_are_have_no_name_twice():
    is_clean = CleanLines(["m"])
    assert is_clean(b'{"a":{"b":1,"c":2},"m":{"k":1,"K":{"x":1}}}')
    assert not is_clean(b'{"a":[{"b":1,"B":2}]}')
    assert not is_clean(b'{"m":{"k":{"x":1,"X":1}}}')
    assert not is_clean(b'{"a":1}{}')
    assert is_clean(b'\xef\xbb\xbf{"a":1}')
    assert is_clean(b'{"m":[{"k":1,"K":2}]}')
    assert not is_clean(b'{"m":[{"k":{"x":1,"X":2}}]}')
    assert not is_clean(b'{"a":"\xff"}')


def test_json_text_and_its_reading_are_each_others_reverse():
    text = r'{"a":[1.0,-0,1e5,"\"\\",null,true,{}],"é":{"b":""}}'
    assert dumps(object_of(text)) == text


def test_workers_import_no_model_of_specs():
    """It would cost each of them a tenth of a second."""
    code = (
        "import sys; import lake_spark.formats.json_records;"
        "print([each for each in sys.modules if each.startswith('lake_spec.model')])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == "[]"
