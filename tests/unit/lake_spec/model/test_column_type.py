"""Column types are those of Spark SQL, and nothing that is not."""

import pytest

from lake_spec.model.column_type import BadType, ColumnType, SIMPLE, parse_type


@pytest.mark.parametrize("text", SIMPLE)
def test_simple_types(text):
    assert parse_type(text.upper()) == ColumnType(text)


@pytest.mark.parametrize(
    "text, kind",
    [
        ("decimal(10,2)", ColumnType("decimal", digits=(10, 2))),
        ("decimal( 38 )", ColumnType("decimal", digits=(38, 0))),
        ("array<string>", ColumnType("array", (ColumnType("string"),))),
        (
            "map<string, int>",
            ColumnType("map", (ColumnType("string"), ColumnType("int"))),
        ),
        (
            "struct<a: int, B_2: array<decimal(4,1)>>",
            ColumnType(
                "struct",
                (
                    ColumnType("int"),
                    ColumnType("array", (ColumnType("decimal", digits=(4, 1)),)),
                ),
                ("a", "B_2"),
            ),
        ),
    ],
)
def test_types_with_parts(text, kind):
    assert parse_type(text) == kind


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "Types: string, boolean"),
        ("strng", "Did you mean 'string'[?] Types: string, boolean"),
        ("varchar(10)", "Types: string, boolean"),
        ("int int", "Remove what follows the type: 'int'"),
        ("int; drop table x", "Remove what follows the type: ';'"),
        ("int' OR 1=1", "Remove what follows the type:"),
        ("decimal", r"Found 'the end' where '\(' is expected"),
        ("decimal(10", "Within {...} YAML splits at the comma: quote the type"),
        ("decimal(x,2)", r"Write precision and scale, as in decimal\(10,2\)"),
        ("decimal(39,2)", "p from 1 to 38 and s from 0 to p"),
        ("decimal(4,5)", "p from 1 to 38 and s from 0 to p"),
        ("array<int", "Found 'the end' where '>' is expected"),
        ("array<int,int>", "Write it as one of: decimal"),
        ("map<int>", "Write it as one of: decimal"),
        ("struct<>", "'>' is not a valid name of a struct's field"),
        ("struct<a int>", "Found 'int' where ':' is expected"),
        (
            "struct<a:int,A:int>",
            "Two fields of a struct have the same name without case",
        ),
        ("array<" * 20, "Types nest at most 8 levels"),
    ],
)
def test_other_texts_are_refused(text, message):
    with pytest.raises(BadType, match=message):
        parse_type(text)


@pytest.mark.parametrize("text, is_numeric", [("bigint", True), ("string", False)])
def test_numbers_are_known(text, is_numeric):
    assert parse_type(text).is_numeric is is_numeric
    assert parse_type("decimal(3)").is_numeric
    assert not parse_type("array<int>").is_numeric


@pytest.mark.parametrize(
    "text, stored",
    [
        ("LONG", "bigint"),
        ("short", "int"),
        ("decimal( 9 )", "decimal(9,0)"),
        (
            "Struct<Sku: byte, at: map<string, integer>>",
            "struct<Sku:int,at:map<string,int>>",
        ),
    ],
)
def test_tables_keep_a_type_by_one_name(text, stored):
    assert parse_type(text).stored.text == stored


def test_a_field_that_is_no_plain_name_is_quoted():
    assert (
        ColumnType("struct", (ColumnType("int"),), ("a b",)).text == "struct<`a b`:int>"
    )
