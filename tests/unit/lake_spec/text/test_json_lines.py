"""Whether a file has one JSON object a line, by how it begins."""

from __future__ import annotations

import json

import pytest

from lake_spec.text.json_lines import fault

ROWS = [{"id": 1, "v": "a"}, {"id": 2, "v": None}]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ROWS),
        json.dumps(ROWS, indent=2),
        "\ufeff" + json.dumps(ROWS, indent=2),
        "\r\n  [\r\n",
        "[]",
        "[" + ",\n".join(map(json.dumps, ROWS)) + "]",
        "[\n{}]",
        '[{"id": 1},\n{"id": 2}',
    ],
)
def test_an_array_is_told_with_the_command_that_converts_it(text):
    assert "is a JSON array" in fault(text, is_cut=False)
    assert "`jq -c '.[]' FILE.json > FILE.jsonl`" in fault(text, is_cut=False)


def test_an_array_that_goes_on_is_told():
    assert "is a JSON array" in fault(json.dumps(ROWS)[:20], is_cut=True)
    assert "is a JSON array" in fault(json.dumps(ROWS, indent=1)[:20], is_cut=True)


@pytest.mark.parametrize("rows", [ROWS[:1], ROWS])
def test_objects_over_several_lines_are_told(rows):
    text = "\n".join(json.dumps(row, indent=2) for row in rows)
    assert "objects over several lines" in fault(text, is_cut=False)
    assert "`jq -c . FILE.json > FILE.jsonl`" in fault(text, is_cut=False)


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(map(json.dumps, ROWS)),
        json.dumps(ROWS[0]),
        '[2]\n{"id": 1}\n',
        '[]\n{"id": 1}\n',
        '[2\n{"id": 1}\n',
        '{"id": 1\n{"id": 2}\n',
        '{"id": 1}{"id": 2}\n{"id": 3}',
        "no json\n[1]",
        "",
    ],
)
def test_a_line_that_is_wrong_by_itself_is_no_fault_of_the_file(text):
    assert fault(text, is_cut=False) is None
