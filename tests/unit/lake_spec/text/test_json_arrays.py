"""Where the elements of a JSON array are, whatever they hold."""

from __future__ import annotations

import json
from random import Random

import pytest

from lake_spec.text.json_arrays import NoArray, spans


def elements(text):
    return [text[begin:end] for begin, end in spans(text)]


@pytest.mark.parametrize(
    "text, found",
    [
        ("[]", []),
        (" [ ]\r\n", []),
        ('\ufeff[{"a":1}\n,\t{"b":"]},{"} ]\n', ['{"a":1}', '{"b":"]},{"}']),
        ('[{"a":"x\\"],["}, 2]', ['{"a":"x\\"],["}', "2"]),
        ('[{"a":01},{x},{"b":2}]', ['{"a":01}', "{x}", '{"b":2}']),
        ('[{"a":1} {"b":2},3]', ['{"a":1} {"b":2}', "3"]),
        ('[{"a":1},]', ['{"a":1}', ""]),
        ("[,]", ["", ""]),
        ("[},[1,2]]", ["}", "[1,2]"]),
        (f'[{{"a":{"1" * 5000}}},2]', [f'{{"a":{"1" * 5000}}}', "2"]),
    ],
)
def test_elements_are_taken_as_they_stand(text, found):
    assert elements(text) == found


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "is no JSON array"),
        ('{"a":1}', "is no JSON array"),
        ("[", "without its end"),
        ('[{"a":1},{"b":', "without its end"),
        ('[{"a":[1},{"b":2}]', "without its end"),
        ('[{"a":"x},{"b":1}]', "without its end"),
        ("[1]\n[2]", "text after the end"),
        ("[]x", "text after the end"),
    ],
)
def test_what_leaves_an_end_open_is_no_array(text, words):
    with pytest.raises(NoArray, match=words):
        elements(text)


def test_arrays_of_any_depth_are_taken_apart():
    deep = "[" * 100_000 + "]" * 100_000
    assert elements(f"[{deep},1]") == [deep, "1"]


def test_random_values_come_back():
    random = Random(7)

    def value(depth):
        kind = random.choice("tnbol" if depth < 4 else "tnb")
        if kind == "t":
            return "".join(random.choice('ab"\\[]{},: \n\u00e9') for _ in range(5))
        if kind == "o":
            return {str(n): value(depth + 1) for n in range(random.randrange(3))}
        if kind == "l":
            return [value(depth + 1) for _ in range(random.randrange(3))]
        return random.choice((1.5, -3)) if kind == "n" else random.choice((None, True))

    for _ in range(300):
        values = [value(0) for _ in range(random.randrange(5))]
        text = json.dumps(values, indent=random.choice((None, 1)))
        assert [json.loads(each) for each in elements(text)] == values
