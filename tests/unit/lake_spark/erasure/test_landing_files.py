"""Blank records of text files, and requests to erase: no Spark in here."""

from __future__ import annotations

import bz2
import gzip
import json

import pytest

from lake_spec.model import Csv
from lake_spec.model.column_type import parse_type
from lake_spark.erasure import request, text_files
from lake_spark.erasure.text_files import (
    NotBlanked,
    blank_array,
    blank_csv,
    blank_json,
    blanked,
)
from lake_spark.errors import WrongEraseRequest
from tests.unit.lake_airflow.specs import dimension, table


def test_a_blank_element_of_an_array_keeps_its_names_and_its_place():
    before = b'[\n {"id": 1, "v": "a]", "x": {"y": 2}},\r\n {"id": 2},{"id": \xff} ]\n'
    assert blank_array(before, {1, 3}, []) == (
        b'[\n {"id": null, "v": null, "x": {"y": null}},\r\n {"id": 2},{} ]\n'
    )


@pytest.mark.parametrize(
    "kind, before, after",
    [
        (Csv(), 'id,n\n1,"a\nb"\n2,x\n', 'id,n\n"",\n2,x\n'),
        (Csv(), 'id,n\r\n1,"a ""b"" ,c"\r\n2,x', 'id,n\r\n"",\r\n2,x'),
        (Csv(), "\ufeffid,n,m\n\n1,,\n\n2,x,", '\ufeffid,n,m\n\n"",,\n\n2,x,'),
        (Csv(), "id\n1\n2\n", 'id\n""\n2\n'),
        (
            Csv(skip_lines=2),
            'sep=,\r\nsaid "so\nid,n\n1,a\n2,b\n',
            'sep=,\r\nsaid "so\nid,n\n"",\n2,b\n',
        ),
        (Csv(header=False), "1,a\n2,b\n", '"",\n2,b\n'),
        (Csv(delimiter="|", quote="'"), "id|n\n1|'a|b'\n2|x\n", "id|n\n''|\n2|x\n"),
        (Csv(multiline=False), 'id,n\n1,"a\n2,b"\n', 'id,n\n"",\n2,b"\n'),
        (Csv(), 'id,n\n1,5" disk\n2,x\n', 'id,n\n"",\n2,x\n'),
        (Csv(escape="\\"), "id,n\n1,a\\\nb\\,c\n2,x\n", "id,n\n\\N,\\N\n2,x\n"),
        (Csv(escape="\\"), 'id,n\n1,"a\\"\nb"\n2,\\N', "id,n\n\\N,\\N\n2,\\N"),
        (Csv(quoted_null=False), 'id,n\n"",""\n"",\n', 'id,n\n,\n"",\n'),
        (Csv(null_text=("NULL",)), "id,n\n1,a\n2,b\n", "id,n\nNULL,NULL\n2,b\n"),
    ],
    ids=["line break", "quotes", "marks", "one column", "lines above", "no header"]
    + [
        "other signs",
        "plain lines",
        "inch",
        "escapes",
        "escapes in quotes",
        "empty text",
        "word",
    ],
)
def test_a_blank_csv_record_has_its_fields_and_no_value(kind, before, after):
    assert blank_csv(before.encode(), {1}, kind).decode() == after


def test_the_last_record_of_a_csv_file_may_be_blank():
    assert blank_csv(b"id,n\n1,a\n2,b", {2}, Csv()) == b'id,n\n1,a\n"",'
    assert blank_csv(b"id,n\n1,a\n2,", {2}, Csv()) == b'id,n\n1,a\n"",'


def test_a_blank_json_record_keeps_its_names_and_no_value():
    record = {
        "id": 1,
        "s": {"a": "x", "m": {"k": 1}},
        "l": [{"b": 2}, 3],
        "Tags": {"k": 1},
    }
    lines = json.dumps(record) + '\n\n{"id": 2}\r\nno json\n'
    maps = [("tags", parse_type("map<string,int>"))]
    maps.append(("s", parse_type("struct<a:string,m:map<string,int>>")))
    blank = blank_json(lines.encode(), {1, 3}, maps).decode()
    first, rest = blank.split("\n", 1)
    assert json.loads(first) == {
        "id": None,
        "s": {"a": None, "m": {}},
        "l": [{"b": None}, None],
        "Tags": {},
    }
    assert rest == '\n{"id": 2}\r\n{}\n'


