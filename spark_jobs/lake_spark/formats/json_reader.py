"""JSON lines: one object a line, read as text and taken apart by strict expressions.

Both engines use them: on the executors, in one pass. See json_text.
"""

from __future__ import annotations

from typing import Dict, List, Mapping, Sequence, Tuple

from pyspark.sql import DataFrame, SparkSession

from lake_spec.model.column_type import ColumnType
from lake_spec.text.sql_text import sql_identifier, sql_literal
from lake_spark.formats.absent_fields import there, THERE
from lake_spark.formats.file_schema import CORRUPT, Shape
from lake_spark.landing import literal_paths
from lake_spark.schema import json_text

_BOM = "\ufeff"
_AFTER = r"\}\s*+(?:[^,\]}\s]|,\s*+\{\s*+\})"
"""A `}` with what does not follow one inside of an object that holds others."""
PLAIN_FROM = 1 << 20
"""From how many bytes on a file is looked through for what Spark would not read as it
is: 1 MiB. Of smaller ones each line is."""
MOST_NAMES = 200
"""Of wider files each line is looked at: the look would take longer than that."""
_EACH = "[]"
_SPACED = '" :'
_NULL = r'"(?<!\\")\s*+:\s*+null\s*+[,}]'


def line() -> str:
    """Return SQL: a line of the text source without the file's byte order mark."""
    mark = sql_literal(_BOM)
    return f"CASE WHEN startswith(value, {mark}) THEN substr(value, 2) ELSE value END"


HOLDS_SOMETHING = r"btrim(value, ' \t\r') <> ''"
"""SQL: whether a line of the text source is a record."""


def layers(shape: Shape) -> List[List[str]]:
    """Return the columns from a line to the record's: each layer is of the one before.

    The last one has the columns that the shape is read as, CORRUPT: the line, where it is
    not one whole object, and THERE, if the shape tells what is absent. Most lines are found
    good by counting: one `"` and `:` for each value. Where the counts differ, or something
    looks odd, the line is looked at closely. Numbers that Spark would write in other digits
    are read as marked texts.
    """
    columns = shape.read_as
    names = [sql_identifier(name) for name, _ in columns]
    schema = ", ".join(f"{n} {kind.text}" for n, (_, kind) in zip(names, columns))
    tree = ColumnType(
        "struct", tuple(kind for _, kind in columns), tuple(n for n, _ in columns)
    )
    is_flat = json_text.depth_of(tree) == 1
    text = f"if(lake_marked, {json_text.marked('lake_line')}, lake_line)"
    row = json_text.from_json(text, f"{schema}, {json_text.BROKEN} string")
    colons = _times("lake_line", '":')
    more = f"{colons} - ({_names_in('lake_json', tree)})"
    nulls = f"regexp_count(lake_line, {sql_literal(_NULL)})"
    good = (
        f"lake_json.{json_text.BROKEN} IS NULL"
        f" AND CASE WHEN NOT lake_odd AND {more} = 0 THEN true"
        f" WHEN NOT lake_odd AND {more} = {nulls} THEN NOT {_has_name_twice(tree)}"
        f" ELSE {_closely(tree)} AND NOT {_loses_names(text, tree, schema)} END"
    )
    absence = []
    if shape.tells_absent:
        is_there = there("lake_json", "lake_line", tree)
        absence = [f"CASE WHEN lake_good THEN {is_there} END AS {THERE}"]
    return [
        [f"{line()} AS lake_line"],
        [
            "lake_line",
            f"{json_text.has_fraction('lake_line')} AS lake_marked",
            f"{_is_odd('lake_line', is_flat)} AS lake_odd",
        ],
        ["lake_line", "lake_marked", "lake_odd", f"{row} AS lake_json"],
        [
            *("lake_line", "lake_marked", "lake_json"),
            f"coalesce({good}, false) AS lake_good",
        ],
        [
            *(
                f"CASE WHEN lake_good THEN {_as_written(f'lake_json.{name}', kind)} END"
                f" AS {name}"
                for name, (_, kind) in zip(names, columns)
            ),
            f"CASE WHEN NOT lake_good THEN lake_line END AS {CORRUPT}",
            *absence,
        ],
    ]


def _as_written(place: str, kind: ColumnType) -> str:
    """Return SQL: a value of a line, with its numbers as they are there."""
    if "string" not in kind.text:
        return place
    return f"if(lake_marked, {_unmarked(place, kind, 0)}, {place})"


def _unmarked(place: str, kind: ColumnType, depth: int) -> str:
    if kind.name == "string":
        return json_text.unmarked(place)
    if kind.name == "struct":
        fields = [sql_identifier(name) for name in kind.fields]
        parts = ", ".join(
            f"{_unmarked(f'{place}.{field}', inner, depth)} AS {field}"
            for field, inner in zip(fields, kind.inner)
        )
        return f"CASE WHEN {place} IS NOT NULL THEN struct({parts}) END"
    if kind.name in ("array", "map"):
        each = f"u{depth}"
        inside = _unmarked(each, kind.inner[-1], depth + 1)
        if kind.name == "array":
            return f"transform({place}, {each} -> {inside})"
        return f"transform_values({place}, (k{depth}, {each}) -> {inside})"
    return place


