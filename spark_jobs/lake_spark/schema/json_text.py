"""JSON text as it is, in SQL: one value, numbers by their digits, nothing passed over.

Spark's own parser writes a fraction through a double where text is asked for, stops after
the first value of a text and takes the last of two values of one name. Contract 8.
"""

from __future__ import annotations

from typing import Iterator, List, Mapping, Sequence

from lake_spec.model.column_type import ColumnType
from lake_spec.text.sql_text import sql_literal

MARK = "\ufdd0"
"""Before the digits of a number that is text until it is converted: no character
of any text, by Unicode."""

READER = {"allowSingleQuotes": "false", "allowNonNumericNumbers": "false"}
"""Spark's options for JSON as the standard has it: no 'x' for "x", no NaN."""

_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_ZERO = r"-0(?![.eE0-9])"
_PLAIN = rf"(?!{_ZERO})-?[0-9]++(?![.eE])"
_FRACTION = r"-?(?:0|[1-9][0-9]*+)(?:[.][0-9]++)?+(?:[eE][+-]?+[0-9]++)?+"
_NUMBER = rf"({_ZERO}|{_FRACTION})(?![0-9.eE+-])(?!\s*+:)"
_TOKENS = rf'\G((?:[^"0-9-]++|{_STRING}|{_PLAIN})*+){_NUMBER}'
"""What precedes a number that Spark would write in other digits, and the number.

Each match begins where the one before ended, and no part gives back what it took: the
time is linear. At a number that JSON does not know it stops, and the parser refuses it.
"""

_LONE = r"[dD][89a-fA-F]"
_FRACTIONS = r"[\[:,]\s*+-?+(?:[0-9]++[.eE]|(?<=-)0(?![.0-9eE]))"
_NAME = r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"\s*+:'
_STRINGS = rf'({_STRING}\s*+:)|{_STRING}|"(?s:.*+)'
"""Names, then values, then a string that never ends, which is taken at once: else each
of its quotes would be tried as the beginning of another."""
_OBJECT = r"\{([^{}]*+)\}"
_MARKED = f'"{MARK}([^"]*+)"'
_END, _VALUE, _BROKEN = "lake_end", "lake_value", "lake_broken"


def _exact(text: str) -> str:
    """Return SQL: the JSON text with each fraction as a marked string: no digit is lost."""
    return f"CASE WHEN {_has_fraction(text)} THEN {_marked(text)} ELSE {text} END"


def _has_fraction(text: str) -> str:
    """Return SQL: whether JSON text may hold a number that Spark writes in other digits."""
    return f"{text} RLIKE {sql_literal(_FRACTIONS)}"


def _marked(text: str) -> str:
    """Return SQL: the same, where there is such a number."""
    replacement = sql_literal(f'$1"{MARK}$2"')
    return f"regexp_replace({text}, {sql_literal(_TOKENS)}, {replacement})"


def unmarked(text: str) -> str:
    """Return SQL: a text that was read, with its numbers as they were in the file."""
    bare = f"regexp_replace({text}, {sql_literal(_MARKED)}, '$1')"
    mark = sql_literal(MARK)
    return (
        f"CASE WHEN contains({text}, {mark})"
        f" THEN replace({bare}, {mark}, '') ELSE {text} END"
    )


def parsed(text: str, kind: ColumnType) -> str:
    """Return SQL: a struct of a JSON text's value, whole or not at all: see `value_of`."""
    schema = f"{_VALUE} {kind.text}, {_END} string, {_BROKEN} string"
    spelled = _respelled(text, kind)
    whole = f"""'{{"{_VALUE}":' || {_exact(spelled)} || ',"{_END}":"x"}}'"""
    return _from_json(whole, schema)


def _from_json(text: str, schema: str) -> str:
    """Return SQL: a struct of a JSON text's first value.

    `_BROKEN` is not null without one.
    """
    return _read(text, schema, {**READER, "columnNameOfCorruptRecord": _BROKEN})


def fields_of(text: str) -> str:
    """Return SQL: the fields of a JSON object, by name, each as its text; else null."""
    return _read(text, "map<string,string>", READER)


def _read(text: str, schema: str, options: Mapping[str, str]) -> str:
    listed = ", ".join(sql_literal(each) for pair in options.items() for each in pair)
    return f"from_json({text}, {sql_literal(schema)}, map({listed}))"


def is_whole(text: str, parsed_text: str) -> str:
    """Return SQL: whether the text is one value of its type and nothing else.

    Whatever follows the value breaks one of two texts: a field after it, and a list of it.
    Half a character breaks it also in a name that the type lacks.
    """
    end, broken = f"{parsed_text}.{_END}", f"{parsed_text}.{_BROKEN}"
    plain = f"NOT contains({text}, {sql_literal(chr(92) + 'u')})"
    return (
        f"(({end} <=> 'x') AND {broken} IS NULL AND {_is_one_element(text)}"
        f" AND ({plain} OR {_is_text(text)}))"
    )


def _is_one_element(text: str) -> str:
    return f"(json_array_length('[' || {text} || ',0]') <=> 2)"


def value_of(parsed_text: str) -> str:
    """Return SQL: the value of what `parsed` gives; only right where `is_whole`."""
    return f"{parsed_text}.{_VALUE}"


def _respelled(text: str, kind: ColumnType) -> str:
    """Return SQL: the text with its names spelled as the type's fields: case says nothing.

    Not where the type has a map, whose names are values: there such a text stays as it is.
    """
    return text if _maps(kind) else _spelled_as(text, kind)