def test_a_file_is_packed_again_as_it_was_or_refused():
    packed = blanked("a/1.csv.gz", gzip.compress(b"id\n1\n"), lambda t: t.upper())
    assert gzip.decompress(packed) == b"ID\n1\n"
    with pytest.raises(NotBlanked, match="zst files cannot be rewritten"):
        blanked("a/1.csv.zst", b"", lambda text: text)


def unchanged(text: bytes) -> bytes:
    return text


@pytest.mark.parametrize(
    "name, pack", [("a.gz", gzip.compress), ("a.bz2", bz2.compress), ("a", unchanged)]
)
def test_what_is_too_large_when_unpacked_is_refused(name, pack, monkeypatch):
    monkeypatch.setattr(text_files, "LARGEST", 100)
    whole = pack(b"x" * 60) + pack(b"y" * 40)
    assert blanked(name, whole, lambda text: text[:99]).startswith(pack(b"")[:3])
    with pytest.raises(NotBlanked, match="has more than 100 bytes when decompressed"):
        blanked(name, whole + pack(b"z"), unchanged)
    with pytest.raises(NotBlanked, match="has more than 100 bytes when decompressed"):
        blanked(name, pack(b"x" * 10_000_000), unchanged)


@pytest.mark.parametrize(
    "name, pack", [("a.gz", gzip.compress), ("a.bz2", bz2.compress)]
)
def test_all_parts_of_a_packed_file_are_unpacked_and_a_broken_one_is_refused(
    name, pack
):
    seen = []
    blanked(name, pack(b"1\n") + pack(b"2\n"), lambda text: seen.append(text) or text)
    assert seen == [b"1\n2\n"]
    for broken in (pack(b"1\n")[:-4], b"no packed content"):
        with pytest.raises(NotBlanked, match="cannot be decompressed"):
            blanked(name, broken, unchanged)


class Objects(dict):
    """A store of a few objects."""

    def read(self, uri):
        return self[uri]

    def write(self, uri, content):
        self[uri] = content


TABLES = (table("orders"), dimension("dim", "orders", "clicks"))


def read(text: str) -> request.Request:
    return request.read(Objects({"r.json": text.encode()}), "r.json", TABLES)


def test_a_request_has_keys_as_texts_and_ends_as_a_receipt():
    store = Objects({"r.json": b'{"keys": {"orders": [{"id": 5}, {"id": "x"}]}}'})
    asked = request.read(store, "r.json", TABLES)
    assert asked.keys == {"orders": [{"id": "5"}, {"id": "x"}]}
    request.put_receipt(store, asked, "shop_erase/1")
    assert json.loads(store["r.json"]) == {
        "format": 1,
        "erased": {"orders": 2},
        "run": "shop_erase/1",
    }
    assert request.read(store, "r.json", TABLES).is_done


@pytest.mark.parametrize(
    "text, told",
    [
        ("secret", "is not valid JSON"),
        ('["secret"]', "A request is {"),
        ('{"keys": {}}', "A request is {"),
        (
            '{"keys": {"dim": []}}',
            "keys.dim: is not a table with files. Tables with files: orders.",
        ),
        ('{"keys": {"orders": []}}', "keys.orders: give a list of 1 to 10,000 keys."),
        ('{"keys": {"orders": ["secret"]}}', "orders[0]: give a value for each of id"),
        (
            '{"keys": {"orders": [{"id": 1}, {"id": 1.5}]}}',
            "orders[1].id: give a string",
        ),
        ('{"keys": {"orders": [{"id": ""}]}}', "orders[0].id: give a string"),
        ('{"keys": {"orders": [{"id": true}]}}', "orders[0].id: give a string"),
    ],
)
def test_a_request_is_refused_by_the_place_of_its_fault(text, told):
    with pytest.raises(WrongEraseRequest) as refused:
        read(text)
    assert told in str(refused.value)
    assert "secret" not in str(refused.value)


def test_a_request_that_is_not_there_is_refused_by_its_address():
    with pytest.raises(WrongEraseRequest, match="r.json: there is no such request"):
        request.read(Objects(), "r.json", TABLES)