def _loses_names(text: str, tree: ColumnType, schema: str) -> str:
    """Return SQL: whether the line has its type's fields in another case: Spark is exact.

    The type is what Spark finds in all records, with one spelling of each nested field.
    """
    if json_text.depth_of(tree) == 1:
        return "false"
    again = json_text.from_json(
        json_text.respelled(text, tree), f"{schema}, {json_text.BROKEN} string"
    )
    more = f"({_names_in('j', tree)}) > ({_names_in('lake_json', tree)})"
    return f"coalesce(transform(array({again}), j -> {more})[0], false)"


def _times(text: str, part: str) -> str:
    """Return SQL: how often a part of ASCII occurs in a text, by bytes."""
    without = f"replace({text}, {sql_literal(part)}, '')"
    return f"((octet_length({text}) - octet_length({without})) div {len(part)})"


def _is_odd(text: str, is_flat: bool) -> str:
    """Return SQL: whether a line may be other than one object that Spark reads as it is.

    Spark looks for a plain text in a tenth of the time that it takes for a pattern.
    """
    escape, special = sql_literal(chr(92) + "u"), sql_literal(json_text.SPECIAL)
    odd = [
        f"NOT (startswith({text}, '{{') AND endswith({text}, '}}'))",
        f"contains({text}, {sql_literal(_SPACED)})",
        f"NOT {json_text.is_utf8(text)}",
        f"contains({text}, {sql_literal(json_text.MARK)})",
        f"(contains({text}, {escape}) AND {text} RLIKE {special})",
    ]
    if is_flat:
        odd.append(f"{_times(text, '}')} != 1")
    else:
        odd.append(f"{text} RLIKE {sql_literal(_AFTER)}")
        odd.append(f"{_times(text, '{')} != {_times(text, '}')}")
    return " OR ".join(odd)


def _names_in(place: str, kind: ColumnType, depth: int = 0) -> str:
    """Return SQL: how many names are inside of a value, of those that have a value."""
    if kind.name == "struct":
        counts = []
        for name, inner in zip(kind.fields, kind.inner):
            field = f"{place}.{sql_identifier(name)}"
            inside = _names_in(field, inner, depth) if json_text.depth_of(inner) else ""
            counts.append(f"if({field} IS NULL, 0, 1{inside and f' + {inside}'})")
        return _sum(counts)
    values, each = place, f"e{depth}"
    own = ""
    if kind.name == "map":
        values = f"map_values({place})"
        own = (
            f"size(array_distinct(map_keys({place})))"
            f" - size(filter({values}, {each} -> {each} IS NULL))"
        )
    if not json_text.depth_of(kind.inner[-1]):
        return own or "0"
    one = f"if({each} IS NULL, 0, {_names_in(each, kind.inner[-1], depth + 1)})"
    inside = f"aggregate({values}, 0, (n{depth}, {each}) -> n{depth} + {one})"
    return f"{own} + {inside}" if own else inside


def _sum(counts: Sequence[str]) -> str:
    """Return SQL: the sum, by halves: thousands of columns in a row are too deep."""
    if len(counts) < 2:
        return counts[0] if counts else "0"
    half = len(counts) // 2
    return f"({_sum(counts[:half])} + {_sum(counts[half:])})"


def _closely(tree: ColumnType) -> str:
    """Return SQL: whether a line is one object of whole characters, no name in it twice."""
    return " AND ".join(
        [
            json_text.is_one_value("lake_line"),
            json_text.is_utf8("lake_line"),
            json_text.is_text("lake_line"),
            f"NOT {_has_name_twice(tree)}",
        ]
    )


def _has_name_twice(tree: ColumnType) -> str:
    """Return SQL: the same at any depth; quickly where the line is one object alone."""
    closely = json_text.has_name_twice("lake_line", tree)
    if json_text.depth_of(tree) > 1:
        return closely
    names = json_text.repeats("json_object_keys(lower(lake_line))")
    is_single = f"{_times('lake_line', '{')} = 1"
    return f"(CASE WHEN {is_single} THEN {names} ELSE {closely} END)"


