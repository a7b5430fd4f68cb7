"""Schemas of Spark as JSON: those that name a class are refused, others are as they were."""

from __future__ import annotations

import json

import pytest

from lake_spec.text.schema_json import (
    class_in,
    ClassInSchema,
    plain_schema,
    with_intervals,
)

PYTHON = {"type": "udt", "pyClass": "os.path", "serializedClass": "gA==", "sqlType": ""}
JAVA = {"type": "udt", "class": "java.io.File", "pyClass": None, "sqlType": "string"}


def struct(**kinds):
    fields = [
        {"name": name, "type": kind, "nullable": True, "metadata": {"type": "udt"}}
        for name, kind in kinds.items()
    ]
    return {"type": "struct", "fields": fields}


def array(kind):
    return {"type": "array", "elementType": kind, "containsNull": True}


def map_of(key, value):
    names = {"keyType": key, "valueType": value, "valueContainsNull": True}
    return {"type": "map", **names}


PLAIN = struct(
    id="long",
    price="decimal(9,2)",
    many=array(map_of("string", struct(a="interval day to second"))),
)


def test_a_schema_of_own_types_is_returned_as_it_is():
    assert plain_schema(PLAIN, "here") is PLAIN
    assert class_in(PLAIN) is None


@pytest.mark.parametrize(
    "kind, words",
    [
        (PYTHON, "column a: the Python class os.path"),
        (JAVA, "column a: the Java class java.io.File"),
        (array(JAVA), "column a: the Java class java.io.File"),
        (map_of(PYTHON, "long"), "column a: the Python class os.path"),
        (map_of("long", array(PYTHON)), "column a: the Python class os.path"),
        (struct(b=array(struct(c=JAVA))), "column a.b.c: the Java class java.io.File"),
        ({"type": "udt"}, "column a: a class without a name"),
    ],
)
def test_a_class_is_found_wherever_it_is_named(kind, words):
    schema = struct(id="long", a=kind)
    assert class_in(schema) == words
    with pytest.raises(ClassInSchema) as raised:
        plain_schema(schema, "s3://b/x.json")
    assert str(raised.value).startswith(f"s3://b/x.json: the schema has {words}")


@pytest.mark.parametrize(
    "kind", [None, 5, [JAVA], {"type": "new"}, {"type": ["udt"]}, {"type": "struct"}]
)
def test_what_is_no_type_of_sparks_own_is_refused(kind):
    assert class_in(struct(a=kind)) is None
    with pytest.raises(ClassInSchema, match="column a: .* which is no type"):
        plain_schema(struct(a=kind), "here")


def test_nesting_has_no_end_that_python_minds():
    kind = PYTHON
    for _ in range(100_000):
        kind = array(kind)
    assert class_in(struct(a=kind)) == "column a: the Python class os.path"
    assert json.loads(json.dumps(PLAIN)) == plain_schema(PLAIN, "here")


def test_only_intervals_are_taken_of_a_note():
    day = "interval day to second"
    schema = struct(a="long", b="integer", c="long", d=array(map_of("string", "long")))
    noted = struct(a=day, b="interval month", c=JAVA, d=array(map_of("binary", day)))
    found = struct(a=day, b="interval month", c="long", d=array(map_of("string", day)))
    assert with_intervals(schema, noted) == found


@pytest.mark.parametrize(
    "kind",
    ["interval month", "interval second to day", "binary", JAVA, PYTHON, None, 5],
)
def test_another_note_on_a_number_is_none(kind):
    schema = struct(a="long", b=struct(c="long"))
    assert with_intervals(schema, struct(a=kind, b=struct(c=kind))) == schema
    for noted in (kind, struct(b=kind), {"type": "struct", "fields": [kind]}):
        assert with_intervals(schema, noted) == schema
