"""YAML is read with lines and kept to what specs need."""

import re

import pytest
import yaml

from lake_check.parsing import yaml_reader
from lake_check.parsing.yaml_reader import LARGEST, parse_yaml

from tests.unit.lake_check.spec_files import without_id

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "\n".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]"
    for n in range(9)
)


@pytest.fixture(autouse=True, params=["libyaml", "pure-python"])
def loader(request, monkeypatch):
    """Both of PyYAML's parsers; without libyaml the first is the second."""
    if request.param == "pure-python":
        monkeypatch.setattr(yaml_reader, "SafeLoader", yaml.SafeLoader)


def read(text):
    raw = text if isinstance(text, bytes) else text.encode()
    return parse_yaml(raw, "orders.yml")


def diagnostics(text):
    return [without_id(str(diagnostic)) for diagnostic in read(text).diagnostics]


def test_values_remember_the_line_of_their_key():
    root = read("a:\n  b:\n    - 1\n    - {c: 2}\n").root
    assert root.child("a").line == 1
    assert root.nearest(("a", "b", 1, "c")).line == 4
    assert root.nearest(("a", "b", 7)).line == 2


@pytest.mark.parametrize(
    "text, value",
    [
        ("5", 5),
        ("-5", -5),
        ("0.5", 0.5),
        ("1e5", "1e5"),
        ("010", "010"),
        ("1:30", "1:30"),
        ("0x1F", "0x1F"),
        (".nan", ".nan"),
        ("2016-04-01", "2016-04-01"),
        ("true", True),
        ("no", False),
        ("'no'", "no"),
        ("~", None),
        ("", None),
        ('"5"', "5"),
        ("|\n  text\n", "text\n"),
    ],
)
def test_scalars_are_what_they_look_like(text, value):
    got = read(f"a: {text}").root.plain()["a"]
    assert got == value and type(got) is type(value)


def test_keys_are_text_whatever_they_look_like():
    assert list(read("{no: 1, 5: 2, 2016-01-01: 3}").root.plain()) == [
        "no",
        "5",
        "2016-01-01",
    ]


def test_duplicate_keys_are_refused_and_the_rest_is_still_read():
    document = read("a: 1\nb: 2\na: 3\nb: 4\n")
    assert [without_id(str(diagnostic)) for diagnostic in document.diagnostics] == [
        "orders.yml:3: a: duplicate key. Keep one; the first is in line 1.",
        "orders.yml:4: b: duplicate key. Keep one; the first is in line 2.",
    ]
    assert document.root.plain() == {"a": 1, "b": 2}


def test_a_bomb_of_aliases_is_refused_before_it_grows():
    found = diagnostics(BOMB)
    assert len(found) == 81
    assert found[0] == (
        "orders.yml:2: b[0]: alias *a. Write the value out; shared values belong in"
        " _defaults.yml."
    )


@pytest.mark.parametrize(
    "text, message",
    [
        ("a: &x [*x]\n", r"orders.yml:1: a\[0\]: alias \*x. Write the value"),
        ("a: !!python/object:os.system x\n", "orders.yml:1: a: tag '.*os.system'. Rem"),
        ("a: !secret x\n", "orders.yml:1: a: tag '!secret'. Remove it"),
        ("a: 1\n\tb: 2\n", "orders.yml:2: a tab indents the line. Indent with spaces"),
        (
            "a: {b: [1}\n",
            "orders.yml:1: not YAML: .* Fix the YAML in this line or the one above.",
        ),
        ("a: 1\n b: 2\n", "orders.yml:2: not YAML: "),
        ("a: \x01\n", "orders.yml: not YAML: |orders.yml:1: not YAML: "),
        ("", "orders.yml: the file is empty. Write the spec, or remove the file"),
        ("# nothing\n", "orders.yml: the file is empty"),
        ("? [a]\n: 1\n", "orders.yml:1: a key is not text"),
        ("a: {{ x }}\n", "orders.yml:1: a key is not text"),
        ("a: 1\n---\na: 2\n", "orders.yml:2: a second document starts"),
        (b"a: 1\nb: \xff\n", "orders.yml:2: not UTF-8. Save the file as UTF-8"),
        ("a: " + "x" * LARGEST, "orders.yml: the file is too large. .* 256 KiB"),
        ("[" * 100_000, "orders.yml:1: nested too deeply. Specs nest at most 16"),
        ("- " * 100_000, "orders.yml:1: nested too deeply"),
        ("{a: " * 50_000, "orders.yml:1: nested too deeply"),
    ],
    ids=lambda each: str(each)[:20],
)
def test_what_specs_never_need_is_refused(text, message):
    (diagnostic,) = read(text).diagnostics
    assert re.match(message, str(diagnostic)), str(diagnostic)


def test_a_byte_order_mark_is_no_part_of_the_first_key():
    assert read(b"\xef\xbb\xbfa: 1").root.plain() == {"a": 1}