def is_plain(
    spark: SparkSession, uri: str, schema: ColumnType, numbers: Mapping[str, ColumnType]
) -> bool:
    """Return whether Spark's own reader reads a file as it is: one look at each line.

    The file is one in which Spark found `schema`: so no record is broken, and no name is
    there twice in one. No line has a name in another spelling, or is odd, and no number
    would lose a digit or become another text: fractions are in the columns of `numbers`
    alone (by their names in the file, lower case), of no more digits than a double holds
    where they are decimals.
    """
    names = {path[-1] for path in _paths(schema)} - {_EACH}
    if len(names) > MOST_NAMES:
        return False
    is_flat = json_text.depth_of(schema) == 1
    # Spark takes a nested field for one of its type in another case, and reads it as none.
    known = "|".join(sorted(map(json_text.literally, names)))
    other = sql_literal(rf'":(?<![{{,\s]"(?:{known})":)')
    bad = " OR ".join(
        [
            _is_odd("value", is_flat),
            f"value RLIKE {other}",
            _changes_numbers("value", schema, numbers),
        ]
    )
    lines = literal_paths.load(spark.read, "text", [uri]).where(HOLDS_SOMETHING)
    return lines.where(f"coalesce({bad}, true)").isEmpty()


def _changes_numbers(
    text: str, schema: ColumnType, numbers: Mapping[str, ColumnType]
) -> str:
    """Return SQL: whether a line may hold a number that Spark would write in other digits.

    Or an object without a name: Spark finds no name in it, so none that is there twice.
    """
    there = _paths(schema)
    exempt: Dict[str, List[str]] = {"decimal": [], "double": []}
    for name, kind in sorted(numbers.items()):
        spelled = {path[-1] for path in there if path[-1].lower() == name}
        is_alone = len([p for p in there if p[-1].lower() == name]) == 1
        if len(spelled) == 1 and is_alone and (*spelled,) in there:
            word = "decimal" if kind.name == "decimal" else "double"
            exempt[word] += map(json_text.literally, spelled)
    minus, fraction = r"-0(?![.0-9eE])", r"-?[0-9]++[.eE]"
    cases = [
        rf"\s*+{minus}",
        _number(fraction, exempt["decimal"] + exempt["double"], is_in=False),
    ]
    for word, limits in (
        ("decimal", r"-?(?:[0-9.]{17}|[0-9.]++[eE])"),
        ("double", r"-?(?:[0-9.]{200}|[0-9.]++[eE][+-]?[0-9]{3})"),
    ):
        if exempt[word]:
            cases.append(_number(limits, exempt[word], is_in=True))
    patterns = [rf'":(?=\s*+[-0-9])(?:{"|".join(cases)})']
    if any(_EACH in path for path in there):
        patterns.append(rf"[\[,]\s*+(?:{fraction}|{minus})")
    if json_text.depth_of(schema) > 1:
        patterns.append(r"\{\s*+\}")
    return " OR ".join(f"{text} RLIKE {sql_literal(each)}" for each in patterns)


def _number(pattern: str, names: Sequence[str], *, is_in: bool) -> str:
    """Return a pattern behind `":`: a number, of one of these names or of none of them."""
    if not names:
        return rf"(?=\s*+{pattern})"
    of_one = rf'(?<{"=" if is_in else "!"}[{{,\s]"(?:{"|".join(names)})":)'
    return rf"(?=\s*+{pattern}){of_one}"


def _paths(kind: ColumnType, path: Tuple[str, ...] = ()) -> List[Tuple[str, ...]]:
    """Return the paths of all fields in a type."""
    if kind.name == "struct":
        pairs = list(zip(kind.fields, kind.inner))
        inside = [
            each for name, inner in pairs for each in _paths(inner, (*path, name))
        ]
        return [(*path, name) for name, _ in pairs] + inside
    if kind.name == "array":
        return [(*path, _EACH), *_paths(kind.inner[0], (*path, _EACH))]
    return []


def load(spark: SparkSession, shape: Shape, uris: Sequence[str]) -> DataFrame:
    """Load the raw columns of files of one shape, and CORRUPT."""
    if shape.plain:
        reader = spark.read.schema(plain_schema(shape)).options(**PLAIN)
        return literal_paths.load(reader, "json", uris)
    rows = literal_paths.load(spark.read, "text", uris).where(HOLDS_SOMETHING)
    for columns in layers(shape):
        rows = rows.selectExpr(*columns)
    return rows


PLAIN = {
    **json_text.READER,
    "mode": "PERMISSIVE",
    "columnNameOfCorruptRecord": CORRUPT,
    # A landing path is a name, never a pattern.
    "__globPaths__": "false",
}
"""Spark's options for a plain file."""


def plain_schema(shape: Shape) -> str:
    """Return the schema to read a plain file with, as DDL."""
    columns = [f"{sql_identifier(name)} {kind.text}" for name, kind in shape.read_as]
    return ", ".join([*columns, f"{CORRUPT} string"])


def good_lines(spark: SparkSession, uri: str, maps: Sequence[str]) -> DataFrame:
    """Return the lines of a file with no name twice: they say what its columns are."""
    lines = literal_paths.load(spark.read, "text", [uri]).where(HOLDS_SOMETHING)
    lines = lines.selectExpr(f"{line()} AS value")
    return lines.where(
        f"{json_text.name_twice('value', maps)} IS NULL AND {json_text.is_utf8('value')}"
    )
