"""What counts as another definition of a table, also across models of it."""

from __future__ import annotations

import json

import pytest

from lake_spark.tables.settings_diff import changed


def definition(**values):
    return {name.replace("__", "."): json.dumps(v) for name, v in values.items()}


OLD = definition(key=["id"], columns__id__type="int", columns__n__type="date")


@pytest.mark.parametrize(
    "name, new, told",
    [
        ("key", ["id", "n"], 'key was ["id"], now ["id", "n"]'),
        ("columns.id.type", "bigint", None),
        ("columns.id.type", "double", 'columns.id.type was "int", now "double"'),
        ("columns.n.type", "timestamp", None),
        ("columns.n.type", "int", 'columns.n.type was "date", now "int"'),
    ],
)
def test_only_a_wider_type_is_no_change_and_for_a_key_the_same_text(name, new, told):
    now = {**OLD, name: json.dumps(new)}
    assert changed(OLD, now, now) == ([told] if told else [])


def test_a_column_that_is_gone_is_told_once():
    old = {**OLD, "columns.n.format": "null"}
    now = {name: value for name, value in OLD.items() if ".n." not in name}
    assert changed(old, now, now) == ['columns.n.type was "date", now removed']


def test_a_setting_that_the_model_no_longer_has_is_ignored():
    assert changed({**OLD, "source.flavour": '"x"'}, OLD, OLD) == []


def test_a_setting_that_the_model_did_not_have_counts_as_its_default():
    now = {**OLD, "source.missing_keys": '"delete"', "columns.n.format": "null"}
    assert changed(OLD, now, OLD) == []
    now = chosen = {**OLD, "source.missing_keys": '"ignore"'}
    assert changed(OLD, now, chosen) == [
        'source.missing_keys was not set, now "ignore"'
    ]
    assert changed({}, now, chosen) == []


def test_parts_of_a_setting_count_so_too():
    old = {**OLD, "source.operation": '{"column": "op", "gone": 1}'}
    now = {**OLD, "source.operation": '{"column": "op", "before": "BI_{column}"}'}
    chosen = {**OLD, "source.operation": '{"column": "op"}'}
    assert changed(old, now, chosen) == []
    assert len(changed(old, now, chosen={**now})) == 1


def test_a_further_column_is_no_redefinition():
    now = {**OLD, "columns.m.type": '"date"', "columns.m.format": '"yyyy"'}
    assert changed(OLD, now, now) == []


@pytest.mark.parametrize(
    "words, is_kept",
    [
        ({"ignore": ["preimage"]}, True),
        ({"upsert": ["I", "U", "M"], "delete": ["X", "D"]}, True),
        ({"upsert": ["U", "I"]}, True),
        ({"ignore": ["U"], "upsert": ["I"]}, False),
        ({"upsert": ["I"]}, False),
        ({"load": ["I"]}, False),
    ],
)
def test_words_that_no_row_has_may_be_named_later(words, is_kept):
    old = {"column": "op", "upsert": ["I", "U"], "delete": ["D"], "load": []}
    now = {**old, "ignore": [], **words}
    before = {**OLD, "source.operation": json.dumps(old)}
    after = {**OLD, "source.operation": json.dumps(now)}
    assert (changed(before, after, after) == []) is is_kept
