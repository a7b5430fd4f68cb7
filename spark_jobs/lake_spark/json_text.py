"""JSON text as it stands, in SQL: one value, numbers by their digits, nothing passed over.

Spark's own parser writes a fraction through a double where text is asked for, stops after
the first value of a text and takes the last of two values of one name. Contract 8.
"""

from __future__ import annotations

from lake_spec.column_type import ColumnType
from lake_spec.sql_text import sql_identifier, sql_literal

MARK = "\ufdd0"
"""Before the digits of a number that stands as text until it is converted: no character
of any text, by Unicode."""

_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_ZERO = r"-0(?![.eE0-9])"
_PLAIN = rf"(?!{_ZERO})-?[0-9]++(?![.eE])"
_FRACTION = r"-?(?:0|[1-9][0-9]*+)(?:[.][0-9]++)?+(?:[eE][+-]?+[0-9]++)?+"
_NUMBER = rf"({_ZERO}|{_FRACTION})(?![0-9.eE+-])(?!\s*+:)"
_TOKENS = rf'\G((?:[^"0-9-]++|{_STRING}|{_PLAIN})*+){_NUMBER}'
"""What stands before a number that Spark would write in other digits, and the number.

Each match begins where the one before ended, and no part gives back what it took: the
time is linear. At a number that JSON does not know it stops, and the parser refuses it.
"""

_SUSPECT = r"[\[:,]\s*+(?:-0(?![.0-9])|-?[0-9]++[.eE])"
_NAME = r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"\s*+:'
_MARKED = f'"{MARK}([^"]*+)"'
_END, _VALUE, _BROKEN = "lake_end", "lake_value", "lake_broken"


def exact(text: str) -> str:
    """SQL: the JSON text with each fraction as a marked string, so that no digit is lost."""
    quoted = f"regexp_replace({text}, {sql_literal(_TOKENS)}, {_replacement()})"
    return (
        f"CASE WHEN {text} RLIKE {sql_literal(_SUSPECT)} THEN {quoted} ELSE {text} END"
    )


def _replacement() -> str:
    return sql_literal(f'$1"{MARK}$2"')


def unmarked(text: str) -> str:
    """SQL: a text that was read, with its numbers as they stood in the file."""
    bare = f"regexp_replace({text}, {sql_literal(_MARKED)}, '$1')"
    mark = sql_literal(MARK)
    return (
        f"CASE WHEN contains({text}, {mark})"
        f" THEN replace({bare}, {mark}, '') ELSE {text} END"
    )


def parsed(text: str, kind: str) -> str:
    """SQL: a struct of the value of a JSON text, whole or not at all: see `value_of`.

    The value is followed by a last field: with a rest after the value it is not reached.
    """
    schema = f"{_VALUE} {kind}, {_END} string, {_BROKEN} string"
    whole = f"""'{{"{_VALUE}":' || {exact(text)} || ',"{_END}":"x"}}'"""
    options = f"map('columnNameOfCorruptRecord', '{_BROKEN}')"
    return f"from_json({whole}, {sql_literal(schema)}, {options})"


def is_whole(parsed_text: str) -> str:
    """SQL: whether the text was one value of that type and nothing else."""
    end, broken = f"{parsed_text}.{_END}", f"{parsed_text}.{_BROKEN}"
    return f"(({end} <=> 'x') AND {broken} IS NULL)"


def value_of(parsed_text: str) -> str:
    """SQL: the value of what `parsed` gives; only right where `is_whole`."""
    return f"{parsed_text}.{_VALUE}"


def has_name_twice(text: str, kind: ColumnType) -> str:
    """SQL: whether an object in the text, at any depth of the type, has one name twice.

    Names that differ in case alone are one: no column keeps them apart.
    """
    if not any(inner.is_nested for inner in kind.inner):
        return _twice(text, kind)
    names = f"regexp_extract_all({text}, {sql_literal(_NAME)}, 1)"
    return f"({has_repeated(names)} AND ({_twice(text, kind)}))"


def _twice(text: str, kind: ColumnType, depth: int = 0) -> str:
    cases = []
    if kind.name in ("struct", "map"):
        cases.append(has_repeated(f"json_object_keys({text})"))
    if kind.name == "struct":
        for name, inner in zip(kind.fields, kind.inner):
            if inner.is_nested:
                schema = sql_literal(f"{sql_identifier(name)} string")
                part = f"from_json({text}, {schema}).{sql_identifier(name)}"
                cases.append(_twice(part, inner, depth))
    elif kind.inner and kind.inner[-1].is_nested:
        listed = "array<string>" if kind.name == "array" else "map<string,string>"
        parts = f"from_json({text}, '{listed}')"
        parts = parts if kind.name == "array" else f"map_values({parts})"
        each = f"d{depth}"
        twice = _twice(each, kind.inner[-1], depth + 1)
        cases.append(f"exists({parts}, {each} -> {twice})")
    return f"coalesce({' OR '.join(cases)}, false)" if cases else "false"


def has_repeated(names: str) -> str:
    """SQL: whether a list has a name twice, whatever its case."""
    distinct = f"array_distinct(transform({names}, n -> lower(n)))"
    return f"coalesce(size({distinct}) < size({names}), false)"


def is_utf8(text: str) -> str:
    """SQL: whether the bytes of a text, which nobody looked at yet, are UTF-8."""
    return f"{text} <=> decode(CAST({text} AS binary), 'UTF-8')"


def reason(corrupt: str) -> str:
    """SQL: what is wrong with a line that is not one whole object."""
    names = f"json_object_keys({corrupt})"
    again = f"filter({names}, n -> size(filter({names}, m -> lower(m) = lower(n))) > 1)"
    return (
        f"CASE WHEN NOT {is_utf8(corrupt)} THEN 'the record holds bytes that are not UTF-8'"
        f" WHEN {has_repeated(names)}"
        f" THEN {sql_literal(chr(39))} || {again}[0] || {sql_literal(chr(39) + ' is there twice')}"
        f" WHEN {names} IS NOT NULL AND NOT {is_whole(parsed(corrupt, 'map<string,string>'))}"
        " THEN 'text stands after the object'"
        " ELSE 'the record cannot be parsed' END"
    )
