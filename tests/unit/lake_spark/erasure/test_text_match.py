"""Which texts name an erased key: long enough, and a word. No Spark in here."""

from __future__ import annotations

import json

import pytest

from lake_spark.erasure.text_match import all_in, any_in, content_has, replaced

HASH = "9f438211c04b"


@pytest.mark.parametrize(
    "text, is_named",
    [
        ("438211", True),
        ("key lake_key:438211, and more", True),
        ("id_438211.json", True),
        (HASH, False),
        ("x438211", False),
        ("4382110", False),
        ("77777", False),
        ("to a.b@example.org", True),
        ("to aa.b@example.org", False),
        ("to aa.b@example.org or a.b@example.org", True),
        ("axb@example.org", False),
        (None, False),
    ],
)
def test_a_key_is_named_where_it_stands_as_a_word_and_is_long_enough(text, is_named):
    assert any_in(["438211", "a.b@example.org", "77777"])(text) is is_named


@pytest.mark.parametrize(
    "text, is_named",
    [
        ("amsterdam has no row of 2026-01-01", True),
        ("amsterdam has no row", False),
        ("amsterdams of 2026-01-01", False),
        ("a 1", False),
    ],
)
def test_a_key_of_several_columns_is_named_by_all_of_its_parts(text, is_named):
    assert all_in([("amsterdam", "2026-01-01"), ("a", "1")])(text) is is_named


@pytest.mark.parametrize(
    "content, is_there",
    [
        (json.dumps({"bytes": 438211, "etag": HASH}).encode(), False),
        (json.dumps({"paths": ["in/438211.csv"]}).encode(), True),
        (json.dumps({"438211": 1}).encode(), True),
        (b'{"size":438211}\n{"size":438211}\n', False),
        (json.dumps({"id": 1}).encode() + b'\n{"id":"\\u003438211"}', True),
        (b"1\n438211", True),
        (b"bytes=438211", True),
        (b"\xff\x00438211\x01", True),
        (HASH.encode(), False),
    ],
    ids=[
        *("number", "string", "name", "numbers of lines", "escaped in a line"),
        *("no JSON", "properties", "binary", "hash"),
    ],
)
def test_numbers_of_json_are_counts_and_all_else_is_searched(content, is_there):
    assert content_has(content, any_in(["438211"])) is is_there


def test_every_string_of_a_report_can_be_replaced_at_any_depth():
    data = {"a": ["x", {"b": "x", "x": 1}], "c": None}
    assert replaced(data, lambda text: text + "!") == {
        "a": ["x!", {"b": "x!", "x": 1}],
        "c": None,
    }