def _spelled_as(text: str, kind: ColumnType) -> str:
    """Return SQL: the text with each name spelled as a type's field, keys of maps too."""
    fields = sorted({name for each in _parts(kind) for name in each.fields})
    if not fields:
        return text
    listed = ", ".join(map(sql_literal, fields))
    lower = ", ".join(sql_literal(name.lower()) for name in fields)
    names = f"regexp_extract_all({_without_values(text)}, {sql_literal(_NAME)}, 1)"
    other = f"exists({names}, n -> n NOT IN ({listed}) AND lower(n) IN ({lower}))"
    spelled = text
    for name in fields:
        pattern = sql_literal(rf'"(?i:{_literally(name)})"(?=\s*+:)')
        spelled = f"regexp_replace({spelled}, {pattern}, {sql_literal(_plain(name))})"
    return f"CASE WHEN {other} THEN {spelled} ELSE {text} END"


def _plain(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace("$", "\\$") + '"'


def _literally(name: str) -> str:
    """Return a name as a pattern of Java that only matches it."""
    return "".join(c if c.isalnum() or c == "_" else f"\\x{{{ord(c):x}}}" for c in name)


def _parts(kind: ColumnType) -> Iterator[ColumnType]:
    yield kind
    for inner in kind.inner:
        yield from _parts(inner)


def _maps(kind: ColumnType) -> List[str]:
    """Return the names of fields that are maps: the names inside those are values."""
    return sorted(
        {
            name
            for each in _parts(kind)
            for name, inner in zip(each.fields, each.inner)
            if inner.name == "map"
        }
    ) + (["lake_map"] if kind.name == "map" else [])


def _depth_of(kind: ColumnType) -> int:
    """Return how many objects are inside each other in values of a type."""
    deepest = max(map(_depth_of, kind.inner), default=0)
    return deepest + (kind.name in ("struct", "map"))


def has_name_twice(text: str, kind: ColumnType) -> str:
    """Return SQL: whether an object in the text has a name twice, at any depth of the type.

    Names that differ in case alone are one where they are fields, and two in maps.
    """
    if kind.name == "map":
        text = f"""('{{"lake_map":' || {text} || '}}')"""
    return f"({_name_twice(text, _maps(kind), _depth_of(kind) + 2)} IS NOT NULL)"


def _name_twice(text: str, maps: Sequence[str], rounds: int) -> str:
    """Return SQL: a name that is twice in one object of the text, else null; linear.

    Without the strings that are values, the innermost objects are looked at and taken
    out, round by round.
    """
    return let("s0", _without_values(text), _round("s0", maps, rounds, 1))


def _without_values(text: str) -> str:
    """Return SQL: the text without the strings that are no names."""
    return f"regexp_replace({text}, {sql_literal(_STRINGS)}, '$1')"


def _round(text: str, maps: Sequence[str], rounds: int, number: int) -> str:
    found, rest = [], text
    if maps:
        listed = "|".join(map(_literally, maps))
        pattern = rf'("(?:{listed})"\s*+:\s*+){_OBJECT}'
        found.append(_first_twice(_objects(text, pattern, 2), "n"))
        rest = f"regexp_replace({text}, {sql_literal(pattern)}, '$10')"
    found.append(_first_twice(_objects(rest, _OBJECT, 1), "lower(n)"))
    rest = f"regexp_replace({rest}, {sql_literal(_OBJECT)}, '0')"
    if rounds:
        name = f"s{number}"
        inside = _round(name, maps, rounds - 1, number + 1)
        deeper = f"CASE WHEN contains({name}, '{{') THEN {inside} END"
        found.append(let(name, rest, deeper))
    return f"coalesce({', '.join(found)}, CAST(NULL AS string))"


def _objects(text: str, pattern: str, group: int) -> str:
    return f"regexp_extract_all({text}, {sql_literal(pattern)}, {group})"


def _first_twice(objects: str, folded: str) -> str:
    names = f"regexp_extract_all(o, {sql_literal(_NAME)}, 1)"
    plain = """from_json('["' || n || '"]', 'array<string>')[0]"""
    same = f"if(contains(n, {sql_literal(chr(92))}), coalesce({plain}, n), n)"
    same = f"transform(transform({names}, n -> {same}), n -> {folded})"
    again = "filter(v, (n, i) -> i > 0 AND n = v[i - 1])"
    of_one = let("v", f"sort_array({same})", f"get({again}, 0)")
    of_all = f"transform({objects}, o -> {of_one})"
    return f"get(filter({of_all}, w -> w IS NOT NULL), 0)"


def let(name: str, value: str, body: str) -> str:
    """Return SQL: the body, in which the name is the value."""
    return f"transform(array({value}), {name} -> {body})[0]"


def _is_text(text: str) -> str:
    """Return SQL: whether a text holds characters alone: no half, no mark of ours."""
    # By a blank, or two halves around it would become a pair.
    bare = f"replace({text}, {sql_literal(chr(92) * 2)}, ' ')"
    pair = sql_literal(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
    bad = sql_literal(rf"\\u(?:{_LONE}|[fF][dD][dD]0)")
    mark = sql_literal(MARK)
    return f"NOT (contains({text}, {mark}) OR regexp_replace({bare}, {pair}, '') RLIKE {bad})"
